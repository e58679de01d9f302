"""
`${{ name }}`: the few names that a spec may use inside of its own values.

No environment, no clock, no code. A value that is one expression keeps the type of what it names;
inside of a longer text the value is written out. `$VAR`, `${VAR}` and `$(VAR)` belong to the shell
and to Kubernetes and pass untouched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Diagnostic, Path, did_you_mean, dotted
from paddlespec.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_OPEN = "${{"
_FIXED: dict[str, Path] = {
    "metadata.name": ("metadata", "name"),
    "spec.trainers.replicas": ("spec", "trainers", "replicas"),
    "spec.pservers.replicas": ("spec", "pservers", "replicas"),
}
_PARAMETERS: Path = ("spec", "parameters")
_DEFAULT_REPLICAS = 1


class _Unresolved(Exception):
    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


class Interpolated(NamedTuple):
    """
    A document with every expression replaced.

    What could not be is reported, and `unresolved` are its paths; `used` are all names met.
    """

    document: Document
    diagnostics: list[Diagnostic]
    unresolved: set[Path]
    used: frozenset[str]


def interpolate(document: Document, datacenter: str | None = None) -> Interpolated:
    """Replace the expressions of *document*; a parameter may use other names, though not itself."""
    names = _Names(document, datacenter)
    found: list[Diagnostic] = []
    pruned: set[Path] = set()
    used: set[str] = set()
    data = document.data
    for path, text in _expressions(document.data, ()):
        used.update(match[1].strip() for match in _EXPRESSION.finditer(text))
        try:
            value = names.expand(text)
        except _Unresolved as error:
            span = document.locate(path)
            found.append(Diagnostic(error.code, error.message, span, path, error.hint))
            pruned.add(path)
        else:
            data = _put(data, path, value)
    required = document.at(_PARAMETERS)
    for name, value in required.items() if isinstance(required, dict) else ():
        if value is None:
            path = (*_PARAMETERS, name)
            message = f"the parameter {name} has no value"
            hint = f"supply it with a profile, an overlay or -u parameters.{name}=VALUE"
            found.append(
                Diagnostic("parameter-required", message, document.locate_key(path), path, hint)
            )
            pruned.add(path)
    return Interpolated(Document(data, document.place), found, pruned, frozenset(used))


def _expressions(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        if _OPEN in value:
            yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _expressions(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _expressions(each, (*path, index))


class _Names:
    def __init__(self, document: Document, datacenter: str | None) -> None:
        self.document = document
        self.datacenter = datacenter
        parameters = document.at(_PARAMETERS)
        self.parameters: dict[str, Any] = parameters if isinstance(parameters, dict) else {}
        self.open: list[str] = []

    def expand(self, text: str) -> Any:
        """The value of a text with expressions."""
        match = _EXPRESSION.fullmatch(text)
        if match and _OPEN not in match[1]:
            return self.value(match[1].strip())
        expanded = _EXPRESSION.sub(lambda each: _text(self.value(each[1].strip())), text)
        if _OPEN in _EXPRESSION.sub("", text):
            raise _Unresolved("expression", "the expression has no closing }}")
        return expanded

    def value(self, name: str) -> Any:
        """What *name* stands for."""
        if name in self.open:
            raise _Unresolved("expression", f"{name} is defined by itself")
        value = self.lookup(name)
        if isinstance(value, str) and _OPEN in value:
            self.open.append(name)
            value = self.expand(value)
            self.open.pop()
        return value

    def lookup(self, name: str) -> Any:
        kind, _, key = name.partition(".")
        if kind == "parameters" and key in self.parameters:
            if self.parameters[key] is None:
                raise _Unresolved("parameter-required", f"the parameter {key} has no value")
            return self.parameters[key]
        if name in _FIXED:
            path = _FIXED[name]
            value = self.document.at(path)
            if value is None and path[-1] == "replicas" and self.document.at(path[:1]):
                return _DEFAULT_REPLICAS
            if value is None:
                raise _Unresolved("expression", f"{dotted(path)} has no value")
            return value
        if name == "datacenter.name":
            if self.datacenter is None:
                raise _Unresolved(
                    "expression", "no datacenter is chosen", "name one with --datacenter"
                )
            return self.datacenter
        known = [*_FIXED, "datacenter.name", *(f"parameters.{each}" for each in self.parameters)]
        raise _Unresolved(
            "unknown-name",
            f'nothing is called "{name}"',
            did_you_mean(name, known) or "the names are parameters.NAME, " + ", ".join(_FIXED),
        )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _put(data: Any, path: Path, value: Any) -> Any:
    """A copy of *data* with *value* at *path*; only the way there is copied."""
    if not path:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = _put(data[path[0]], path[1:], value)
    return copy
