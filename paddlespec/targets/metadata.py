"""The names, labels and annotations of the objects of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.render.manifest import JOB_LABEL, ROLE_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.model import Job
    from paddlespec.render.runtime import Context


def metadata_of(job: Job, context: Context) -> Callable[[str, str | None], dict[str, Any]]:
    """Return a function from the name and role of an object to its metadata."""
    name = job.metadata.name
    labels = {
        **job.metadata.labels,
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/managed-by": "paddlespec",
        **({"app.kubernetes.io/part-of": context.project} if context.project else {}),
        JOB_LABEL: name,
    }

    def metadata(object_name: str, role: str | None) -> dict[str, Any]:
        return {
            "name": object_name,
            **({"namespace": job.metadata.namespace} if job.metadata.namespace else {}),
            "labels": {**labels, **({ROLE_LABEL: role} if role else {})},
            **({"annotations": job.metadata.annotations} if job.metadata.annotations else {}),
        }

    return metadata
