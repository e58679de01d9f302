"""
The runtime contract: the variables that Paddle reads, for each mode and role.

Addresses are `<host>.<service>.$(NS).svc`, where NS is the pod's own namespace, so that rendered
bytes do not depend on where they are applied. A value may only refer to variables before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from paddlespec.model import Job

RoleName = Literal["trainers", "pservers"]
ROLES: tuple[RoleName, ...] = ("trainers", "pservers")

# Outside of 35100-64000, from which Paddle's launcher draws the ports of its workers.
MASTER_PORT = 6768
PSERVER_PORT = 6174
GLOO_PORT = 6175
LEGACY_PORT = 7164
# The kernel's limit for one variable is 128 KiB (MAX_ARG_STRLEN), name included.
LARGEST_VALUE = 131_000

MANAGED_PREFIXES = ("PADDLE_", "PADDLESPEC_")
MANAGED_NAMES = frozenset(
    (
        "NS",
        "IDX",
        "POD_IP",
        "TRAINING_ROLE",
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
    """The user's code, ready to travel; `requirements` is its own file of what to install."""

    content: bytes
    digest: str
    requirements: str | None = None


class Context(NamedTuple):
    """What a plan depends on besides the job; all of it comes from files and flags."""

    datacenter: str | None = None
    project: str | None = None
    code: Archive | None = None


def is_managed(name: str) -> bool:
    """Whether the contract owns the variable *name*."""
    return name.startswith(MANAGED_PREFIXES) or name in MANAGED_NAMES


def workload_name(job: Job, role: RoleName) -> str:
    """The name of the objects of a role; hosts are called `<name>-<index>`."""
    return f"{job.metadata.name}-{role.removesuffix('s')}"


def replicas(job: Job, role: RoleName) -> int:
    """How many replicas of *role* run."""
    each = getattr(job.spec, role)
    return each.replicas if each else 0


def meets(job: Job) -> bool:
    """Whether replicas have to find each other, so that they need names."""
    spec = job.spec
    return spec.mode in ("ps", "legacy") or (
        spec.mode == "collective" and spec.trainers.replicas > 1
    )


def host(job: Job, role: RoleName, index: int | str) -> str:
    """The address of one replica, as every other replica writes it too."""
    name = workload_name(job, role)
    return f"{name}-{index}.{name}.$(NS).svc"


def hosts(job: Job, role: RoleName) -> list[str]:
    """The addresses of all replicas of *role*."""
    return [host(job, role, index) for index in range(replicas(job, role))]


def pserver_ports(job: Job) -> list[int]:
    """The ports on which every pserver listens."""
    if job.spec.mode != "legacy":
        return [PSERVER_PORT]
    dense, sparse = legacy_ports(job)
    return list(range(LEGACY_PORT, LEGACY_PORT + dense + sparse))


def legacy_ports(job: Job) -> tuple[int, int]:
    """How many dense and sparse ports a legacy pserver opens."""
    legacy = job.spec.legacy
    return (legacy.ports, legacy.sparse_ports) if legacy else (1, 1)


def pserver_addresses(job: Job) -> list[str]:
    """Every `host:port` on which pservers serve."""
    return [f"{each}:{port}" for each in hosts(job, "pservers") for port in pserver_ports(job)]


def awaited(job: Job) -> list[str]:
    """
    Every `host:port` that trainers wait for; of `host:port|port` one port is enough.

    The first pserver of fleet serves gloo's rendezvous and only then its own port: once all
    trainers have come. To wait for that port alone would be to wait for ever.
    """
    found = pserver_addresses(job)
    if job.spec.mode == "ps":
        found[0] = f"{found[0]}|{GLOO_PORT}"
    return found


def output(job: Job) -> str | None:
    """The folder for results: the spec's own, or the workspace's."""
    spec = job.spec
    if spec.output or not spec.workspace:
        return spec.output
    return f"{spec.workspace.rstrip('/')}/jobs/{job.metadata.name}/output"


def code_folder(job: Job) -> str:
    """Where the user's code is inside of a replica."""
    package = job.spec.package
    if package is None:
        return job.spec.workdir
    if package.path.startswith("/"):
        return package.path
    into = package.into.strip("/")
    return job.spec.workdir if into in (".", "") else f"{job.spec.workdir.rstrip('/')}/{into}"


def environment(job: Job, role: RoleName, context: Context) -> dict[str, str]:
    """The managed variables of one replica of *role*, in order; IDX and NS stand before them."""
    found = _own(job, role, context)
    match job.spec.mode:
        case "collective":
            found |= _collective(job, role)
        case "ps":
            found |= _ps(job, role)
        case "legacy":
            found |= _legacy(job, role)
        case "parallel":
            pass  # independent replicas: their index and count are everybody's
    return {**found, "PYTHONUNBUFFERED": "1"}


