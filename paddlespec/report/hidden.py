"""
Replace the secrets of compared manifests by numbers, the same number for equal values.

A reviewer sees that a secret changed, or that two are equal, but never their values. Secrets are
hidden after the comparison, so that they are compared too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.checks.secrets import looks_secret, names_secret
from paddlespec.report.mask import masked_option, pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.change.diff import Comparison
    from paddlespec.render.manifest import Manifest
    from paddlespec.report.mask import Secrets

_COPY = "kubectl.kubernetes.io/last-applied-configuration"
# Shorter values of variables that only sound secret are hidden in the variable, not elsewhere.
_SHORTEST = 6


class Hidden:
    """The secrets of all comparisons of one output."""

    def __init__(self, secrets: Iterable[Secrets], comparisons: Sequence[Comparison]) -> None:
        secrets = list(secrets)
        self._variables = frozenset(name for job in secrets for name in job.variables)
        self._options = sorted({option for job in secrets for option in job.options})
        self._numbers: dict[str, int] = {}
        values = [
            value
            for comparison in comparisons
            for row in comparison.rows
            for manifest in row.change
            if manifest is not None
            for value in self._values(manifest)
        ]
        patterns = [job.texts for job in secrets] + [pattern(values)]
        self._patterns: list[re.Pattern[str]] = [pattern for pattern in patterns if pattern]
        self._known: dict[int, Manifest] = {}
        # Numbers follow the order of the objects, independently of what is printed first.
        for comparison in comparisons:
            for row in comparison.rows:
                for side in row.change:
                    if side is not None and row.change.before != row.change.after:
                        self._known[id(side)] = self._manifest(side)

    def number(self, value: Any) -> str:
        """Return the replacement of *value*."""
        known = value if isinstance(value, str) else f"{type(value).__name__} {value}"
        return f"<hidden #{self._numbers.setdefault(known, len(self._numbers) + 1)}>"

    def text(self, text: str) -> str:
        """Replace the secrets in *text*."""
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
        """Return *manifest*, one of the compared ones, without secrets."""
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
                self.number(item) if _is_named(before, item) else self._shown(item)
                for before, item in zip([None, *value], value)
            ]
        if not isinstance(value, dict):
            return value
        shown: dict[str, Any] = {}
        for key, item in value.items():
            if key == _COPY:
                shown[key] = self.number(item)
            elif key == "binaryData" and isinstance(item, dict):
                shown[key] = {name: _packed(content) for name, content in item.items()}
            elif key == "value" and self._is_secret(value.get("name"), item):
                shown[key] = self.number(item)
            else:
                shown[key] = self._shown(item)
        return shown

    def _is_secret(self, name: Any, value: Any) -> bool:
        if not isinstance(name, str) or value is None or value == "":
            return False
        return name in self._variables or names_secret(name)

    def _values(self, value: Any) -> Iterator[str]:
        """Yield the secret values of variables in a manifest, which may also occur in commands."""
        if isinstance(value, list):
            for item in value:
                yield from self._values(item)
        elif isinstance(value, dict):
            name, text = value.get("name"), value.get("value")
            if isinstance(text, str) and self._is_secret(name, text):
                distinctive = len(text) >= _SHORTEST and not text.startswith(("/", "$", "./", "<"))
                yield from [text] if distinctive or name in self._variables else []
            for item in value.values():
                yield from self._values(item)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Find the secrets in *text*; overlapping ones are merged."""
        spans: list[tuple[int, int]] = []
        for start, stop in sorted(
            span for known in self._patterns for span in _overlapping(known, text)
        ):
            if spans and start < spans[-1][1]:
                spans[-1] = spans[-1][0], max(stop, spans[-1][1])
            else:
                spans.append((start, stop))
        return spans


def _overlapping(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield all matches, including overlapping ones."""
    match = pattern.search(text)
    while match:
        yield match.span()
        match = pattern.search(text, match.start() + 1)


def _is_named(option: Any, value: Any) -> bool:
    """Report whether an argument is a secret announced by the previous one: `--password`."""
    if not isinstance(option, str) or not isinstance(value, str) or not option.startswith("-"):
        return False
    return names_secret(option.lstrip("-")) and not value.startswith(("-", "$"))


def _packed(content: Any) -> str:
    """Describe bytes by their length and digest."""
    from base64 import b64decode
    from hashlib import sha256

    try:
        packed = b64decode(str(content))
    except ValueError:
        packed = str(content).encode("utf-8", "replace")
    return f"<{len(packed):,} bytes, sha256 {sha256(packed).hexdigest()[:10]}>"
