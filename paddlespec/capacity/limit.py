"""
Limit ranges: how large one container, pod or claim may be, and what it gets that says nothing.

See "Limit Ranges" in the Kubernetes documentation.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.capacity.line import Line
from paddlespec.demand import amounts, demand, limits
from paddlespec.quantity import as_amount, as_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlespec.capacity.need import Need
    from paddlespec.demand import Amounts

CONTAINER, POD, CLAIM = "Container", "Pod", "PersistentVolumeClaim"
_ZERO = Decimal(0)


class Limit(NamedTuple):
    """What a limit range says of one resource of a Container, a Pod or a PersistentVolumeClaim."""

    namespace: str
    name: str
    type: str
    resource: str
    least: Decimal | None = None
    most: Decimal | None = None
    default: Decimal | None = None
    default_request: Decimal | None = None
    ratio: Decimal | None = None


class Asking(NamedTuple):
    """What one container, pod or claim says of a resource."""

    request: Decimal | None
    limit: Decimal | None


def line(limit: Limit) -> Line:
    """The line of *limit*: nothing is used up, each may have `hard`."""
    return Line(
        "limits",
        f"{limit.name}/{limit.type}",
        limit.resource,
        hard=limit.most,
        reason=_told(limit),
        namespace=limit.namespace,
    )


def wanted(limit: Limit, need: Need) -> Line:
    """The line of *limit* with the largest that *need* asks for, and what is wrong with it."""
    listed = list(_asking(limit, need))
    largest = max((each.limit or each.request or _ZERO for each in listed), default=_ZERO)
    faults = list(dict.fromkeys(fault for each in listed for fault in _faults(limit, each)))
    short = max(_ZERO, largest - limit.most) if limit.most is not None else _ZERO
    found = line(limit)._replace(need=largest, short=short, fits=not faults)
    return found._replace(reason=", ".join(faults)) if faults else found


def defaulted(pod: Mapping[str, Any], limits: Sequence[Limit]) -> dict[str, Any]:
    """*pod* as it is admitted: containers that say nothing get what the limit ranges say."""
    own = [each for each in limits if each.type == CONTAINER]
    found = dict(pod)
    for key in ("containers", "initContainers"):
        if pod.get(key):
            found[key] = [
                {**each, "resources": _filled(each.get("resources") or {}, own)}
                for each in pod[key]
            ]
    return found


def _filled(resources: Mapping[str, Any], listed: Iterable[Limit]) -> dict[str, Any]:
    given = dict(resources.get("limits") or {})
    asked = dict(resources.get("requests") or {})
    for each in listed:
        if each.resource in given:
            asked.setdefault(each.resource, given[each.resource])
        if each.default is not None:
            given.setdefault(each.resource, str(each.default))
        if each.default_request is not None:
            asked.setdefault(each.resource, str(each.default_request))
    return {"limits": given, "requests": asked}


def _asking(limit: Limit, need: Need) -> Iterator[Asking]:
    name = limit.resource
    if limit.type == CLAIM:
        for each in need.objects:
            if each["kind"] == CLAIM:
                size = amounts(each["spec"]["resources"].get("requests")).get(name)
                yield Asking(size, None)
    for group in need.groups:
        if limit.type == POD:
            yield Asking(demand(group.pod).get(name), limits(group.pod).get(name))
        elif limit.type == CONTAINER:
            for each in (*(group.pod.get("initContainers") or ()), *group.pod["containers"]):
                yield _of_container(each.get("resources") or {}, name)


def _of_container(resources: Mapping[str, Any], name: str) -> Asking:
    given: Amounts = amounts(resources.get("limits"))
    return Asking({**given, **amounts(resources.get("requests"))}.get(name), given.get(name))


def _faults(limit: Limit, asking: Asking) -> Iterator[str]:
    request, given = asking
    if limit.least is not None:
        if request is None:
            yield "it has to name a request"
        elif request < limit.least or (given is not None and given < limit.least):
            yield "it is less than allowed"
    if limit.most is not None:
        # A claim has no limit, only a size.
        if given is None and limit.type != CLAIM:
            yield "it has to name a limit"
        elif max(given or _ZERO, request or _ZERO) > limit.most:
            yield "it is more than allowed"
    if limit.ratio is not None and request and given and given / request > limit.ratio:
        yield "its limit is too far above its request"


def _told(limit: Limit) -> str | None:
    told = []
    for word, amount in (
        ("at least", limit.least),
        ("default", limit.default),
        ("default request", limit.default_request),
    ):
        if amount is not None:
            told.append(f"{word} {as_amount(limit.resource, amount)}")
    if limit.ratio is not None:
        told.append(f"limit per request {as_count(limit.ratio)}")
    return ", ".join(told) or None
