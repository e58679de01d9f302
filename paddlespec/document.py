"""Documents: plain data, and beside it where each value was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Path, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

Mark = tuple[int, int]
"""A line and a column, both counted from 0, as libyaml counts them."""


class Origin(NamedTuple):
    """What supplied a value: the layer's name for people, and the file or option it came in."""

    layer: str
    source: str
    text: str = ""

    @property
    def is_option(self) -> bool:
        """Options have no lines of their own."""
        return self.source.startswith("--")


class Place:
    """
    Where one value stands; a tree of the same shape as the data.

    `keys` holds the start and end of each key of a mapping, `children` the places of the values.
    A `whole` collection hides what lower layers put at its path instead of merging with it; a
    `loose` member of a tagged union lies below the layer that says of which kind the union is, and
    goes when still lower layers say another. Places are never changed once their document is
    complete.
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
        """The place of one member, if it is written."""
        children = self.children
        if isinstance(children, dict):
            return children.get(part) if isinstance(part, str) else None
        if isinstance(children, list) and isinstance(part, int) and 0 <= part < len(children):
            return children[part]
        return None


class Document(NamedTuple):
    """
    One layer, or several merged: `data` is plain `dict`, `list` and scalars.

    Nothing in it is shared with another document in a way that could be changed from outside.
    """

    data: Any
    place: Place

    def at(self, path: Path) -> Any:
        """The value at *path*, or `None` where nothing is written."""
        value = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def nearest(self, path: Path) -> tuple[Path, Place]:
        """The place of *path* or of its nearest written ancestor."""
        place = self.place
        for index, part in enumerate(path):
            child = place.child(part)
            if child is None:
                return path[:index], place
            place = child
        return path, place

    def origin(self, path: Path) -> Origin:
        """The layer that supplied the value at *path*."""
        return self.nearest(path)[1].origin

    def locate(self, path: Path) -> Span:
        """
        The span of the value at *path*.

        A missing value has no place of its own: then it is the key of the nearest written
        ancestor, as it is for a collection, whose own stretch has no end on its line.
        """
        found, place = self.nearest(path)
        if found == path and place.end is not None:
            return _span(place.origin, place.start, place.end)
        return self.locate_key(found)

    def locate_key(self, path: Path) -> Span:
        """
        The span of the key under which *path* or its nearest written ancestor stands.

        An item of a list has no key and starts at its value.
        """
        found, place = self.nearest(path)
        if found and isinstance(found[-1], str):
            keys = self.nearest(found[:-1])[1].keys
            if keys and found[-1] in keys:
                return _span(place.origin, *keys[found[-1]])
        line, column = place.start
        return _span(place.origin, place.start, place.end or (line, column + 1))

    def part(self, *path: str | int) -> Document | None:
        """The subtree at *path* as a document of its own."""
        place: Place | None = self.place
        for each in path:
            place = place.child(each) if place else None
        return Document(self.at(path), place) if place else None

    def under(self, *path: str) -> Document:
        """This document moved below *path*: a layer of `spec` as a layer of the whole."""
        data, place = self.data, self.place
        for each in reversed(path):
            data = {each: data}
            place = Place(place.origin, place.start, None, {each: place}, {})
        return Document(data, place)

    def labelled(self, layer: str) -> Document:
        """This document under another layer name."""
        return Document(self.data, _relabel(self.place, layer, {}))


def _relabel(place: Place, layer: str, origins: dict[Origin, Origin]) -> Place:
    origin = origins.setdefault(place.origin, place.origin._replace(layer=layer))
    children: dict[str, Place] | list[Place] | None
    if isinstance(place.children, dict):
        children = {key: _relabel(each, layer, origins) for key, each in place.children.items()}
    elif isinstance(place.children, list):
        children = [_relabel(each, layer, origins) for each in place.children]
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
    """Every scalar of *value* with its path, in document order."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from walk(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from walk(each, (*path, index))
    else:
        yield path, value


def remove(value: Any, paths: set[Path]) -> Any:
    """*value* without the subtrees at *paths*; the caller's value is left alone."""
    return _without(value, paths, ()) if paths else value


def _without(value: Any, paths: set[Path], here: Path) -> Any:
    if isinstance(value, dict):
        return {
            key: _without(each, paths, (*here, key))
            for key, each in value.items()
            if (*here, key) not in paths
        }
    if isinstance(value, list):
        return [
            _without(each, paths, (*here, index))
            for index, each in enumerate(value)
            if (*here, index) not in paths
        ]
    return value
