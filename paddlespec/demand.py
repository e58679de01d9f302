"""What a pod asks of a node: the same count for what is rendered and for what runs."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Amounts = Mapping[str, Decimal]


def demand(spec: Mapping[str, Any]) -> dict[str, Decimal]:
    """What the scheduler counts for a pod."""
    return _of_pod(spec, _requests)


def limits(spec: Mapping[str, Any]) -> dict[str, Decimal]:
    """What a pod may take at most, of the resources for which it says so."""
    return _of_pod(spec, _limits)


def _of_pod(
    spec: Mapping[str, Any], count: Callable[[Mapping[str, Any]], dict[str, Decimal]]
) -> dict[str, Decimal]:
    """
    Its containers and sidecars together, or its hungriest init container with the sidecars that
    run by then; see "Pod overhead" and "Sidecar containers" in the Kubernetes documentation.
    """
    beside: dict[str, Decimal] = defaultdict(Decimal)
    most: dict[str, Decimal] = {}
    for each in spec.get("initContainers") or ():
        own = count(each)
        if each.get("restartPolicy") == "Always":
            _add(beside, own)
            own = {}
        for name in {*own, *beside}:
            needed = own.get(name, Decimal(0)) + beside.get(name, Decimal(0))
            most[name] = max(most.get(name, Decimal(0)), needed)
    total: dict[str, Decimal] = defaultdict(Decimal, beside)
    for each in spec.get("containers") or ():
        _add(total, count(each))
    for name, amount in most.items():
        total[name] = max(total[name], amount)
    _add(total, amounts(spec.get("overhead")))
    return dict(total)


def _requests(container: Mapping[str, Any]) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    # A limit alone is a request as well.
    return amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _limits(container: Mapping[str, Any]) -> dict[str, Decimal]:
    return amounts((container.get("resources") or {}).get("limits"))


def amounts(listed: Mapping[str, Any] | None) -> dict[str, Decimal]:
    """Quantities by the name of the resource, as numbers."""
    return {name: quantity(amount) for name, amount in (listed or {}).items()}


def _add(total: dict[str, Decimal], more: Mapping[str, Decimal]) -> None:
    for name, amount in more.items():
        total[name] += amount
