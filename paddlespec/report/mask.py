"""
Hide what must not be shown: values marked sensitive, and values that look like credentials.

A secret is hidden where it is defined and wherever its text appears again: in a command that
contains it by an expression, in the option that supplied it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.checks import environments
from paddlespec.checks.secrets import looks_secret, names_secret
from paddlespec.spec.document import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Job
    from paddlespec.pipeline import Loaded
    from paddlespec.render.manifest import Manifest
    from paddlespec.spec.document import Document

MASK = "***"
LOOKS_SECRET = "looks-like-secret"
# The keys of a variable's source that hold names rather than values.
NAMES = frozenset(("secret", "configMap", "key", "field", "resource", "divisor", "sensitive"))
_PARAMETER = re.compile(r"\$\{\{\s*parameters\.([A-Za-z0-9_-]+)\s*\}\}")
# Shorter texts are not hidden elsewhere; texts below the length of a word only if they stand alone.
_SHORTEST, _WORD = 3, 6


class Secrets(NamedTuple):
    """The secrets of one job: their paths, the variables and options that hold them, their texts."""

    paths: frozenset[Path] = frozenset()
    variables: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    texts: re.Pattern[str] | None = None

    def hide(self, text: str) -> str:
        """Replace the secrets in *text*."""
        for option in self.options:
            text = text.replace(option, masked_option(option))
        return self.texts.sub(MASK, text) if self.texts else text

    def shown(self, path: Path, value: Any) -> str:
        """Return the value at *path* with secrets hidden."""
        if any(path[: len(secret)] == secret for secret in self.paths):
            return MASK
        return self.hide(_text(value))

    def masked(self, value: Any) -> Any:
        """Return *value*, a part of a manifest, without secrets and without packed bytes."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self.masked(item) for item in value]
        if not isinstance(value, dict):
            return value
        shown = {
            key: _sizes(item) if key == "binaryData" else self.masked(item)
            for key, item in value.items()
        }
        if isinstance(shown.get("env"), list):
            shown["env"] = [self._variable(variable) for variable in shown["env"]]
        return shown

    def _variable(self, entry: Any) -> Any:
        if not isinstance(entry, dict) or not entry.get("value"):
            return entry
        name = entry.get("name")
        is_secret = name in self.variables or (isinstance(name, str) and names_secret(name))
        return {**entry, "value": MASK} if is_secret else entry


def masked(
    manifests: Iterable[Manifest], job: Job, findings: Iterable[Diagnostic] = ()
) -> list[Manifest]:
    """Return *manifests* of *job* without secrets; *findings* add what looks like a credential."""
    secrets = secrets_in(job, findings)
    return [secrets.masked(manifest) for manifest in manifests]


