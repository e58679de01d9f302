"""Read the resource quotas and limit ranges of a namespace, or of all namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.capacity.demand import amounts
from paddlespec.capacity.limit import Limit
from paddlespec.capacity.quota import Quota, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest


def quotas(client: Client, namespace: str) -> list[Quota]:
    """List the quotas with one request; an empty *namespace* selects all."""
    return [_quota(quota) for quota in client.find("v1", "ResourceQuota", namespace)]


def limits(client: Client, namespace: str) -> list[Limit]:
    """List the limits of all limit ranges with one request."""
    ranges = client.find("v1", "LimitRange", namespace)
    return [limit for limit_range in ranges for limit in _limits(limit_range)]


def _quota(live: Manifest) -> Quota:
    spec, status = live.get("spec") or {}, live.get("status") or {}
    selected = (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    scopes = [Scope(scope) for scope in spec.get("scopes") or ()]
    scopes += [
        Scope(
            expression["scopeName"], expression["operator"], tuple(expression.get("values") or ())
        )
        for expression in selected
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
        values: list[dict[str, Any]] = [amounts(item.get(key)) for key in keys]
        for name in sorted({name for resources in values for name in resources}):
            yield Limit(
                live["metadata"]["namespace"],
                live["metadata"]["name"],
                item["type"],
                name,
                *(resources.get(name) for resources in values),
            )
