"""
The runtime contract: the variables that Paddle reads, by mode and role.

Addresses are `<host>.<service>.$(NS).svc`, where NS is the namespace of the pod, so the rendered
bytes do not depend on the namespace. A value may refer only to earlier variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.quantity import quantity
from paddlespec.render import devices, heter, ports, roles

if TYPE_CHECKING:
    from paddlespec.model import Job, NewClaim, Sidecar, Volume
    from paddlespec.render.roles import RoleName

_TRAINER_PORTS = 20
_TRAINING_ROLES = {"trainers": "TRAINER", "pservers": "PSERVER", heter.ROLE: "HETER_TRAINER"}
DELIVERED = "/workspace"
LOG_FOLDER = "/tmp/paddle-log"
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


class Archive(NamedTuple):
    """The archive of the user's code; `requirements` is the requirements file inside it."""

    content: bytes
    digest: str
    requirements: str | None = None


class Naming(NamedTuple):
    """
    How a workload names the replicas of a job.

    In `host` and `service`, `{job}` is replaced by the name of the job, `{role}` by the role, `{one}`
    by its singular if it is one of Paddle's (trainer, pserver), and `{index}` by the index of the replica. `run` is the pod
    field that identifies the run.
    """

    host: str
    service: str
    run: str

    def host_of(self, job: Job, role: RoleName, index: int | str) -> str:
        """Return the host name of one replica."""
        return self.host.format(**_placeholders(job, role), index=index)

    def service_of(self, job: Job, role: RoleName) -> str:
        """Return the name of the Service that contains the hosts of *role*."""
        return self.service.format(**_placeholders(job, role))


# Every role has its own object and Service.
PER_ROLE = Naming(
    host="{job}-{one}-{index}",
    service="{job}-{one}",
    run="metadata.labels['batch.kubernetes.io/controller-uid']",
)


class Context(NamedTuple):
    """The input of rendering apart from the job: files, options, and how hosts are named."""

    datacenter: str | None = None
    project: str | None = None
    code: Archive | None = None
    naming: Naming = PER_ROLE


def is_managed(name: str) -> bool:
    """Whether the runtime contract sets the variable *name*."""
    return name.startswith(MANAGED_PREFIXES) or name in MANAGED_NAMES


def workload_name(job: Job, role: RoleName) -> str:
    """Return the name of the objects of a role, if every role has its own."""
    return f"{job.metadata.name}-{roles.singular(role)}"


def replicas(job: Job, role: RoleName) -> int:
    """Return the number of replicas of *role*."""
    declared = roles.declared(job.spec, role)
    return declared.replicas if declared else 0


def processes(job: Job) -> int:
    """Return the training processes per replica; Paddle's launcher starts one per accelerator."""
    trainers = job.spec.trainers
    if trainers.processes_per_replica is not None:
        return trainers.processes_per_replica
    return trainers.resources.gpu or 1 if job.spec.mode == "collective" else 1


def volumes(job: Job, role: RoleName) -> list[Volume]:
    """Return the volumes of *role*: those of the spec, then its own."""
    declared = roles.declared(job.spec, role)
    return [*job.spec.volumes, *(declared.volumes if declared else ())]


def sidecars(job: Job, role: RoleName) -> list[Sidecar]:
    """Return the sidecars of *role*: those of the spec, then its own."""
    declared = roles.declared(job.spec, role)
    return [*job.spec.sidecars, *(declared.sidecars if declared else ())]


def new_claim(volume: Volume) -> NewClaim | None:
    """Return the claim of *volume* that is created with the job, if there is one."""
    return None if isinstance(volume.claim, str) else volume.claim


def meets(job: Job) -> bool:
    """Whether replicas train together, so that none can be restarted alone."""
    spec = job.spec
    return spec.mode in ("ps", "legacy") or (
        spec.mode == "collective" and spec.trainers.replicas > 1
    )


def has_hosts(job: Job) -> bool:
    """Whether replicas communicate with each other and therefore need host names."""
    return meets(job) or bool(job.spec.roles)


def host(job: Job, role: RoleName, index: int | str, naming: Naming = PER_ROLE) -> str:
    """Return the address of one replica, which is the same in all replicas."""
    return f"{naming.host_of(job, role, index)}.{naming.service_of(job, role)}.$(NS).svc"


def hosts(job: Job, role: RoleName, naming: Naming = PER_ROLE) -> list[str]:
    """Return the addresses of all replicas of *role*."""
    return [host(job, role, index, naming) for index in range(replicas(job, role))]


def _placeholders(job: Job, role: RoleName) -> dict[str, str]:
    return {"job": job.metadata.name, "role": role, "one": roles.singular(role)}


def reserved_ports(job: Job, role: RoleName) -> dict[str, int]:
    """Return the ports that the contract reserves in the replicas of *role*, by name."""
    return ports.reserved(job, role, meets=meets(job))


def pserver_addresses(job: Job, naming: Naming = PER_ROLE) -> list[str]:
    """Return `host:port` of all ports of all pservers."""
    return [
        f"{pserver}:{port}"
        for pserver in hosts(job, "pservers", naming)
        for port in ports.of_pserver(job)
    ]


def awaited(job: Job, naming: Naming = PER_ROLE) -> list[str]:
    """
    Return every `host:port` that trainers wait for; for `host:port|port`, either port suffices.

    The first pserver of fleet opens gloo's rendezvous, and its own port only when all trainers have
    joined. Trainers that waited for its own port alone would never join.
    """
    addresses = pserver_addresses(job, naming)
    if job.spec.mode == "ps":
        addresses[0] = f"{addresses[0]}|{ports.of(job).gloo}"
    return addresses