def _own(job: Job, role: RoleName, context: Context) -> dict[str, str]:
    found = {
        "PADDLESPEC_JOB": job.metadata.name,
        "PADDLESPEC_ROLE": role,
        "PADDLESPEC_INDEX": "$(IDX)",
        "PADDLESPEC_COUNT": str(replicas(job, role)),
    }
    if job.spec.input:
        found["PADDLESPEC_INPUT"] = job.spec.input
    if folder := output(job):
        found["PADDLESPEC_OUTPUT"] = folder
    if context.datacenter:
        found["PADDLE_CLOUD_CURRENT_DATACENTER"] = context.datacenter
    return found


def _collective(job: Job, role: RoleName) -> dict[str, str]:
    """
    Of paddle.distributed.launch, which assigns ranks to processes itself.

    PADDLE_TRAINER_ID and PADDLE_TRAINER_ENDPOINTS would make the launcher forget its master.
    """
    trainers = job.spec.trainers
    found = {
        "PADDLE_JOB_ID": job.metadata.name,
        "PADDLE_NNODES": str(trainers.replicas),
        "PADDLE_NPROC_PER_NODE": str(trainers.processes_per_replica),
        "PADDLE_LOG_DIR": "/tmp/paddle-log",
    }
    if not meets(job):
        return found
    # The launcher takes POD_IP for the node's address only when it contains a dot, and the node
    # whose address equals the master's host, letter by letter, serves the rendezvous.
    return {
        "POD_IP": host(job, role, "$(IDX)"),
        "PADDLE_MASTER": f"{host(job, role, 0)}:{MASTER_PORT}",
        "PADDLE_RANK": "$(IDX)",
        **found,
    }


def _ps(job: Job, role: RoleName) -> dict[str, str]:
    """Of fleet without the launcher; `POD_IP:PADDLE_PORT` stands literally in the list."""
    found = {
        "POD_IP": host(job, role, "$(IDX)"),
        "PADDLE_PORT": str(PSERVER_PORT),
        "TRAINING_ROLE": "PSERVER" if role == "pservers" else "TRAINER",
        "PADDLE_TRAINERS_NUM": str(job.spec.trainers.replicas),
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(pserver_addresses(job)),
        # Without gloo fleet's barriers do nothing: one trainer may be done before another pulls
        # its first weights, and the model then lacks the other's gradients.
        "PADDLE_WITH_GLOO": "1",
        "PADDLE_GLOO_RENDEZVOUS": "3",
        "PADDLE_GLOO_HTTP_ENDPOINT": f"{host(job, 'pservers', 0)}:{GLOO_PORT}",
    }
    if role == "trainers":
        endpoints = ",".join(f"{each}:{PSERVER_PORT}" for each in hosts(job, "trainers"))
        found |= {"PADDLE_TRAINER_ID": "$(IDX)", "PADDLE_TRAINER_ENDPOINTS": endpoints}
    return found


def _legacy(job: Job, role: RoleName) -> dict[str, str]:
    """Of Paddle v1 and v2, as the old cluster set them; addresses of pservers have no ports."""
    spec, resources = job.spec, job.spec.trainers.resources
    dense, sparse = legacy_ports(job)
    gpu = resources.gpu
    found = {
        "PADDLE_JOB_NAME": job.metadata.name,
        "NAMESPACE": "$(NS)",
        "TRAINERS": str(spec.trainers.replicas),
        "PSERVERS": str(replicas(job, "pservers")),
        "TRAINER_PACKAGE": code_folder(job),
        "PADDLE_INIT_PORT": str(LEGACY_PORT),
        # Threads of each trainer process, not the number of trainers.
        "PADDLE_INIT_TRAINER_COUNT": str(gpu or max(1, int(quantity(resources.cpu)))),
        "PADDLE_INIT_PORTS_NUM": str(dense),
        "PADDLE_INIT_PORTS_NUM_FOR_SPARSE": str(sparse),
        "PADDLE_INIT_NUM_GRADIENT_SERVERS": str(spec.trainers.replicas),
        "PADDLE_INIT_NUM_PASSES": str(spec.parameters.get("passes") or 1),
        "PADDLE_INIT_USE_GPU": "1" if gpu and role == "trainers" else "0",
        "PADDLE_INIT_PSERVERS": ",".join(hosts(job, "pservers")),
    }
    if spec.legacy and spec.legacy.topology:
        found["TOPOLOGY"] = spec.legacy.topology
    if spec.legacy and spec.legacy.train_list:
        found["TRAIN_LIST"] = spec.legacy.train_list
    if isinstance(spec.command, str):
        found["ENTRY"] = spec.command
    if folder := output(job):
        found["OUTPUT"] = folder
    if role == "trainers":
        found["PADDLE_INIT_TRAINER_ID"] = "$(IDX)"
    return found
