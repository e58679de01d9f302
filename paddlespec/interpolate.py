"""
`${{ name }}`: the few names that a spec may use inside of its own values.

No environment, no clock, no code. A value that is one expression keeps the type of what it names;
inside of a longer text the value is written out. `$VAR`, `${VAR}` and `$(VAR)` belong to the shell
and to Kubernetes and pass untouched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Diagnostic, Path, did_you_mean, dotted
from paddlespec.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN, _CLOSE = "${{", "}}"
_MOST_TEXT = 4 << 20
_MOST_NAMES = 32
_FIXED: dict[str, Path] = {
    "metadata.name": ("metadata", "name"),
    "spec.trainers.replicas": ("spec", "trainers", "replicas"),
    "spec.pservers.replicas": ("spec", "pservers", "replicas"),
}
_PARAMETERS: Path = ("spec", "parameters")
_DEFAULT_REPLICAS = 1


class _Unresolved(Exception):
    """An expression without a value; `told` when the finding stands at the name's own place."""

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        *,
        code: str = "expression",
        told: bool = False,
        endless: bool = False,
    ) -> None:
        super().__init__(message)
        self.message, self.hint, self.code, self.told = message, hint, code, told
        self.endless = endless


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
    values: dict[Path, Any] = {}
    unresolved: set[Path] = set()
    for path, text in _expressions(document.data, ()):
        try:
            values[path] = names.expand(text)
        except _Unresolved as error:
            unresolved.add(path)
            if not error.told:
                span = document.locate(path)
                found.append(Diagnostic(error.code, error.message, span, path, error.hint))
    for name, value in names.parameters.items():
        if value is None:
            path = (*_PARAMETERS, name)
            message = f"the parameter {name} has no value"
            hint = f"supply it with a profile, an overlay or -u parameters.{name}=VALUE"
            found.append(
                Diagnostic("parameter-required", message, document.locate_key(path), path, hint)
            )
            unresolved.add(path)
    data = _replaced(document.data, (), values) if values else document.data
    used = frozenset(names.used)
    return Interpolated(Document(data, document.place), found, unresolved, used)


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
        self.known: dict[str, Any] = {}
        self.used: set[str] = set()
        self.left = _MOST_TEXT

    def expand(self, text: str) -> Any:
        """The value of a text with expressions."""
        before, *rest = text.split(_OPEN)
        parts: list[Any] = [before]
        for each in rest:
            name, closed, after = each.partition(_CLOSE)
            if not closed:
                raise _Unresolved("the expression has no closing }}")
            parts += [self.value(name.strip()), after]
        if len(parts) == 3 and not before and not parts[2]:
            return parts[1]
        expanded = "".join(map(_text, parts))
        self.left -= len(expanded)
        if self.left < 0:
            raise _Unresolved(f"the expressions make more than {_MOST_TEXT >> 20} MiB of text")
        return expanded

    def value(self, name: str) -> Any:
        """What *name* stands for."""
        self.used.add(name)
        if name in self.known:
            return self.known[name]
        if name in self.open:
            raise _Unresolved(f"{name} is defined by itself", endless=True)
        if len(self.open) == _MOST_NAMES:
            message = f"more than {_MOST_NAMES} names stand for one another"
            raise _Unresolved(message, endless=True)
        value = self.lookup(name)
        if isinstance(value, str) and _OPEN in value:
            self.open.append(name)
            try:
                value = self.expand(value)
            except _Unresolved as error:
                error.told = not error.endless
                raise
            finally:
                self.open.pop()
        self.known[name] = value
        return value

    def lookup(self, name: str) -> Any:
        kind, _, key = name.partition(".")
        if kind == "parameters" and key in self.parameters:
            value = self.parameters[key]
            if value is None or isinstance(value, (dict, list)):
                raise _Unresolved(f"the parameter {key} has no value", told=True)
            return value
        if name in _FIXED:
            path = _FIXED[name]
            value = self.document.at(path)
            if value is None and name in self.defaults():
                return _DEFAULT_REPLICAS
            if value is None:
                raise _Unresolved(f"{dotted(path)} has no value")
            return value
        if name == "datacenter.name":
            if self.datacenter is None:
                raise _Unresolved("no datacenter is chosen", "name one with --datacenter")
            return self.datacenter
        names = [*_FIXED, "datacenter.name", *(f"parameters.{each}" for each in self.parameters)]
        hint = "the names are parameters.NAME, datacenter.name, " + ", ".join(_FIXED)
        message = f'nothing is called "{name}"'
        raise _Unresolved(message, did_you_mean(name, names) or hint, code="unknown-name")

    def defaults(self) -> Iterator[str]:
        """The numbers of replicas that nobody wrote and that are one all the same."""
        yield "spec.trainers.replicas"
        if self.document.at(("spec", "pservers")) is not None:
            yield "spec.pservers.replicas"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _replaced(data: Any, path: Path, values: dict[Path, Any]) -> Any:
    """*data* with the values at their paths."""
    if isinstance(data, dict):
        return {key: _replaced(each, (*path, key), values) for key, each in data.items()}
    if isinstance(data, list):
        return [_replaced(each, (*path, index), values) for index, each in enumerate(data)]
    return values.get(path, data)
