"""The objects of a job besides its workloads: claims, code and pod groups."""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING, Any

from paddlespec.quantity import canonical
from paddlespec.render import roles, runtime
from paddlespec.targets.metadata import metadata_of
from paddlespec.targets.sources import claim_name

if TYPE_CHECKING:
    from paddlespec.model import Job
    from paddlespec.render.runtime import Context

# The name of a template, and its values.
Piece = tuple[str, dict[str, Any]]


def beside(job: Job, context: Context) -> list[Piece]:
    """Return the objects that the pods of *job* refer to."""
    pieces: list[Piece] = []
    metadata = metadata_of(job, context)
    names = roles.names(job.spec)
    mounted = {volume.name: volume for role in names for volume in runtime.volumes(job, role)}
    for volume in mounted.values():
        if new := runtime.new_claim(volume):
            claim = {
                "access": new.access,
                "storage_class": new.storage_class,
                "size": canonical(new.size),
            }
            own = metadata(claim_name(job, volume), None)
            pieces.append(("kubernetes/claim", {"metadata": own, "claim": claim}))
    if context.code:
        name = f"{job.metadata.name}-code-{context.code.digest}"
        archive = b2a_base64(context.code.content, newline=False).decode()
        pieces.append(("kubernetes/code", {"metadata": metadata(name, None), "archive": archive}))
    if job.spec.scheduling.scheduler == "volcano":
        members = sum(runtime.replicas(job, role) for role in names)
        values = {"metadata": metadata(job.metadata.name, None), "members": members}
        pieces.append(("kubernetes/pod-group", {**values, "scheduling": job.spec.scheduling}))
    return pieces
