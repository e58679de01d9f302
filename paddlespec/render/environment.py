"""
The runtime contract: the variables that Paddle reads, by mode and role.

A value may refer only to earlier variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.quantity import quantity
from paddlespec.render import devices, heter, ports, roles, runtime

if TYPE_CHECKING:
    from paddlespec.model import Job
    from paddlespec.render.roles import RoleName
    from paddlespec.render.runtime import Context, Naming

_TRAINER_PORTS = 20
_TRAINING_ROLES = {"trainers": "TRAINER", "pservers": "PSERVER", heter.ROLE: "HETER_TRAINER"}
# The kernel limits one variable to 128 KiB (MAX_ARG_STRLEN), including its name.
LARGEST_VALUE = 131_000

MANAGED_PREFIXES = ("PADDLE_", "PADDLESPEC_")
MANAGED_NAMES = frozenset(
    (
        "NS",
        "IDX",
        "POD_IP",
        "TRAINING_ROLE",
        "TRAINER_PORTS_NUM",
        "TRAINERS",
        "PSERVERS",
        "TOPOLOGY",
        "ENTRY",
        "TRAINER_PACKAGE",
        "TRAIN_LIST",
        "NAMESPACE",
    )
)


def is_managed(name: str) -> bool:
    """Whether the runtime contract sets the variable *name*."""
    return name.startswith(MANAGED_PREFIXES) or name in MANAGED_NAMES


def of(job: Job, role: RoleName, context: Context) -> dict[str, str]:
    """Return the managed variables of a replica of *role*, in order; IDX and NS precede them."""
    variables = common(job, role, context)
    trains = role in roles.PADDLE or heter.trains(job, role)
    match job.spec.mode if trains else None:
        case "collective":
            variables |= _collective(job, role, context.naming)
        case "ps":
            variables |= _ps(job, role, context.naming)
        case "legacy":
            variables |= _legacy(job, role, context.naming)
        case _:
            pass  # independent replicas, and roles that do not train, need no variables of Paddle
    return {**variables, "PYTHONUNBUFFERED": "1"}


def common(job: Job, role: RoleName, context: Context) -> dict[str, str]:
    """Return the variables of every mode, which say what replica of what job this is."""
    variables = {
        "PADDLESPEC_JOB": job.metadata.name,
        "PADDLESPEC_ROLE": role,
        "PADDLESPEC_INDEX": "$(IDX)",
        "PADDLESPEC_COUNT": str(runtime.replicas(job, role)),
    }
    if job.spec.input:
        variables["PADDLESPEC_INPUT"] = job.spec.input
    if folder := runtime.output(job):
        variables["PADDLESPEC_OUTPUT"] = folder
    if context.datacenter:
        variables["PADDLE_CLOUD_CURRENT_DATACENTER"] = context.datacenter
    for name in roles.names(job.spec) if job.spec.roles else ():
        variables[roles.hosts_variable(name)] = ",".join(runtime.hosts(job, name, context.naming))
    return variables


def _collective(job: Job, role: RoleName, naming: Naming) -> dict[str, str]:
    """
    Return the variables of every generation of Paddle's launcher, which assigns ranks to processes.

    PADDLE_MASTER, PADDLE_NNODES and PADDLE_RANK belong to the launcher since Paddle 2.3. Its
    predecessor, still available as `paddle.distributed.fleet.launch`, reads PADDLE_TRAINERS,
    PADDLE_TRAINERS_NUM, PADDLE_TRAINER_ID, TRAINER_PORTS_NUM and PADDLE_PORT, and trains a separate
    model in each replica if one of them is missing. PADDLE_TRAINER_ENDPOINTS is not set: the newer
    launcher would take its master from there.
    """
    nodes = str(job.spec.trainers.replicas)
    variables = {
        "PADDLE_JOB_ID": job.metadata.name,
        "PADDLE_NNODES": nodes,
        "PADDLE_NPROC_PER_NODE": str(runtime.processes(job)),
        "PADDLE_RANK": "$(IDX)",
        "PADDLE_TRAINER_ID": "$(IDX)",
        "PADDLE_TRAINERS_NUM": nodes,
        "PADDLE_LOG_DIR": runtime.logs(job),
    }
    resources = job.spec.trainers.resources
    kind = devices.device(resources.accelerator) if resources.gpu else None
    if kind and kind.plugin:
        # Up to Paddle 2.6, the launcher looks for custom devices only if this is set.
        variables["PADDLE_XCCL_BACKEND"] = kind.plugin
    if not runtime.meets(job):
        return variables
    # The launcher uses POD_IP as the address of the node only if it contains a dot. The node whose
    # address equals the host of the master, as a string, serves the rendezvous.
    return {
        "POD_IP": runtime.host(job, role, "$(IDX)", naming),
        "PADDLE_MASTER": f"{runtime.host(job, role, 0, naming)}:{ports.of(job).master}",
        **variables,
        "PADDLE_TRAINERS": ",".join(runtime.hosts(job, role, naming)),
        "TRAINER_PORTS_NUM": str(max(_TRAINER_PORTS, runtime.processes(job))),
        "PADDLE_PORT": str(ports.of(job).trainer),
    }


def _ps(job: Job, role: RoleName, naming: Naming) -> dict[str, str]:
    """Return the variables of fleet, which looks up `POD_IP:PADDLE_PORT` in the list as text."""
    variables = {
        "POD_IP": runtime.host(job, role, "$(IDX)", naming),
        "PADDLE_PORT": str(ports.of(job).pserver),
        "TRAINING_ROLE": _TRAINING_ROLES[role],
        "PADDLE_TRAINERS_NUM": str(job.spec.trainers.replicas),
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(runtime.pserver_addresses(job, naming)),
        # Without gloo, barriers of fleet do nothing: a trainer may finish before another one pulls
        # its first weights, and the model then misses gradients.
        "PADDLE_WITH_GLOO": "1",
        "PADDLE_GLOO_RENDEZVOUS": "3",
        "PADDLE_GLOO_HTTP_ENDPOINT": f"{runtime.host(job, 'pservers', 0, naming)}:{ports.of(job).gloo}",
    }
    port = ports.of(job).pserver
    trainers, workers = (
        ",".join(f"{host}:{port}" for host in runtime.hosts(job, stage, naming))
        for stage in ("trainers", heter.ROLE)
    )
    if role == "trainers":
        variables["PADDLE_TRAINER_ID"] = "$(IDX)"
    if role != "pservers":
        variables["PADDLE_TRAINER_ENDPOINTS"] = trainers
    return variables | heter.variables(job, role, trainers, workers)


def _legacy(job: Job, role: RoleName, naming: Naming) -> dict[str, str]:
    """Return the variables of Paddle v1 and v2; pserver addresses have no ports."""
    spec, resources = job.spec, job.spec.trainers.resources
    dense, sparse = ports.legacy_counts(job)
    gpu = resources.gpu
    variables = {
        "PADDLE_JOB_NAME": job.metadata.name,
        "NAMESPACE": "$(NS)",
        "TRAINERS": str(spec.trainers.replicas),
        "PSERVERS": str(runtime.replicas(job, "pservers")),
        "TRAINER_PACKAGE": runtime.code_folder(job) or ".",
        "PADDLE_INIT_PORT": str(ports.of(job).pserver),
        # Threads per trainer process, not the number of trainers.
        "PADDLE_INIT_TRAINER_COUNT": str(gpu or max(1, int(quantity(resources.cpu or 1)))),
        "PADDLE_INIT_PORTS_NUM": str(dense),
        "PADDLE_INIT_PORTS_NUM_FOR_SPARSE": str(sparse),
        "PADDLE_INIT_NUM_GRADIENT_SERVERS": str(spec.trainers.replicas),
        "PADDLE_INIT_NUM_PASSES": str(spec.parameters.get("passes") or 1),
        "PADDLE_INIT_USE_GPU": "1" if gpu and role == "trainers" else "0",
        "PADDLE_INIT_PSERVERS": ",".join(runtime.hosts(job, "pservers", naming)),
    }
    if spec.legacy and spec.legacy.topology:
        variables["TOPOLOGY"] = spec.legacy.topology
    if spec.legacy and spec.legacy.train_list:
        variables["TRAIN_LIST"] = spec.legacy.train_list
    if isinstance(spec.command, str):
        variables["ENTRY"] = spec.command
    if folder := runtime.output(job):
        variables["OUTPUT"] = folder
    if role == "trainers":
        variables["PADDLE_INIT_TRAINER_ID"] = "$(IDX)"
    return variables