def output(job: Job) -> str | None:
    """Return the folder for results: `output`, or the one in the workspace."""
    spec = job.spec
    if spec.output or not spec.workspace:
        return spec.output
    return f"{spec.workspace.rstrip('/')}/jobs/{job.metadata.name}/output"


def logs(job: Job) -> str:
    """Return the folder for the logs of the launcher; on a volume, every replica has its own."""
    folder = job.spec.logs
    return f"{folder.rstrip('/')}/$(IDX)" if folder else LOG_FOLDER


def workdir(job: Job) -> str | None:
    """Return where the command starts, or None for the working directory of the image."""
    package = job.spec.package
    if job.spec.workdir or package is None:
        return job.spec.workdir
    return package.path if package.path.startswith("/") else DELIVERED


def delivered_to(job: Job) -> str:
    """Return the folder that receives a delivered package."""
    return job.spec.workdir or DELIVERED


def code_folder(job: Job) -> str | None:
    """Return the folder of the user's code in a replica, or None if only the image knows it."""
    package = job.spec.package
    if package is None:
        return job.spec.workdir
    if package.path.startswith("/"):
        return package.path
    folder, into = delivered_to(job), package.into.strip("/")
    return folder if into in (".", "") else f"{folder.rstrip('/')}/{into}"


def environment(job: Job, role: RoleName, context: Context) -> dict[str, str]:
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
        "PADDLESPEC_COUNT": str(replicas(job, role)),
    }
    if job.spec.input:
        variables["PADDLESPEC_INPUT"] = job.spec.input
    if folder := output(job):
        variables["PADDLESPEC_OUTPUT"] = folder
    if context.datacenter:
        variables["PADDLE_CLOUD_CURRENT_DATACENTER"] = context.datacenter
    for name in roles.names(job.spec) if job.spec.roles else ():
        variables[roles.hosts_variable(name)] = ",".join(hosts(job, name, context.naming))
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
        "PADDLE_NPROC_PER_NODE": str(processes(job)),
        "PADDLE_RANK": "$(IDX)",
        "PADDLE_TRAINER_ID": "$(IDX)",
        "PADDLE_TRAINERS_NUM": nodes,
        "PADDLE_LOG_DIR": logs(job),
    }
    resources = job.spec.trainers.resources
    kind = devices.device(resources.accelerator) if resources.gpu else None
    if kind and kind.plugin:
        # Up to Paddle 2.6, the launcher looks for custom devices only if this is set.
        variables["PADDLE_XCCL_BACKEND"] = kind.plugin
    if not meets(job):
        return variables
    # The launcher uses POD_IP as the address of the node only if it contains a dot. The node whose
    # address equals the host of the master, as a string, serves the rendezvous.
    return {
        "POD_IP": host(job, role, "$(IDX)", naming),
        "PADDLE_MASTER": f"{host(job, role, 0, naming)}:{ports.of(job).master}",
        **variables,
        "PADDLE_TRAINERS": ",".join(hosts(job, role, naming)),
        "TRAINER_PORTS_NUM": str(max(_TRAINER_PORTS, processes(job))),
        "PADDLE_PORT": str(ports.of(job).trainer),
    }


def _ps(job: Job, role: RoleName, naming: Naming) -> dict[str, str]:
    """Return the variables of fleet, which looks up `POD_IP:PADDLE_PORT` in the list as text."""
    variables = {
        "POD_IP": host(job, role, "$(IDX)", naming),
        "PADDLE_PORT": str(ports.of(job).pserver),
        "TRAINING_ROLE": _TRAINING_ROLES[role],
        "PADDLE_TRAINERS_NUM": str(job.spec.trainers.replicas),
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(pserver_addresses(job, naming)),
        # Without gloo, barriers of fleet do nothing: a trainer may finish before another one pulls
        # its first weights, and the model then misses gradients.
        "PADDLE_WITH_GLOO": "1",
        "PADDLE_GLOO_RENDEZVOUS": "3",
        "PADDLE_GLOO_HTTP_ENDPOINT": f"{host(job, 'pservers', 0, naming)}:{ports.of(job).gloo}",
    }
    port = ports.of(job).pserver
    trainers, workers = (
        ",".join(f"{host}:{port}" for host in hosts(job, stage, naming))
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
        "PSERVERS": str(replicas(job, "pservers")),
        "TRAINER_PACKAGE": code_folder(job) or ".",
        "PADDLE_INIT_PORT": str(ports.of(job).pserver),
        # Threads per trainer process, not the number of trainers.
        "PADDLE_INIT_TRAINER_COUNT": str(gpu or max(1, int(quantity(resources.cpu or 1)))),
        "PADDLE_INIT_PORTS_NUM": str(dense),
        "PADDLE_INIT_PORTS_NUM_FOR_SPARSE": str(sparse),
        "PADDLE_INIT_NUM_GRADIENT_SERVERS": str(spec.trainers.replicas),
        "PADDLE_INIT_NUM_PASSES": str(spec.parameters.get("passes") or 1),
        "PADDLE_INIT_USE_GPU": "1" if gpu and role == "trainers" else "0",
        "PADDLE_INIT_PSERVERS": ",".join(hosts(job, "pservers", naming)),
    }
    if spec.legacy and spec.legacy.topology:
        variables["TOPOLOGY"] = spec.legacy.topology
    if spec.legacy and spec.legacy.train_list:
        variables["TRAIN_LIST"] = spec.legacy.train_list
    if isinstance(spec.command, str):
        variables["ENTRY"] = spec.command
    if folder := output(job):
        variables["OUTPUT"] = folder
    if role == "trainers":
        variables["PADDLE_INIT_TRAINER_ID"] = "$(IDX)"
    return variables
