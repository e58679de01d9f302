"""How the objects of a job are called and labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.manifest import JOB_LABEL, ROLE_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.contract import Context
    from paddlespec.model import Job


def metadata_of(job: Job, context: Context) -> Callable[[str, str | None], dict[str, Any]]:
    """What gives each object of *job* its metadata, by its name and the role that it runs."""
    name = job.metadata.name
    labels = {
        **job.metadata.labels,
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/managed-by": "paddlespec",
        **({"app.kubernetes.io/part-of": context.project} if context.project else {}),
        JOB_LABEL: name,
    }

    def metadata(own: str, role: str | None) -> dict[str, Any]:
        return {
            "name": own,
            **({"namespace": job.metadata.namespace} if job.metadata.namespace else {}),
            "labels": {**labels, **({ROLE_LABEL: role} if role else {})},
            **({"annotations": job.metadata.annotations} if job.metadata.annotations else {}),
        }

    return metadata