def effective_spec(loaded: Loaded) -> str:
    """Return the applied spec, with all layers merged, as YAML without secrets."""
    from paddlespec.spec.emit import dump

    secrets = secrets_of(loaded)

    def shown(value: Any, path: Path) -> Any:
        if any(path == secret for secret in secrets.paths):
            return MASK
        if isinstance(value, dict):
            name = value.get("name")  # patches write variables with a name and a value
            secret = name in secrets.variables or (isinstance(name, str) and names_secret(name))
            return {
                key: MASK if secret and key == "value" else shown(item, (*path, key))
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [shown(item, (*path, index)) for index, item in enumerate(value)]
        return secrets.hide(value) if isinstance(value, str) else value

    order = ("apiVersion", "kind", "metadata", "spec")
    data = loaded.document.data
    return dump(shown({key: data[key] for key in order if key in data}, ()))


def secrets_of(loaded: Loaded) -> Secrets:
    """Collect the secrets of a loaded job."""
    return secrets_in(loaded.job, loaded.diagnostics, loaded.document)


def secrets_in(
    job: Job, findings: Iterable[Diagnostic] = (), document: Document | None = None
) -> Secrets:
    """Collect the secrets of *job*, and from its document the parameters that supplied them."""
    paths: set[Path] = set(_sensitive(job))
    paths |= {finding.path for finding in findings if finding.code == LOOKS_SECRET and finding.path}
    if document:
        paths |= {("spec", "parameters", name) for name in _feeding(paths, document)}
    values = [value for path in paths for value in _values(job, document, path)]
    options = {
        place.origin.source
        for path in paths
        for place in ([document.nearest(path)[1]] if document else [])
        if place.origin.is_option
    }
    variables = {path[index + 1] for path in paths for index in _env(path)}
    return Secrets(
        frozenset(paths),
        frozenset(str(name) for name in variables),
        frozenset(options),
        pattern(values),
    )


def pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """Compile a pattern that matches any of *values* inside a text, the longest first."""
    longest = sorted({value for value in values if len(value) >= _SHORTEST}, key=len, reverse=True)
    parts = [
        re.escape(value) if len(value) >= _WORD else rf"(?<!\w){re.escape(value)}(?!\w)"
        for value in longest
    ]
    return re.compile("|".join(parts)) if parts else None


def parameters(text: str) -> list[str]:
    """List the parameters that the expressions of *text* use."""
    return _PARAMETER.findall(text)


def masked_option(option: str) -> str:
    """Hide the value of an option: `--update env.TOKEN=***`."""
    left, splits, _ = option.partition("=")
    return f"{left}={MASK}" if splits else left


# Numbers, quantities and booleans are never secret.
_PLAIN = re.compile(r"[0-9.]{1,6}[A-Za-z]{0,2}|true|false|null")


def redacted(diagnostic: Diagnostic) -> Diagnostic:
    """
    Hide a secret in the location of *diagnostic*.

    The location of a finding in an option is the option's text. It may have an error in the very
    word that marks its value as sensitive, so only the names of options are shown that set
    variables, structures or unknown fields.
    """
    span = diagnostic.span
    left, splits, value = span.file.partition("=")
    if span.line or not splits or _PLAIN.fullmatch(value):
        return diagnostic
    key = re.split(r"[ .]", left)[-1].rstrip("+-")
    unknown = diagnostic.code in (LOOKS_SECRET, "unknown-path")
    if names_secret(key) or looks_secret(value):
        unknown = True
    if unknown or value[:1] in ("{", "[") or re.search(r"(^|[ .:\"])env\b", left):
        return diagnostic._replace(span=span._replace(file=masked_option(span.file)))
    return diagnostic


def _sensitive(job: Job) -> Iterator[Path]:
    for path, env in environments(job.spec):
        for name, source in env.items():
            if getattr(source, "sensitive", False):
                yield (*path, name, "value")


def _feeding(paths: set[Path], document: Document) -> set[str]:
    """Find the parameters whose values became part of a secret, directly or through others."""
    names: set[str] = set()
    left = list(paths)
    while left:
        for name in parameters(_written(document, left.pop())):
            if name not in names:
                names.add(name)
                left.append(("spec", "parameters", name))
    return names


def _written(document: Document, path: Path) -> str:
    """Return the text of the value at *path* in its layer, before expressions were replaced."""
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
    for _, scalar in walk(value):
        if scalar is not None and not isinstance(scalar, bool):
            yield _text(scalar)


def _variable(job: Job, path: Path) -> Any:
    """Return the value of the variable at *path*, if there is no document."""
    for where, env in environments(job.spec):
        if path[: len(where)] == where and len(path) > len(where):
            source = env.get(str(path[len(where)]))
            return getattr(source, "value", source)
    return None


def _env(path: Path) -> list[int]:
    """Return the position in *path* that precedes the name of a variable, if it has one."""
    # The variables of a sidecar are the deepest: spec.trainers.sidecars[0].env.
    places = [
        index for index, part in enumerate(path[:5]) if part == "env" and "patches" not in path
    ]
    return [index for index in places[:1] if len(path) > index + 1]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _sizes(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    return {key: f"<{_size(str(value))} bytes>" for key, value in data.items()}


def _size(encoded: str) -> int:
    return len(encoded) * 3 // 4 - encoded.count("=", -2)
