"""The fields of a spec by path, as the schema lists them: for overrides, edits and `explain`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import Path, dotted, nearest
from paddlespec.gate import SOURCE, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]


def root() -> Node:
    """The source schema: what one file may say."""
    return schema(SOURCE)


def resolve(node: Node) -> Node:
    """*node* with its reference followed; what it says itself wins over what it refers to."""
    if "$ref" not in node:
        return node
    definition = root()["$defs"][node["$ref"].rpartition("/")[2]]
    return {**definition, **{key: value for key, value in node.items() if key != "$ref"}}


def member(node: Node, part: str | int) -> Node | None:
    """The schema of one member of a mapping or list, or nothing where there can be none."""
    for branch in branches(node):
        if isinstance(part, int):
            if "items" in branch:
                return resolve(branch["items"])
        elif part in branch.get("properties", {}):
            return resolve(branch["properties"][part])
        elif isinstance(branch.get("additionalProperties"), dict):
            return resolve(branch["additionalProperties"])
        elif (
            "object" in types(branch) and not {"properties", "additionalProperties"} & branch.keys()
        ):
            return {}
    return {} if not node else None


def branches(node: Node) -> Iterator[Node]:
    """The alternatives of a union, or the node alone."""
    yield from map(resolve, node.get("anyOf", [node]))


def types(node: Node) -> set[str]:
    """The JSON types that *node* takes; every one where the schema says nothing."""
    found: set[str] = set()
    for branch in branches(node):
        names = branch.get("type", [])
        found |= set(names if isinstance(names, list) else [names])
    return found


def holds_text(node: Node) -> bool:
    """Whether a value of *node* is text as it is written: `1.10` stays `1.10`."""
    from paddlespec.gate import EXPRESSION

    return any(
        "string" in types(branch) and branch.get("pattern") != EXPRESSION
        for branch in branches(node)
        if "number" not in types(branch) or "boolean" in types(branch)
    )


def find(path: Path) -> Node | None:
    """The schema of the field at *path*; list items by index or by name."""
    node: Node | None = root()
    for part in path:
        if node is None:
            return None
        is_list = "array" in types(node) and "object" not in types(node)
        step = 0 if is_list and "items" in resolve(node) else part
        node = member(node, step)
    return node


@lru_cache
def known() -> tuple[str, ...]:
    """The dotted path of every field that has a fixed name."""
    return tuple(_paths(root(), (), 0))


def _paths(node: Node, path: Path, depth: int) -> Iterator[str]:
    for branch in branches(node):
        for key, each in branch.get("properties", {}).items():
            if path[:1] != ("profiles",):
                yield dotted((*path, key))
                yield from _paths(resolve(each), (*path, key), depth + 1)
        if isinstance(branch.get("items"), dict):
            yield from _paths(resolve(branch["items"]), path, depth + 1)


def suggestion(path: Path) -> str | None:
    """The known path that *path* was most likely meant to be."""
    text = ".".join(str(each) for each in path).removeprefix("spec.")
    paths = [each.removeprefix("spec.") for each in known()]
    close = nearest(text, paths)
    same_end = [each for each in paths if each.rpartition(".")[2] == path[-1]]
    if same_end and (close is None or len(path) <= 2):
        close = close if close in same_end else same_end[0]
    return close
