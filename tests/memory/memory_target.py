"""The target `memory`: one pretended process for each replica, for a backend that keeps them in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.render.runtime import PER_ROLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Job
    from paddlespec.render.manifest import Manifest
    from paddlespec.render.runtime import Context
    from paddlespec.render.template import Templates

backend = "memory"
naming = PER_ROLE


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Accept every job."""
    yield from ()


def render(job: Job, context: Context, templates: Templates) -> list[Manifest]:
    """One object for each trainer."""
    return [
        {
            "apiVersion": "memory.test/v1",
            "kind": "Pretended",
            "metadata": {"name": f"{job.metadata.name}-{index}"},
            "spec": {"command": job.spec.command},
        }
        for index in range(job.spec.trainers.replicas)
    ]
