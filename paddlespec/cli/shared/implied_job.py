"""The job of a command that names none: that of the spec in this folder, or the only one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.options import JobPlace

if TYPE_CHECKING:
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.pipeline import Choices

SPEC = "paddlejob.yaml"
_MAX_LISTED = 8


def has_spec() -> bool:
    """Whether this folder has a spec that names the job."""
    return os.path.isfile(SPEC)


def only_job(chosen: Choices, engines: Engines) -> str:
    """The name of the only running job, or of the only finished one; raises `Stop` otherwise."""
    from paddlespec.cli.shared.output import note

    engine = engines.of_place(JobPlace(chosen.target, chosen.datacenter))
    states, _ = engine.job_states(everywhere=False, over=True)
    jobs = [job for job in states if not job.stage.is_over] or states
    names = [job.name for job in jobs]
    if len(names) == 1:
        note(f"no job given; using {names[0]}, the only one in namespace {engine.namespace}")
        return names[0]
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    hint = f"name one of {', '.join(names[:_MAX_LISTED])}{more}" if names else None
    raise Stop(Exit.usage, "no job given", hint or "name a job, or give the path of its spec")
