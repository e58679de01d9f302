"""The resources of a replica as requests and limits of its container."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

from paddlespec.quantity import as_bytes, canonical, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlespec.model import ResourceClaim, Resources

NO_LIMIT = "none"
# Names of Kubernetes, with the attributes of the spec.
NATIVE = (("cpu", "cpu"), ("memory", "memory"), ("ephemeral-storage", "ephemeral_storage"))

Json = dict[str, Any]


def resources(spec: Resources, devices: Mapping[str, int] | None = None) -> Json:
    """
    Return the resources of a container, without what the spec leaves unset.

    *devices* are those of the network, which `extended` overrides.
    """
    own = dict(_devices(spec))
    for name, count in (devices or {}).items():
        own.setdefault(name, canonical(count))
    values = {
        "requests": {**dict(_requests(spec)), **own},
        "limits": {**dict(_limits(spec)), **own},
        "claims": [
            {"name": claim.name, **({"request": claim.request} if claim.request else {})}
            for claim in spec.claims
        ],
    }
    return {key: value for key, value in values.items() if value}


def claim(spec: ResourceClaim) -> Json:
    """Return the entry of a claim in the pod."""
    if spec.template:
        return {"name": spec.name, "resourceClaimTemplateName": spec.template}
    return {"name": spec.name, "resourceClaimName": spec.claim}


def limit(spec: Resources, attribute: str) -> str | float | None:
    """Return the limit of a native resource: its own, or else the request."""
    own: str | float | None = getattr(spec.limits, attribute)
    if own is None:
        request: str | float | None = getattr(spec, attribute)
        return request
    return None if own == NO_LIMIT else own


def request(spec: Resources, attribute: str) -> str | float | None:
    """Return the request of a native resource; the API server takes the limit if there is none."""
    own: str | float | None = getattr(spec, attribute)
    return limit(spec, attribute) if own is None else own


def shared_memory(spec: Resources) -> str | None:
    """
    Return the size of /dev/shm, by default half of the memory, which includes it.

    None without memory: the size is then that of the memory of the node.
    """
    if spec.shared_memory is not None:
        return canonical(spec.shared_memory)
    memory = limit(spec, "memory")
    if memory is None:
        memory = request(spec, "memory")
    if memory is None:
        return None
    return canonical(as_bytes((quantity(memory) / 2).to_integral_value(ROUND_FLOOR)))


def _requests(spec: Resources) -> Iterator[tuple[str, str]]:
    for name, attribute in NATIVE:
        amount = request(spec, attribute)
        if amount is not None:
            yield name, canonical(amount)


def _limits(spec: Resources) -> Iterator[tuple[str, str]]:
    for name, attribute in NATIVE:
        amount = limit(spec, attribute)
        if amount is not None:
            yield name, canonical(amount)


def _devices(spec: Resources) -> Iterator[tuple[str, str]]:
    """Yield resources whose limit Kubernetes requires to equal the request."""
    if spec.gpu:
        yield spec.accelerator, canonical(spec.gpu)
    for name, amount in spec.extended.items():
        if quantity(amount) != Decimal(0):
            yield name, canonical(amount)
