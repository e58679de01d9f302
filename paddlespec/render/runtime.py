"""
What replicas are at run time: their number, names, addresses and folders.

Addresses are `<host>.<service>.$(NS).svc`, where NS is the namespace of the pod, so the rendered
bytes do not depend on the namespace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.render import ports, roles

if TYPE_CHECKING:
    from paddlespec.model import Job, NewClaim, Sidecar, Volume
    from paddlespec.render.roles import RoleName

DELIVERED = "/workspace"
LOG_FOLDER = "/tmp/paddle-log"


class Archive(NamedTuple):
    """The archive of the user's code; `requirements` is the requirements file inside it."""

    content: bytes
    digest: str
    requirements: str | None = None


class Naming(NamedTuple):
    """
    How a workload names the replicas of a job.

    In `host` and `service`, `{job}` is replaced by the name of the job, `{role}` by the role, `{one}`
    by its singular if it is one of Paddle's (trainer, pserver), and `{index}` by the index of the
    replica. `run` is the pod field that identifies the run.
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
