"""Sum up what a pod requests from a node, for rendered and for running pods alike."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Amounts = Mapping[str, Decimal]


def demand(spec: Mapping[str, Any]) -> dict[str, Decimal]:
    """Return the requests of a pod as the scheduler counts them."""
    return _of_pod(spec, _requests)


def limits(spec: Mapping[str, Any]) -> dict[str, Decimal]:
    """Return the limits of a pod, for the resources that have one."""
    return _of_pod(spec, _limits)


def _of_pod(
    spec: Mapping[str, Any], count: Callable[[Mapping[str, Any]], dict[str, Decimal]]
) -> dict[str, Decimal]:
    """
    Sum up a pod: its containers and sidecars, or its largest init container with the sidecars
    started before it, whichever is more.

    See "Pod overhead" and "Sidecar containers" in the Kubernetes documentation.
    """
    beside: dict[str, Decimal] = defaultdict(Decimal)
    most: dict[str, Decimal] = {}
    for container in spec.get("initContainers") or ():
        own = count(container)
        if container.get("restartPolicy") == "Always":
            _add(beside, own)
            own = {}
        for name in {*own, *beside}:
            needed = own.get(name, Decimal(0)) + beside.get(name, Decimal(0))
            most[name] = max(most.get(name, Decimal(0)), needed)
    total: dict[str, Decimal] = defaultdict(Decimal, beside)
    for container in spec.get("containers") or ():
        _add(total, count(container))
    for name, amount in most.items():
        total[name] = max(total[name], amount)
    _add(total, amounts(spec.get("overhead")))
    return dict(total)


def _requests(container: Mapping[str, Any]) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    # Without a request, the limit is the request.
    return amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _limits(container: Mapping[str, Any]) -> dict[str, Decimal]:
    return amounts((container.get("resources") or {}).get("limits"))


def amounts(listed: Mapping[str, Any] | None) -> dict[str, Decimal]:
    """Parse quantities, keyed by resource."""
    return {name: quantity(amount) for name, amount in (listed or {}).items()}


def _add(total: dict[str, Decimal], more: Mapping[str, Decimal]) -> None:
    for name, amount in more.items():
        total[name] += amount
