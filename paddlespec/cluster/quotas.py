"""The resource quotas and limit ranges of a namespace, or of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.capacity.limit import Limit
from paddlespec.capacity.quota import Quota, Scope
from paddlespec.demand import amounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest


def quotas(client: Client, namespace: str) -> list[Quota]:
    """The quotas, with one request; an empty *namespace* means every one."""
    return [_quota(each) for each in client.find("v1", "ResourceQuota", namespace)]


def limits(client: Client, namespace: str) -> list[Limit]:
    """What the limit ranges say, with one request."""
    found = client.find("v1", "LimitRange", namespace)
    return [limit for each in found for limit in _limits(each)]


def _quota(live: Manifest) -> Quota:
    spec, status = live.get("spec") or {}, live.get("status") or {}
    selected = (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    scopes = [Scope(each) for each in spec.get("scopes") or ()]
    scopes += [
        Scope(each["scopeName"], each["operator"], tuple(each.get("values") or ()))
        for each in selected
    ]
    return Quota(
        live["metadata"]["namespace"],
        live["metadata"]["name"],
        amounts(spec.get("hard")),
        amounts(status.get("used")),
        tuple(scopes),
    )


def _limits(live: Manifest) -> Iterator[Limit]:
    keys = ("min", "max", "default", "defaultRequest", "maxLimitRequestRatio")
    for item in live["spec"].get("limits") or ():
        said: list[dict[str, Any]] = [amounts(item.get(key)) for key in keys]
        for name in sorted({name for each in said for name in each}):
            yield Limit(
                live["metadata"]["namespace"],
                live["metadata"]["name"],
                item["type"],
                name,
                *(each.get(name) for each in said),
            )
