"""
Secrets of manifests that were compared: each is shown as a number, the same for equal values.

So a reviewer sees that a secret changed, or that two are equal, and never what they are. Values are
hidden after the comparison, which sees them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.checks.secrets import looks_secret, names_secret
from paddlespec.report.mask import masked_option, pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.diff import Comparison
    from paddlespec.manifest import Manifest
    from paddlespec.report.mask import Secrets

_COPY = "kubectl.kubernetes.io/last-applied-configuration"
# A shorter value of a variable that only sounds secret is hidden at its own place alone.
_TELLING = 6


class Hidden:
    """What the comparisons of one output must not show."""

    def __init__(self, secrets: Iterable[Secrets], comparisons: Sequence[Comparison]) -> None:
        secrets = list(secrets)
        self._variables = frozenset(name for each in secrets for name in each.variables)
        self._options = sorted({option for each in secrets for option in each.options})
        self._numbers: dict[str, int] = {}
        values = [
            value
            for comparison in comparisons
            for row in comparison.rows
            for manifest in row.change
            if manifest is not None
            for value in self._values(manifest)
        ]
        found = [each.texts for each in secrets] + [pattern(values)]
        self._patterns: list[re.Pattern[str]] = [each for each in found if each]
        self._known: dict[int, Manifest] = {}
        # Numbers follow the order of the objects, whatever is said of them first.
        for comparison in comparisons:
            for row in comparison.rows:
                for side in row.change:
                    if side is not None and row.change.before != row.change.after:
                        self._known[id(side)] = self._manifest(side)

    def number(self, value: Any) -> str:
        """What is shown instead of *value*."""
        known = value if isinstance(value, str) else f"{type(value).__name__} {value}"
        return f"<hidden #{self._numbers.setdefault(known, len(self._numbers) + 1)}>"

    def text(self, text: str) -> str:
        """*text* without the secrets in it."""
        for option in self._options:
            text = text.replace(option, masked_option(option))
        if looks_secret(text):
            return self.number(text)
        parts, end = [], 0
        for start, stop in self._spans(text):
            parts += [text[end:start], self.number(text[start:stop])]
            end = stop
        return "".join([*parts, text[end:]])

    def manifest(self, manifest: Manifest) -> Manifest:
        """*manifest*, one of those compared, as it may be shown."""
        return self._known.get(id(manifest)) or self._manifest(manifest)

    def _manifest(self, manifest: Manifest) -> Manifest:
        shown: Manifest = self._shown(manifest)
        if manifest.get("kind") == "Secret":
            for key in ("data", "stringData"):
                if isinstance(held := manifest.get(key), dict):
                    shown[key] = {name: self.number(value) for name, value in held.items()}
        return shown

    def _shown(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [
                self.number(each) if _is_named(before, each) else self._shown(each)
                for before, each in zip([None, *value], value)
            ]
        if not isinstance(value, dict):
            return value
        found: dict[str, Any] = {}
        for key, each in value.items():
            if key == _COPY:
                found[key] = self.number(each)
            elif key == "binaryData" and isinstance(each, dict):
                found[key] = {name: _packed(content) for name, content in each.items()}
            elif key == "value" and self._is_secret(value.get("name"), each):
                found[key] = self.number(each)
            else:
                found[key] = self._shown(each)
        return found

    def _is_secret(self, name: Any, value: Any) -> bool:
        if not isinstance(name, str) or value is None or value == "":
            return False
        return name in self._variables or names_secret(name)

    def _values(self, value: Any) -> Iterator[str]:
        """The secret values of variables in a manifest, which may stand in commands as well."""
        if isinstance(value, list):
            for each in value:
                yield from self._values(each)
        elif isinstance(value, dict):
            name, text = value.get("name"), value.get("value")
            if isinstance(text, str) and self._is_secret(name, text):
                telling = len(text) >= _TELLING and not text.startswith(("/", "$", "./", "<"))
                yield from [text] if telling or name in self._variables else []
            for each in value.values():
                yield from self._values(each)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Where secrets are in *text*; those that overlap are one."""
        found: list[tuple[int, int]] = []
        for start, stop in sorted(
            span for each in self._patterns for span in _overlapping(each, text)
        ):
            if found and start < found[-1][1]:
                found[-1] = found[-1][0], max(stop, found[-1][1])
            else:
                found.append((start, stop))
        return found


def _overlapping(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Every match: one secret may begin inside of another."""
    found = pattern.search(text)
    while found:
        yield found.span()
        found = pattern.search(text, found.start() + 1)


def _is_named(option: Any, value: Any) -> bool:
    """Whether an argument is the secret that the one before it announces: `--password`."""
    if not isinstance(option, str) or not isinstance(value, str) or not option.startswith("-"):
        return False
    return names_secret(option.lstrip("-")) and not value.startswith(("-", "$"))


def _packed(content: Any) -> str:
    """Bytes by their length, and what tells them from others."""
    from base64 import b64decode
    from hashlib import sha256

    try:
        packed = b64decode(str(content))
    except ValueError:
        packed = str(content).encode("utf-8", "replace")
    return f"<{len(packed):,} bytes, sha256 {sha256(packed).hexdigest()[:10]}>"
