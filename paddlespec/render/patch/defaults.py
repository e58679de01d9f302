"""
Withdraw our defaults that contradict what a patch sets.

The API server refuses a container that is privileged and must not gain rights.
"""

from __future__ import annotations

from typing import Any

from paddlespec.render.patch.value import mappings
from paddlespec.render.pod_settings import needs_escalation

_DEFAULT = "allowPrivilegeEscalation"


def give_way(before: dict[str, Any], after: Any) -> Any:
    """Return *after* without the defaults of *before* that a patch has made contradictory."""
    if not isinstance(after, dict):
        return after
    unfit = {
        path
        for path, mapping in mappings(after)
        if path[-1:] == ("securityContext",)
        and mapping.get(_DEFAULT) is False
        and needs_escalation(mapping)
    }
    known = {path for path, mapping in mappings(before) if mapping.get(_DEFAULT) is False}
    for path in unfit & known:
        after = _without(after, (*path, _DEFAULT))
    return after


def _without(node: Any, path: tuple[Any, ...]) -> Any:
    head, *rest = path
    if isinstance(node, list):
        return [
            _without(item, tuple(rest)) if index == head else item
            for index, item in enumerate(node)
        ]
    if not rest:
        return {key: value for key, value in node.items() if key != head}
    return {**node, head: _without(node[head], tuple(rest))}
