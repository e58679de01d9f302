"""
The target `local`: every replica a process of this machine, with the variables of its pod.

What only starting it can know is left out: addresses of this machine stand where hosts do, and its
folders where mounts do; see `paddlespec.local.prepare`. Images, nodes and queues place pods and say
nothing about the program: a rehearsal has none of them.
"""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import contract
from paddlespec.contract import ROLES
from paddlespec.manifest import in_apply_order
from paddlespec.quantity import seconds
from paddlespec.targets.metadata import metadata_of
from paddlespec.targets.pods import Replica, resources
from paddlespec.targets.program import program
from paddlespec.targets.sources import source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.contract import Context, RoleName
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.manifest import Manifest
    from paddlespec.model import Job
    from paddlespec.template import Templates

API_VERSION = "paddlespec.io/v1"
# The launcher gives its processes 30 seconds between TERM and KILL.
GRACE_SECONDS = 60
_KEEP = "7d"
# Of these only the first replica is a server.
_OF_THE_FIRST = ("master", "gloo")

Values = dict[str, Any]


class Plan(NamedTuple):
    """The job as a whole, and its replicas one by one."""

    rehearsal: Manifest
    processes: list[Manifest]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """What processes without an image cannot be."""
    spec, document = facts.job.spec, facts.document
    if spec.mode == "legacy":
        yield from _programs_of_the_image(facts)
    else:
        for role in ROLES:
            if document.at(("spec", role)) is None and role != "trainers":
                continue
            if not any(document.at(path) for path in (("spec", role, "command"), _COMMAND)):
                message = f"{role} run the image's own command, and here is no image"
                yield facts.error("unsupported", message, _COMMAND, "add `command`")
    if spec.pservers and spec.pservers.workload == "StatefulSet":
        message = "here nothing restarts a lost pserver: it fails the run"
        yield facts.warning("unsupported", message, ("spec", "pservers", "workload"))


_COMMAND = ("spec", "command")


def _programs_of_the_image(facts: Facts) -> Iterator[Diagnostic]:
    """Paddle v1 and v2 bring programs of their own, which exist in their images alone."""
    spec = facts.job.spec
    hint = "rehearse with a `command` of your own, such as one that stands in for it"
    if spec.pservers and not spec.pservers.command:
        message = "pservers of mode legacy run `paddle pserver` of the image, and here is no image"
        yield facts.error("unsupported", message, ("spec", "pservers"), hint, key=True)
    if spec.legacy and spec.legacy.topology and not spec.trainers.command:
        message = "a topology is run by `paddle train` of the image, and here is no image"
        yield facts.error("unsupported", message, ("spec", "legacy", "topology"), hint)


def keep_seconds(job: Job) -> int:
    """How long the folder of a finished run stays."""
    return seconds(job.spec.policy.keep_finished or _KEEP)


def plan(job: Job, context: Context) -> Plan:
    """Decide what runs."""
    metadata = metadata_of(job, context)
    rehearsal = _object("Rehearsal", metadata(job.metadata.name, None), _rehearsal(job, context))
    processes = []
    for name in ROLES:
        if getattr(job.spec, name):
            replica = Replica(job, name, context)
            own = contract.workload_name(job, name)
            processes += [
                _object("Process", metadata(f"{own}-{index}", name), _process(replica, index))
                for index in range(replica.role.replicas)
            ]
    return Plan(rehearsal, processes)


def render(job: Job, context: Context, templates: Templates) -> list[Manifest]:  # noqa: ARG001
    """The rehearsal and its processes; nothing of them is text, so there are no templates."""
    planned = plan(job, context)
    return in_apply_order([planned.rehearsal, *planned.processes])


def _object(kind: str, metadata: Values, spec: Values) -> Manifest:
    said = {key: value for key, value in spec.items() if value not in (None, [], {})}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": said}


def _rehearsal(job: Job, context: Context) -> Values:
    """What holds for all processes together; durations in seconds."""
    policy = job.spec.policy
    output = contract.output(job)
    return {
        "mode": job.spec.mode,
        "meets": contract.meets(job),
        "timeout": seconds(policy.timeout) if policy.timeout else None,
        "retries": policy.retries,
        "keepFinished": keep_seconds(job),
        "grace": GRACE_SECONDS,
        "output": output,
        "outputPolicy": job.spec.output_policy if output else None,
        "code": _code(job, context),
    }


def _code(job: Job, context: Context) -> Values | None:
    """The user's code, and what it needs to be installed."""
    package, archive = job.spec.package, context.code
    if package is None:
        return None
    found: Values = {
        "folder": contract.code_folder(job),
        "python": package.python,
        "requirements": archive.requirements if archive else package.requirements,
        "pip": package.pip,
    }
    if archive:
        content = b2a_base64(archive.content, newline=False).decode()
        found |= {"digest": archive.digest, "binaryData": {"code.tar": content}}
    return {key: value for key, value in found.items() if value not in (None, [])}


def _process(replica: Replica, index: int) -> Values:
    job, name = replica.job, replica.name
    meets = contract.meets(job)
    waits = name == "trainers" and job.spec.pservers and job.spec.mode != "parallel"
    ports = {
        key: port for key, port in replica.ports().items() if not index or key not in _OF_THE_FIRST
    }
    return {
        "index": index,
        "host": contract.host(job, name, index) if meets else None,
        "command": program(job, name, replica.context.code, installs=False),
        "workdir": job.spec.workdir,
        "env": replica.env(),
        "ports": ports,
        "waitsFor": contract.awaited(job) if waits else None,
        "resources": resources(replica.role.resources)["requests"],
        "mounts": [*_mounts(job), *_identity(job, name, index)],
    }


def _mounts(job: Job) -> list[Values]:
    """The user's volumes, each with its place and its source."""
    return [
        {
            "name": each.name,
            "mountPath": each.mount_path,
            **({"subPath": each.sub_path} if each.sub_path else {}),
            **({"readOnly": True} if each.read_only else {}),
            **source(job, each),
        }
        for each in job.spec.volumes
    ]


def _identity(job: Job, role: RoleName, index: int) -> list[Values]:
    """The files from which programs of Paddle v1 learn who they are."""
    if job.spec.mode != "legacy" or role != "trainers":
        return []
    contents = {"trainer_id": index, "trainer_count": contract.replicas(job, "trainers")}
    return [
        {"name": f"paddlespec-{key.replace('_', '-')}", "mountPath": f"/{key}", "text": f"{each}\n"}
        for key, each in contents.items()
    ]
