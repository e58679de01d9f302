"""Check whether a cluster accepts the workloads of a new run before the earlier one is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.change.desired import desired_object
from paddlespec.render.manifest import identity
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest


def check(client: Client, manifests: Iterable[Manifest], namespace: str, mark: str) -> None:
    """
    Raise `OperationFailed` if the cluster would not accept the workloads.

    They are dry-run under unused names. Limits that depend on existing objects, such as quotas, are
    ignored, because the earlier run makes room.
    """
    for manifest in manifests:
        own = identity(manifest)
        name = f"{own.name[:-6] or own.name[:1]}-{mark[:5]}"
        metadata = {**manifest["metadata"], "name": name}
        trial = desired_object({**manifest, "metadata": metadata}, None, namespace, None)
        try:
            client.apply(trial, identity(trial), dry_run=True)
        except Refused as error:
            if error.refusal.status in (400, 422) or error.refusal.is_users_fault:
                message = error.message.replace(f"{own.kind}/{name}", str(own))
                raise OperationFailed(message, error.hint) from None
