"""
Replace `${{ name }}` expressions with the values they name.

Expressions cannot use the environment, the time or code. A value that is a single expression keeps
the type of the named value; inside longer text it is converted to a string. `$VAR`, `${VAR}` and
`$(VAR)` are left to the shell and to Kubernetes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import (
    Diagnostic,
    Path,
    did_you_mean,
    dotted,
)
from paddlespec.spec.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN, _CLOSE = "${{", "}}"
MAX_TEXT = 4 << 20
MAX_NESTING = 32
_FIXED: dict[str, Path] = {
    "metadata.name": ("metadata", "name"),
    "spec.trainers.replicas": ("spec", "trainers", "replicas"),
    "spec.pservers.replicas": ("spec", "pservers", "replicas"),
}
_PARAMETERS: Path = ("spec", "parameters")
_DEFAULT_REPLICAS = 1


class _Unresolved(Exception):
    """Raised for an expression without a value; `is_reported` if a diagnostic already exists."""

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        *,
        code: str = "expression",
        is_reported: bool = False,
        is_circular: bool = False,
    ) -> None:
        super().__init__(message)
        self.message, self.hint, self.code = message, hint, code
        self.is_reported, self.is_circular = is_reported, is_circular


class Interpolated(NamedTuple):
    """
    A document with its expressions replaced.

    `unresolved` holds the paths of expressions without a value, which are reported; `used` holds
    all names in expressions.
    """

    document: Document
    diagnostics: list[Diagnostic]
    unresolved: set[Path]
    used: frozenset[str]


def interpolate(document: Document, datacenter: str | None = None) -> Interpolated:
    """Replace the expressions of *document*; a parameter may use other parameters."""
    names = _Names(document, datacenter)
    diagnostics: list[Diagnostic] = []
    values: dict[Path, Any] = {}
    unresolved: set[Path] = set()
    for path, text in _expressions(document.data, ()):
        try:
            values[path] = names.expand(text)
        except _Unresolved as error:
            unresolved.add(path)
            if not error.is_reported:
                span = document.locate(path)
                diagnostics.append(Diagnostic(error.code, error.message, span, path, error.hint))
    for name, value in names.parameters.items():
        if value is None:
            path = (*_PARAMETERS, name)
            message = f'parameter "{name}" has no value'
            hint = f"set it in a profile, in an overlay, or with -u parameters.{name}=VALUE"
            span = document.locate_key(path)
            diagnostics.append(Diagnostic("parameter-required", message, span, path, hint))
            unresolved.add(path)
    data = _replaced(document.data, (), values) if values else document.data
    used = frozenset(names.used)
    return Interpolated(Document(data, document.place), diagnostics, unresolved, used)


def _expressions(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        if _OPEN in value:
            yield path, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _expressions(member, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _expressions(item, (*path, index))


class _Names:
    def __init__(self, document: Document, datacenter: str | None) -> None:
        self.document = document
        self.datacenter = datacenter
        parameters = document.at(_PARAMETERS)
        self.parameters: dict[str, Any] = parameters if isinstance(parameters, dict) else {}
        named = document.at(("spec", "roles"))
        self.fixed = dict(_FIXED)
        for role in named if isinstance(named, dict) else ():
            self.fixed[f"spec.roles.{role}.replicas"] = ("spec", "roles", role, "replicas")
        self.resolving: list[str] = []
        self.resolved: dict[str, Any] = {}
        self.used: set[str] = set()
        self.text_left = MAX_TEXT

    def expand(self, text: str) -> Any:
        """Return the value of a text with expressions."""
        before, *rest = text.split(_OPEN)
        parts: list[Any] = [before]
        for segment in rest:
            name, closed, after = segment.partition(_CLOSE)
            if not closed:
                raise _Unresolved("expression is not closed with }}")
            parts += [self.value(name.strip()), after]
        if len(parts) == 3 and not before and not parts[2]:
            return parts[1]
        expanded = "".join(map(_text, parts))
        self.text_left -= len(expanded)
        if self.text_left < 0:
            raise _Unresolved(f"expressions expand to more than {MAX_TEXT >> 20} MiB")
        return expanded

    def value(self, name: str) -> Any:
        """Return the value of *name*, with its own expressions replaced."""
        self.used.add(name)
        if name in self.resolved:
            return self.resolved[name]
        if name in self.resolving:
            raise _Unresolved(f"{name} refers to itself", is_circular=True)
        if len(self.resolving) == MAX_NESTING:
            message = f"expressions are nested more than {MAX_NESTING} levels deep"
            raise _Unresolved(message, is_circular=True)
        value = self.lookup(name)
        if isinstance(value, str) and _OPEN in value:
            self.resolving.append(name)
            try:
                value = self.expand(value)
            except _Unresolved as error:
                error.is_reported = not error.is_circular
                raise
            finally:
                self.resolving.pop()
        self.resolved[name] = value
        return value

    def lookup(self, name: str) -> Any:
        kind, _, key = name.partition(".")
        if kind == "parameters" and key in self.parameters:
            value = self.parameters[key]
            if value is None or isinstance(value, (dict, list)):
                raise _Unresolved(f'parameter "{key}" has no value', is_reported=True)
            return value
        if name in self.fixed:
            path = self.fixed[name]
            value = self.document.at(path)
            if value is None and name in self.defaults():
                return _DEFAULT_REPLICAS
            if value is None:
                raise _Unresolved(f"{dotted(path)} has no value")
            return value
        if name == "datacenter.name":
            if self.datacenter is None:
                raise _Unresolved("no datacenter is selected", "select one with --datacenter")
            return self.datacenter
        names = [
            *self.fixed,
            "datacenter.name",
            *(f"parameters.{parameter}" for parameter in self.parameters),
        ]
        hint = "use one of parameters.NAME, datacenter.name, " + ", ".join(self.fixed)
        message = f'unknown name "{name}" in expression'
        raise _Unresolved(message, did_you_mean(name, names) or hint, code="unknown-name")

    def defaults(self) -> Iterator[str]:
        """Yield the replica counts that have a default."""
        yield "spec.trainers.replicas"
        if self.document.at(("spec", "pservers")) is not None:
            yield "spec.pservers.replicas"
        yield from self.fixed.keys() - _FIXED.keys()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _replaced(data: Any, path: Path, values: dict[Path, Any]) -> Any:
    """Return *data* with *values* at their paths."""
    if isinstance(data, dict):
        return {key: _replaced(member, (*path, key), values) for key, member in data.items()}
    if isinstance(data, list):
        return [_replaced(item, (*path, index), values) for index, item in enumerate(data)]
    return values.get(path, data)
