"""
The target `local`: every replica is a process of this machine, with the variables of its pod.

Addresses and folders of this machine replace hosts and mounts when the job starts; see
`paddlespec.backends.local.prepare`. Images, nodes and queues do not affect the program, so a
rehearsal ignores them.
"""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads
from paddlespec.quantity import seconds
from paddlespec.render import roles, runtime
from paddlespec.render.resources import resources
from paddlespec.targets.metadata import metadata_of
from paddlespec.targets.pods import Replica
from paddlespec.targets.process_env import check_variables, process_env
from paddlespec.targets.program import program
from paddlespec.targets.sources import source
from paddlespec.workloads.order import in_apply_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Job, Resources
    from paddlespec.render.manifest import Manifest
    from paddlespec.render.roles import RoleName
    from paddlespec.render.runtime import Context
    from paddlespec.render.template import Templates

backend = "local"
naming = runtime.PER_ROLE

API_VERSION = "paddlespec.io/v1"
# The launcher waits 30 seconds between SIGTERM and SIGKILL to its processes.
GRACE_SECONDS = 60
_KEEP = "7d"
# Only the first replica listens on these ports.
_PORTS_OF_FIRST = ("master", "gloo")

Values = dict[str, Any]


class Plan(NamedTuple):
    """The job as a whole, and its replicas."""

    rehearsal: Manifest
    processes: list[Manifest]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Report programs and restarts that processes without an image do not support."""
    spec, document = facts.job.spec, facts.document
    yield from check_variables(facts)
    if spec.mode == "legacy":
        yield from _image_programs(facts)
    for role in roles.names(spec):
        if spec.mode == "legacy" and role in roles.PADDLE:
            continue
        path = roles.path(role)
        if not any(document.at(place) for place in ((*path, "command"), _COMMAND)):
            who = roles.clause(role, "use")
            message = f"{who} the command of the image, but target local has no image"
            places = ((*path, "args"), ("spec", "args"))
            given = next((place for place in places if document.at(place)), _COMMAND)
            yield facts.error("unsupported", message, given, "add `command`", key=True)
    if spec.pservers and workloads.restarts(spec.pservers.workload):
        message = "target local does not restart a lost pserver: it fails the run"
        yield facts.warning("unsupported", message, ("spec", "pservers", "workload"))
    for path in (
        ("spec", "sidecars"),
        *((*roles.path(name), "sidecars") for name in roles.names(spec)),
    ):
        if document.at(path):
            message = "target local runs no sidecars"
            yield facts.warning("unsupported", message, path, key=True)


_COMMAND = ("spec", "command")


def _image_programs(facts: Facts) -> Iterator[Diagnostic]:
    """The programs of Paddle v1 and v2 exist only in their images."""
    spec = facts.job.spec
    hint = "add a `command` that replaces it in the rehearsal"
    if spec.pservers and not spec.pservers.command:
        message = "pservers run `paddle pserver` of the image, but target local has no image"
        yield facts.error("unsupported", message, ("spec", "pservers"), hint, key=True)
    if spec.legacy and spec.legacy.topology and not spec.trainers.command:
        message = "topologies run `paddle train` of the image, but target local has no image"
        yield facts.error("unsupported", message, ("spec", "legacy", "topology"), hint)


def keep_seconds(job: Job) -> int:
    """Return how long to keep the folder of a finished run."""
    return seconds(job.spec.policy.keep_finished or _KEEP)


def plan(job: Job, context: Context) -> Plan:
    """Compute the objects of the rehearsal."""
    metadata = metadata_of(job, context)
    rehearsal = _object("Rehearsal", metadata(job.metadata.name, None), _rehearsal(job, context))
    processes = []
    for name in roles.names(job.spec):
        replica = Replica(job, name, context)
        workload = runtime.workload_name(job, name)
        processes += [
            _object("Process", metadata(f"{workload}-{index}", name), _process(replica, index))
            for index in range(replica.role.replicas)
        ]
    return Plan(rehearsal, processes)


def render(job: Job, context: Context, templates: Templates) -> list[Manifest]:  # noqa: ARG001
    """Return the rehearsal and its processes, which need no templates."""
    planned = plan(job, context)
    return in_apply_order([planned.rehearsal, *planned.processes])


def _object(kind: str, metadata: Values, spec: Values) -> Manifest:
    fields = {key: value for key, value in spec.items() if value not in (None, [], {})}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": fields}


def _rehearsal(job: Job, context: Context) -> Values:
    """Return the settings of the whole rehearsal, with durations in seconds."""
    policy = job.spec.policy
    output = runtime.output(job)
    return {
        "mode": job.spec.mode,
        "meets": runtime.meets(job),
        "timeout": seconds(policy.timeout) if policy.timeout else None,
        "retries": policy.retries,
        "keepFinished": keep_seconds(job),
        "grace": GRACE_SECONDS,
        "output": output,
        "outputPolicy": job.spec.output_policy if output else None,
        "code": _code(job, context),
    }


def _code(job: Job, context: Context) -> Values | None:
    """Return the user's code and its requirements."""
    package, archive = job.spec.package, context.code
    if package is None:
        return None
    code: Values = {
        "folder": runtime.code_folder(job),
        "python": package.python,
        "requirements": archive.requirements if archive else package.requirements,
        "pip": package.pip,
    }
    if archive:
        content = b2a_base64(archive.content, newline=False).decode()
        code |= {"digest": archive.digest, "binaryData": {"code.tar": content}}
    return {key: value for key, value in code.items() if value not in (None, [])}


def _process(replica: Replica, index: int) -> Values:
    job, name = replica.job, replica.name
    waits = name == "trainers" and job.spec.pservers and job.spec.mode != "parallel"
    ports = {
        key: port
        for key, port in replica.ports().items()
        if not index or key not in _PORTS_OF_FIRST
    }
    return {
        "index": index,
        "host": runtime.host(job, name, index) if runtime.has_hosts(job) else None,
        "image": replica.image,
        "command": program(job, name, replica.context.code, installs=False),
        # There is no image with a folder of its own.
        "workdir": runtime.workdir(job) or runtime.DELIVERED,
        "env": process_env(replica),
        "ports": ports,
        "waitsFor": runtime.awaited(job) if waits else None,
        "resources": _resources(replica.role.resources),
        "mounts": [*_mounts(replica), *_identity(job, name, index)],
    }


def _resources(spec: Resources) -> Values:
    """Return what a process can be held to; a machine without a cluster has no claims."""
    return {key: value for key, value in resources(spec).items() if key != "claims"}


def _mounts(replica: Replica) -> list[Values]:
    """Return the volumes of the replica with their mount paths and sources."""
    return [
        {
            "name": volume.name,
            "mountPath": volume.mount_path,
            **({"subPath": volume.sub_path} if volume.sub_path else {}),
            **({"readOnly": True} if volume.read_only else {}),
            **source(replica.job, volume),
        }
        for volume in replica.own_volumes
    ]


def _identity(job: Job, role: RoleName, index: int) -> list[Values]:
    """Return the files from which programs of Paddle v1 read their index and count."""
    if job.spec.mode != "legacy" or role != "trainers":
        return []
    contents = {"trainer_id": index, "trainer_count": runtime.replicas(job, "trainers")}
    return [
        {
            "name": f"paddlespec-{key.replace('_', '-')}",
            "mountPath": f"/{key}",
            "text": f"{content}\n",
        }
        for key, content in contents.items()
    ]
