"""
Whether a job that is there is another one than the one that is to be.

What decides is what the spec says of the pods, by its fingerprint on the trainers' Job. Only
where there is none is the API server asked whether it could be changed in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import OperationFailed
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.wanted import (
    fingerprint_of,
    is_job,
    kueues,
    wanted,
    without_kueues,
)
from paddlespec.manifest import identity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.backend import Work
    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest


def is_changed(live: Manifest, work: Work) -> bool | None:
    """Whether the spec says other things of the pods than it did; nothing where that is unknown."""
    known = fingerprint_of(live)
    if known is None or work.fingerprint is None:
        return None
    return known != work.fingerprint


def is_stuck(client: Client, sent: Manifest, live: Manifest) -> bool:
    """
    Whether pods that are there already cannot become those of *sent*.

    A StatefulSet could take another template, but only by restarting its pods empty.
    """
    target = identity(sent)
    try:
        found = client.apply(sent, target, dry_run=True)
    except Refused as error:
        yielded = kueues(sent, error.refusal)
        if yielded:
            return is_stuck(client, without_kueues(sent, yielded), live)
        return error.refusal.is_immutable
    if is_job(sent):
        return False
    return bool(found["spec"].get("template") != live["spec"].get("template"))


def check(client: Client, manifests: Iterable[Manifest], namespace: str, mark: str) -> None:
    """
    Make sure that the cluster would take the workloads anew, before the old ones are deleted.

    They are tried under names that are free. What depends on what is there, such as a quota, is
    no reason against it.
    """
    for each in manifests:
        own = identity(each)
        name = f"{own.name[:-6]}-{mark[:5]}"
        metadata = {**each["metadata"], "name": name}
        trial = wanted({**each, "metadata": metadata}, None, namespace, None)
        try:
            client.apply(trial, identity(trial), dry_run=True)
        except Refused as error:
            if error.refusal.status in (400, 422) or error.refusal.is_users_fault:
                told = error.message.replace(f"{own.kind}/{name}", str(own))
                raise OperationFailed(told, error.hint) from None
