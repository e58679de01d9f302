"""
Limit ranges: the size limits of containers, pods and claims, and their defaults.

See "Limit Ranges" in the Kubernetes documentation.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.capacity.demand import amounts, demand, limits
from paddlespec.capacity.line import Line
from paddlespec.quantity import as_amount, as_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlespec.capacity.demand import Amounts
    from paddlespec.capacity.need import Need

CONTAINER, POD, CLAIM = "Container", "Pod", "PersistentVolumeClaim"
_ZERO = Decimal(0)


class Limit(NamedTuple):
    """The rule of a limit range for one resource of a Container, Pod or PersistentVolumeClaim."""

    namespace: str
    name: str
    type: str
    resource: str
    least: Decimal | None = None
    most: Decimal | None = None
    default: Decimal | None = None
    default_request: Decimal | None = None
    ratio: Decimal | None = None


class Request(NamedTuple):
    """The request and the limit of one container, pod or claim for a resource."""

    request: Decimal | None
    limit: Decimal | None


def line(limit: Limit) -> Line:
    """Return the line of *limit*: `hard` is the maximum, and nothing is used up."""
    return Line(
        "limits",
        f"{limit.name}/{limit.type}",
        limit.resource,
        hard=limit.most,
        reason=_described(limit),
        namespace=limit.namespace,
    )


def line_with_need(limit: Limit, need: Need) -> Line:
    """Return the line of *limit* with the largest request of *need*, and its violations."""
    requests = list(_requests(limit, need))
    largest = max((one.limit or one.request or _ZERO for one in requests), default=_ZERO)
    faults = list(dict.fromkeys(fault for one in requests for fault in _faults(limit, one)))
    short = max(_ZERO, largest - limit.most) if limit.most is not None else _ZERO
    own_line = line(limit)._replace(need=largest, short=short, fits=not faults)
    return own_line._replace(reason=", ".join(faults)) if faults else own_line


def defaulted(pod: Mapping[str, Any], limits: Sequence[Limit]) -> dict[str, Any]:
    """Return *pod* with the defaults of the limit ranges, as the API server admits it."""
    own = [limit for limit in limits if limit.type == CONTAINER]
    filled = dict(pod)
    for key in ("containers", "initContainers"):
        if pod.get(key):
            filled[key] = [
                {**container, "resources": _filled(container.get("resources") or {}, own)}
                for container in pod[key]
            ]
    return filled


def _filled(resources: Mapping[str, Any], listed: Iterable[Limit]) -> dict[str, Any]:
    given = dict(resources.get("limits") or {})
    asked = dict(resources.get("requests") or {})
    for limit in listed:
        if limit.resource in given:
            asked.setdefault(limit.resource, given[limit.resource])
        if limit.default is not None:
            given.setdefault(limit.resource, str(limit.default))
        if limit.default_request is not None:
            asked.setdefault(limit.resource, str(limit.default_request))
    return {"limits": given, "requests": asked}


def _requests(limit: Limit, need: Need) -> Iterator[Request]:
    name = limit.resource
    if limit.type == CLAIM:
        for item in need.objects:
            if item["kind"] == CLAIM:
                size = amounts(item["spec"]["resources"].get("requests")).get(name)
                yield Request(size, None)
    for group in need.groups:
        if limit.type == POD:
            yield Request(demand(group.pod).get(name), limits(group.pod).get(name))
        elif limit.type == CONTAINER:
            for container in (*(group.pod.get("initContainers") or ()), *group.pod["containers"]):
                yield _of_container(container.get("resources") or {}, name)


def _of_container(resources: Mapping[str, Any], name: str) -> Request:
    given: Amounts = amounts(resources.get("limits"))
    return Request({**given, **amounts(resources.get("requests"))}.get(name), given.get(name))


def _faults(limit: Limit, one: Request) -> Iterator[str]:
    request, given = one
    if limit.least is not None:
        if request is None:
            yield "must set a request"
        elif request < limit.least or (given is not None and given < limit.least):
            yield "below the minimum"
    if limit.most is not None:
        # A claim has a size but no limit.
        if given is None and limit.type != CLAIM:
            yield "must set a limit"
        elif max(given or _ZERO, request or _ZERO) > limit.most:
            yield "above the maximum"
    if limit.ratio is not None and request and given and given / request > limit.ratio:
        yield "ratio of limit to request too high"


def _described(limit: Limit) -> str | None:
    parts = []
    for word, amount in (
        ("minimum", limit.least),
        ("default", limit.default),
        ("default request", limit.default_request),
    ):
        if amount is not None:
            parts.append(f"{word} {as_amount(limit.resource, amount)}")
    if limit.ratio is not None:
        parts.append(f"maximum ratio of limit to request {as_count(limit.ratio)}")
    return ", ".join(parts) or None
