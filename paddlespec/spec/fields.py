"""Look up spec fields in the schema by path, for overrides, edits and `explain`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import Path, dotted, nearest
from paddlespec.spec.gate import SOURCE, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]


def root() -> Node:
    """Return the schema of a single file."""
    return schema(SOURCE)


def resolve(node: Node) -> Node:
    """Return *node* with its reference resolved; its own keywords take precedence."""
    if "$ref" not in node:
        return node
    definition = root()["$defs"][node["$ref"].rpartition("/")[2]]
    return {**definition, **{key: value for key, value in node.items() if key != "$ref"}}


def member(node: Node, part: str | int) -> Node | None:
    """Return the schema of one member of a mapping or list, or None if it has none."""
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
    """Yield the branches of a union, or the node itself."""
    yield from map(resolve, node.get("anyOf", [node]))


def types(node: Node) -> set[str]:
    """Return the JSON types of *node*; empty if the schema allows any type."""
    accepted: set[str] = set()
    for branch in branches(node):
        names = branch.get("type", [])
        accepted |= set(names if isinstance(names, list) else [names])
    return accepted


def holds_text(node: Node) -> bool:
    """Whether *node* takes strings unchanged, so that `1.10` stays `1.10`."""
    from paddlespec.spec.gate import EXPRESSION

    return any(
        "string" in types(branch) and branch.get("pattern") != EXPRESSION
        for branch in branches(node)
        if "number" not in types(branch) or "boolean" in types(branch)
    )


def find(path: Path) -> Node | None:
    """Return the schema of the field at *path*, with list items by index or by name."""
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
    """Return the dotted paths of all fields with a fixed name."""
    return tuple(_paths(root(), (), 0))


def _paths(node: Node, path: Path, depth: int) -> Iterator[str]:
    for branch in branches(node):
        for key, member in branch.get("properties", {}).items():
            if path[:1] != ("profiles",):
                yield dotted((*path, key))
                yield from _paths(resolve(member), (*path, key), depth + 1)
        if isinstance(branch.get("items"), dict):
            yield from _paths(resolve(branch["items"]), path, depth + 1)


def suggestion(path: Path) -> str | None:
    """Return the known path most similar to *path*."""
    text = ".".join(str(part) for part in path).removeprefix("spec.")
    paths = [candidate.removeprefix("spec.") for candidate in known()]
    similar = nearest(text, paths)
    same_end = [candidate for candidate in paths if candidate.rpartition(".")[2] == path[-1]]
    if same_end and (similar is None or len(path) <= 2):
        similar = similar if similar in same_end else same_end[0]
    return similar
