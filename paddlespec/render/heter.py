"""
Heterogeneous parameter-server training: what fleet reads of two stages.

Trainers are the first stage; the replicas of the role `heter`, usually with accelerators, the
second. A stage sends its results to the next one at the endpoints that are listed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.render import devices, roles

if TYPE_CHECKING:
    from paddlespec.model import Job
    from paddlespec.render.roles import RoleName

ROLE: RoleName = "heter"
_STAGES = {"trainers": 1, ROLE: 2}


def trains(job: Job, name: RoleName) -> bool:
    """Whether the role *name* is the second stage of a job in mode ps."""
    return name == ROLE and job.spec.mode == "ps"


def variables(job: Job, name: RoleName, trainers: str, workers: str) -> dict[str, str]:
    """Return the variables of *name*; *trainers* and *workers* are the endpoints of the stages."""
    if ROLE not in job.spec.roles or job.spec.mode != "ps":
        return {}
    everyone = {"PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST": workers}
    if name not in _STAGES:
        return everyone
    counts = [roles.role(job.spec, stage).replicas for stage in _STAGES]
    return {
        **everyone,
        "STAGE_ID": str(_STAGES[name]),
        "STAGE_NUM": str(len(_STAGES)),
        "PADDLE_STAGE_TRAINERS_NUM": str(counts),
        "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST": trainers if name == ROLE else "",
        "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST": "" if name == ROLE else workers,
        "HETER_DEVICE_TYPE": _device(job, name),
    }


def _device(job: Job, name: RoleName) -> str:
    """Return cpu, gpu or xpu, which are all that fleet knows."""
    own = roles.role(job.spec, name).resources
    kind = devices.device(own.accelerator) if own.gpu else None
    return {"FLAGS_selected_gpus": "gpu", "FLAGS_selected_xpus": "xpu"}.get(
        kind.selected if kind else "", "cpu"
    )
