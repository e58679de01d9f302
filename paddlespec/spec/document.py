"""Documents: plain data with the origin and position of every value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Path, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

Mark = tuple[int, int]
"""A line and a column, both counted from 0 as in libyaml."""


class Origin(NamedTuple):
    """The source of a value: the name of its layer, and its file or option."""

    layer: str
    source: str
    text: str = ""

    @property
    def is_option(self) -> bool:
        """Whether the source is a command-line option, which has no lines."""
        return self.source.startswith("--")


class Place:
    """
    The position of one value, in a tree with the shape of the data.

    `keys` holds the start and end of every key of a mapping, `children` the places of the values.
    A `whole` collection replaces the value of lower layers instead of merging with it. A `loose`
    member of a tagged union was set below the layer that sets the kind of the union; it is dropped
    if a still lower layer sets another kind. Places are immutable once their document is complete.
    """

    __slots__ = ("children", "end", "keys", "loose", "origin", "start", "whole")

    def __init__(
        self,
        origin: Origin,
        start: Mark,
        end: Mark | None = None,
        children: dict[str, Place] | list[Place] | None = None,
        keys: dict[str, tuple[Mark, Mark]] | None = None,
        whole: bool = False,
        loose: bool = False,
    ) -> None:
        self.origin = origin
        self.start = start
        self.end = end
        self.children = children
        self.keys = keys
        self.whole = whole
        self.loose = loose

    def child(self, part: str | int) -> Place | None:
        """Return the place of one member, or None if it is not set."""
        children = self.children
        if isinstance(children, dict):
            return children.get(part) if isinstance(part, str) else None
        if isinstance(children, list) and isinstance(part, int) and 0 <= part < len(children):
            return children[part]
        return None


class Document(NamedTuple):
    """
    One layer, or several merged layers; `data` consists of `dict`, `list` and scalars.

    Documents may share parts, so they must not be modified.
    """

    data: Any
    place: Place

    def at(self, path: Path) -> Any:
        """Return the value at *path*, or None if it is not set."""
        value = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def nearest(self, path: Path) -> tuple[Path, Place]:
        """Return the place of *path*, or that of its nearest existing ancestor."""
        place = self.place
        for index, part in enumerate(path):
            child = place.child(part)
            if child is None:
                return path[:index], place
            place = child
        return path, place

    def origin(self, path: Path) -> Origin:
        """Return the layer that set the value at *path*."""
        return self.nearest(path)[1].origin

    def locate(self, path: Path) -> Span:
        """
        Return the span of the value at *path*.

        For a collection, which may end on another line, it is the span of its key; for a missing
        value, that of the nearest existing ancestor.
        """
        nearest, place = self.nearest(path)
        if nearest == path and place.end is not None:
            return _span(place.origin, place.start, place.end)
        return self.locate_key(nearest)

    def locate_key(self, path: Path) -> Span:
        """
        Return the span of the key of *path* or of its nearest existing ancestor.

        An item of a list has no key; its span starts at its value.
        """
        nearest, place = self.nearest(path)
        if nearest and isinstance(nearest[-1], str):
            keys = self.nearest(nearest[:-1])[1].keys
            if keys and nearest[-1] in keys:
                return _span(place.origin, *keys[nearest[-1]])
        line, column = place.start
        return _span(place.origin, place.start, place.end or (line, column + 1))

    def part(self, *path: str | int) -> Document | None:
        """Return the subtree at *path* as a document, or None if it is not set."""
        place: Place | None = self.place
        for part in path:
            place = place.child(part) if place else None
        return Document(self.at(path), place) if place else None

    def under(self, *path: str) -> Document:
        """Move this document below *path*, for example a layer of `spec` to a whole layer."""
        data, place = self.data, self.place
        for part in reversed(path):
            data = {part: data}
            place = Place(place.origin, place.start, None, {part: place}, {})
        return Document(data, place)

    def labelled(self, layer: str) -> Document:
        """Return this document with another layer name."""
        return Document(self.data, _relabel(self.place, layer, {}))


def _relabel(place: Place, layer: str, origins: dict[Origin, Origin]) -> Place:
    origin = origins.setdefault(place.origin, place.origin._replace(layer=layer))
    children: dict[str, Place] | list[Place] | None
    if isinstance(place.children, dict):
        children = {key: _relabel(child, layer, origins) for key, child in place.children.items()}
    elif isinstance(place.children, list):
        children = [_relabel(child, layer, origins) for child in place.children]
    else:
        children = None
    return Place(origin, place.start, place.end, children, place.keys, place.whole, place.loose)


def _span(origin: Origin, start: Mark, end: Mark) -> Span:
    if origin.is_option:
        return Span(origin.source)
    line, column = start
    end_column = end[1] if end[0] == line and end[1] > column else column + 1
    return Span(origin.source, line + 1, column + 1, end_column + 1)


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the scalars of *value* with their paths, in document order."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from walk(member, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from walk(item, (*path, index))
    else:
        yield path, value


def remove(value: Any, paths: set[Path]) -> Any:
    """Return a copy of *value* without the subtrees at *paths*."""
    return _without(value, paths, ()) if paths else value


def _without(value: Any, paths: set[Path], here: Path) -> Any:
    if isinstance(value, dict):
        return {
            key: _without(member, paths, (*here, key))
            for key, member in value.items()
            if (*here, key) not in paths
        }
    if isinstance(value, list):
        return [
            _without(item, paths, (*here, index))
            for index, item in enumerate(value)
            if (*here, index) not in paths
        ]
    return value
