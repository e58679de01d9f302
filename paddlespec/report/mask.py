"""
What must not be shown: values marked sensitive, and values that look like credentials.

A secret is hidden at its own place, whatever it is, and wherever its text turns up again: in a
command that an expression wrote it into, in the option that supplied it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.contract import ROLES
from paddlespec.document import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.document import Document
    from paddlespec.manifest import Manifest
    from paddlespec.model import Job
    from paddlespec.pipeline import Loaded

MASK = "***"
LOOKS_SECRET = "looks-like-secret"
# The parts of a variable's source that are names and not values.
NAMES = frozenset(("secret", "configMap", "key", "sensitive"))
_PARAMETER = re.compile(r"\$\{\{\s*parameters\.([A-Za-z0-9_-]+)\s*\}\}")
# A shorter text says nothing; one shorter than a word is hidden only where it stands alone.
_SHORTEST, _WORD = 3, 6


class Secrets(NamedTuple):
    """The secrets of one job: where they stand, which variables hold them, how they read."""

    paths: frozenset[Path] = frozenset()
    variables: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    texts: re.Pattern[str] | None = None

    def hide(self, text: str) -> str:
        """*text* without the secrets in it."""
        for option in self.options:
            text = text.replace(option, masked_option(option))
        return self.texts.sub(MASK, text) if self.texts else text

    def shown(self, path: Path, value: Any) -> str:
        """The value at *path* as people may see it."""
        if any(path[: len(each)] == each for each in self.paths):
            return MASK
        return self.hide(_text(value))

    def masked(self, value: Any) -> Any:
        """*value*, a part of a manifest, without secrets and without packed bytes."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self.masked(each) for each in value]
        if not isinstance(value, dict):
            return value
        found = {
            key: _sizes(each) if key == "binaryData" else self.masked(each)
            for key, each in value.items()
        }
        if isinstance(found.get("env"), list):
            found["env"] = [self._variable(each) for each in found["env"]]
        return found

    def _variable(self, entry: Any) -> Any:
        if isinstance(entry, dict) and entry.get("name") in self.variables and "value" in entry:
            return {**entry, "value": MASK}
        return entry


def masked(
    manifests: Iterable[Manifest], job: Job, found: Iterable[Diagnostic] = ()
) -> list[Manifest]:
    """*manifests* of *job* as they may be shown; *found* adds what looks like a credential."""
    secrets = secrets_in(job, found)
    return [secrets.masked(each) for each in manifests]


def effective_spec(loaded: Loaded) -> str:
    """The spec that was applied, all layers merged, as YAML without secrets."""
    from paddlespec.checks.secrets import names_secret
    from paddlespec.emit import dump

    secrets = secrets_of(loaded)

    def shown(value: Any, path: Path) -> Any:
        if any(path == each for each in secrets.paths):
            return MASK
        if isinstance(value, dict):
            name = value.get("name")  # a variable, as patches write it
            secret = name in secrets.variables or (isinstance(name, str) and names_secret(name))
            return {
                key: MASK if secret and key == "value" else shown(each, (*path, key))
                for key, each in value.items()
            }
        if isinstance(value, list):
            return [shown(each, (*path, index)) for index, each in enumerate(value)]
        return secrets.hide(value) if isinstance(value, str) else value

    order = ("apiVersion", "kind", "metadata", "spec")
    data = loaded.document.data
    return dump(shown({key: data[key] for key in order if key in data}, ()))


def secrets_of(loaded: Loaded) -> Secrets:
    """Everything secret in a job that was read."""
    return secrets_in(loaded.job, loaded.diagnostics, loaded.document)


def secrets_in(
    job: Job, found: Iterable[Diagnostic] = (), document: Document | None = None
) -> Secrets:
    """The secrets of *job*; its document tells which parameters and options supplied them."""
    paths: set[Path] = set(_sensitive(job))
    paths |= {each.path for each in found if each.code == LOOKS_SECRET and each.path}
    if document:
        paths |= {("spec", "parameters", name) for name in _feeding(paths, document)}
    values = [each for path in paths for each in _values(job, document, path)]
    options = {
        place.origin.source
        for path in paths
        for place in ([document.nearest(path)[1]] if document else [])
        if place.origin.is_option
    }
    variables = {path[index + 1] for path in paths for index in _env(path)}
    return Secrets(
        frozenset(paths),
        frozenset(str(each) for each in variables),
        frozenset(options),
        pattern(values),
    )


def pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """What finds any of *values* inside of a text, the longest first."""
    found = sorted({each for each in values if len(each) >= _SHORTEST}, key=len, reverse=True)
    parts = [
        re.escape(each) if len(each) >= _WORD else rf"(?<!\w){re.escape(each)}(?!\w)"
        for each in found
    ]
    return re.compile("|".join(parts)) if parts else None


def parameters(text: str) -> list[str]:
    """The parameters that the expressions of *text* use."""
    return _PARAMETER.findall(text)


def masked_option(option: str) -> str:
    """An option that holds a secret: `--update env.TOKEN=***`."""
    left, splits, _ = option.partition("=")
    return f"{left}={MASK}" if splits else left


# Numbers, quantities and truth values are nobody's secret.
_PLAIN = re.compile(r"[0-9.]{1,6}[A-Za-z]{0,2}|true|false|null")


def told(diagnostic: Diagnostic) -> Diagnostic:
    """
    *diagnostic* as it may be shown.

    An option is its own place, and may be wrong in the very word that calls its value sensitive: of
    options that set variables, structures or fields that nobody knows, only the name is told.
    """
    span = diagnostic.span
    left, splits, value = span.file.partition("=")
    if span.line or not splits or _PLAIN.fullmatch(value):
        return diagnostic
    unknown = diagnostic.code in (LOOKS_SECRET, "unknown-path")
    if unknown or value[:1] in ("{", "[") or re.search(r"(^|[ .:\"])env\b", left):
        return diagnostic._replace(span=span._replace(file=masked_option(span.file)))
    return diagnostic


def _sensitive(job: Job) -> Iterator[Path]:
    places: list[tuple[Path, Any]] = [(("spec",), job.spec)]
    places += [(("spec", role), getattr(job.spec, role, None)) for role in ROLES]
    for path, holder in places:
        for name, source in (getattr(holder, "env", None) or {}).items():
            if getattr(source, "sensitive", False):
                yield (*path, "env", name, "value")


def _feeding(paths: set[Path], document: Document) -> set[str]:
    """The parameters whose values became part of a secret, through others or directly."""
    found: set[str] = set()
    left = list(paths)
    while left:
        for name in parameters(_written(document, left.pop())):
            if name not in found:
                found.add(name)
                left.append(("spec", "parameters", name))
    return found


def _written(document: Document, path: Path) -> str:
    """The value at *path* as its layer wrote it, before expressions were replaced."""
    place = document.nearest(path)[1]
    if place.origin.is_option:
        return place.origin.text
    if place.end is None:
        return ""
    (first, start), (last, end) = place.start, place.end
    lines = re.split("\r\n?|\n", place.origin.text)[first : last + 1]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return "\n".join(lines)


def _values(job: Job, document: Document | None, path: Path) -> Iterator[str]:
    value = document.at(path) if document else _variable(job, path)
    for _, each in walk(value):
        if each is not None and not isinstance(each, bool):
            yield _text(each)


def _variable(job: Job, path: Path) -> Any:
    """The value of the variable at *path*, where only the job is known."""
    for index in _env(path):
        holder = getattr(job.spec, str(path[1])) if index > 1 else job.spec
        source = holder.env.get(str(path[index + 1]))
        return getattr(source, "value", source)
    return None


def _env(path: Path) -> list[int]:
    """Where in *path* the variable's name is about to come."""
    return [index for index, part in enumerate(path[:3]) if part == "env" and len(path) > index + 1]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _sizes(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    return {key: f"<{_size(str(each))} bytes>" for key, each in data.items()}


def _size(encoded: str) -> int:
    return len(encoded) * 3 // 4 - encoded.count("=", -2)
