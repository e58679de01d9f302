"""Find which layer supplied each value of a spec, and where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Path, Span, dotted
from paddlespec.report.mask import Secrets
from paddlespec.report.width import cells, shortened, visible
from paddlespec.spec import fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.spec.document import Document

SPEC = "spec"
_NONE = Secrets()
_LONGEST_VALUE = 60
_WIDEST_COLUMN = 80


class Supplied(NamedTuple):
    """One value of the effective spec and its origin, with secrets hidden."""

    path: Path
    value: str
    layer: str
    span: Span

    @property
    def assignment(self) -> str:
        """The path and the value on one line."""
        return f"{visible(dotted(self.path))} = {shortened(visible(self.value), _LONGEST_VALUE)}"

    @property
    def place(self) -> str:
        """The option, or file and line, with the layer if they do not imply it."""
        if not self.span.line:
            return self.span.file
        place = f"{self.span.file}:{self.span.line}"
        is_named = self.layer == SPEC or self.layer.startswith("overlay ")
        return place if is_named else f"{place} ({self.layer})"


def origins(document: Document, secrets: Secrets = _NONE) -> list[Supplied]:
    """List all scalars and empty collections of *document*, in the schema's order of sections."""
    values = []
    for path, value in _leaves(document.data, ()):
        origin = document.origin(path)
        layer = secrets.hide(origin.layer)
        span = Span(layer) if origin.is_option else document.locate(path)
        values.append(Supplied(path, secrets.shown(path, value), layer, span))
    return sorted(values, key=_section)


def text(values: Sequence[Supplied]) -> str:
    """Print one line per value: `spec.trainers.replicas = 8    --update trainers.replicas=8`."""
    column = min(_WIDEST_COLUMN, max((cells(value.assignment) for value in values), default=0))
    return "".join(
        f"{value.assignment}{' ' * (column - cells(value.assignment))}    {visible(value.place)}\n"
        for value in values
    )


def _section(supplied: Supplied) -> list[int]:
    """Return the position of a path's first two parts in the schema."""
    ranks = []
    for depth in (0, 1):
        known = list((fields.find(supplied.path[:depth]) or {}).get("properties", ()))
        part = supplied.path[depth] if len(supplied.path) > depth else ""
        ranks.append(known.index(part) if part in known else len(known))
    return ranks


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    elif isinstance(value, (dict, list)):
        yield path, "{}" if isinstance(value, dict) else "[]"
    else:
        yield path, value
