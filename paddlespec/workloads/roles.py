"""The pods of one role, wherever an object keeps their template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from paddlespec.render.manifest import Manifest


class RolePods(NamedTuple):
    """
    Identical pods of one role: how many run at once, and their template.

    `path` is the path of the template in the object; list items are addressed by name. `deadline`
    is in seconds. Replicas that have hosts are named `<host>-<index>.<service>`.
    """

    role: str
    replicas: int
    template: dict[str, Any]
    path: tuple[str, ...]
    deadline: int | None = None
    host: str = ""
    service: str | None = None

    @property
    def pod(self) -> dict[str, Any]:
        """The spec of a pod."""
        spec: dict[str, Any] = self.template.get("spec") or {}
        return spec


def has_template(value: Any) -> bool:
    """Report whether *value* contains a pod template at any depth."""
    if isinstance(value, list):
        return any(map(has_template, value))
    if not isinstance(value, dict):
        return False
    containers = value.get("containers")
    if isinstance(containers, list) and any(_is_container(item) for item in containers):
        return True
    return any(map(has_template, value.values()))


def without(manifest: Manifest, path: tuple[str, ...]) -> Manifest:
    """Return *manifest* without the field at *path*; list items are addressed by name."""
    remaining: Manifest = _without(manifest, path)
    return remaining


def replaced(manifest: Manifest, path: tuple[str, ...], value: Any) -> Manifest:
    """Return *manifest* with *value* at *path*; list items are addressed by name."""
    changed: Manifest = _replaced(manifest, path, value)
    return changed


def _replaced(node: Any, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(node, list):
        return [_replaced(item, rest, value) if _is_named(item, head) else item for item in node]
    return {**node, head: _replaced(node.get(head) or {}, rest, value)}


def _without(node: Any, path: tuple[str, ...]) -> Any:
    head, rest = path[0], path[1:]
    if isinstance(node, list):
        return [_without(item, rest) if rest and _is_named(item, head) else item for item in node]
    if not isinstance(node, dict) or head not in node:
        return node
    if rest:
        return {**node, head: _without(node[head], rest)}
    return {key: value for key, value in node.items() if key != head}


def _is_named(item: Any, name: str) -> bool:
    return isinstance(item, dict) and item.get("name") == name


def _is_container(item: Any) -> bool:
    return isinstance(item, dict) and "image" in item
