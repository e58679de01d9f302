"""Which layer supplied each value of a spec, and where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import fields
from paddlespec.diagnostic import Path, Span, dotted
from paddlespec.report.mask import Secrets
from paddlespec.report.width import cells, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.document import Document

SPEC = "spec"
_NONE = Secrets()
_LONGEST_VALUE = 60
_WIDEST_COLUMN = 80


class Supplied(NamedTuple):
    """One value of the effective spec: what it is, and what supplied it, as may be shown."""

    path: Path
    value: str
    layer: str
    span: Span

    @property
    def assignment(self) -> str:
        """The value at its path, as one line."""
        return f"{visible(dotted(self.path))} = {shortened(visible(self.value), _LONGEST_VALUE)}"

    @property
    def place(self) -> str:
        """The option, or file and line, and the layer where these do not tell it."""
        if not self.span.line:
            return self.span.file
        place = f"{self.span.file}:{self.span.line}"
        told = self.layer == SPEC or self.layer.startswith("overlay ")
        return place if told else f"{place} ({self.layer})"


def origins(document: Document, secrets: Secrets = _NONE) -> list[Supplied]:
    """Every scalar and every empty collection of *document*, sections in the schema's order."""
    found = []
    for path, value in _leaves(document.data, ()):
        origin = document.origin(path)
        layer = secrets.hide(origin.layer)
        span = Span(layer) if origin.is_option else document.locate(path)
        found.append(Supplied(path, secrets.shown(path, value), layer, span))
    return sorted(found, key=_section)


def text(found: Sequence[Supplied]) -> str:
    """One line each: `spec.trainers.replicas = 8    --update trainers.replicas=8`."""
    column = min(_WIDEST_COLUMN, max((cells(each.assignment) for each in found), default=0))
    return "".join(
        f"{each.assignment}{' ' * (column - cells(each.assignment))}    {visible(each.place)}\n"
        for each in found
    )


def _section(supplied: Supplied) -> list[int]:
    """Where the first two parts of a path stand in the schema; layers come in any order."""
    found = []
    for depth in (0, 1):
        known = list((fields.find(supplied.path[:depth]) or {}).get("properties", ()))
        part = supplied.path[depth] if len(supplied.path) > depth else ""
        found.append(known.index(part) if part in known else len(known))
    return found


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _leaves(each, (*path, key))
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from _leaves(each, (*path, index))
    elif isinstance(value, (dict, list)):
        yield path, "{}" if isinstance(value, dict) else "[]"
    else:
        yield path, value
