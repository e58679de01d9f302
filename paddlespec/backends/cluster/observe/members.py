"""
Read the objects of jobs by kind, in one round of requests.

Some clusters lack some kinds that run pods, and some users may not read kinds of extensions.
Neither is an error unless a job is known to have such objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec import workloads
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.change.applyset import kinds_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest

    Kind = tuple[str, str]

POD: Kind = ("v1", "Pod")
INVENTORY: Kind = ("v1", "ConfigMap")


class Members(NamedTuple):
    """Live objects by kind, and the kinds of extensions that the user may not read."""

    objects: dict[Kind, list[Manifest]]
    refused: dict[Kind, Refused]

    @property
    def workloads(self) -> list[Manifest]:
        """The objects that run pods, and those that their controllers created."""
        return [live for kind in workload_kinds() for live in self.objects.get(kind, ())]

    def check(self, inventory: Manifest | None) -> None:
        """Raise `Refused` if the job of *inventory* has objects of a kind that may not be read."""
        for kind in kinds_of(inventory) & self.refused.keys():
            raise self.refused[kind]


def workload_kinds() -> list[Kind]:
    """List every kind that runs pods."""
    return [workload.KIND.type for workload in reversed(workloads.every())]


def find(
    client: Client, namespace: str, selector: str, also: Sequence[tuple[Kind, str]] = ()
) -> Members:
    """Return the workloads that match *selector*, and kinds in *also* by their own selectors."""
    asked = [*((kind, selector) for kind in workload_kinds()), *also]
    extensions = {known.KIND.type for known in workloads.every() if not known.KIND.is_built_in}

    def answer(ask: tuple[Kind, str]) -> list[Manifest] | Refused:
        kind, own = ask
        try:
            return client.find(*kind, namespace, own)
        except Refused as error:
            if kind not in extensions or error.refusal.status not in (403, 404):
                raise
            return [] if error.refusal.status == 404 else error

    objects, refused = {}, {}
    for (kind, _), result in zip(asked, client.each(answer, asked), strict=True):
        if isinstance(result, Refused):
            refused[kind] = result
        else:
            objects[kind] = result
    return Members(objects, refused)
