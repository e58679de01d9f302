"""Check that the processes of a collective job train one model, whatever their launcher is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.checks import reads
from paddlespec.checks.command import program_of, replacement, runs_of
from paddlespec.checks.images import image, image_of
from paddlespec.render import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlespec.checks import Facts
    from paddlespec.checks.shell import Run
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Job, Role
    from paddlespec.render.roles import RoleName

_LAUNCHERS = ("paddle.distributed.launch", "paddle.distributed.fleet.launch", "fleetrun")
_PREDECESSOR = "paddle.distributed.fleet.launch"
# The first version whose launcher reads addresses from variables, and the first with today's launcher.
_READS_VARIABLES, _TODAY = (2, 1), (2, 3)
# A program that sets one of these variables finds its peers without the launcher.
_OWN_ENDPOINTS = frozenset(("PADDLE_TRAINER_ENDPOINTS", "PADDLE_CURRENT_ENDPOINT"))
_DEVICES = ("devices", "gpus", "xpus", "npus", "mlus", "selected_devices", "selected_gpus")
_ADDRESSES = ("ips", "hosts", "start_port", "cluster_node_ips", "node_ip", "started_port")
_ELASTIC = ("elastic_server", "elastic_level", "elastic_timeout", "np")
_RANGE = re.compile(r"[0-9]+:[0-9]+\Z")


class _Override(NamedTuple):
    """A variable that takes precedence over a flag: its value, if known, and what sets it."""

    variable: str
    value: str | None = None
    field: str | None = None
    same: tuple[str, ...] = ()


def launches(command: str | list[str]) -> bool:
    """Whether *command* visibly runs a launcher of Paddle."""
    text = command if isinstance(command, str) else " ".join(command)
    return any(module in text for module in _LAUNCHERS)


@reads(
    "spec.mode",
    "spec.env",
    "spec.command",
    "spec.args",
    "spec.allowManagedEnv",
    "spec.{role}.env",
    "spec.{role}.command",
    "spec.{role}.args",
    "spec.trainers",
)
def launcher(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Without a launcher, several replicas train several separate models."""
    spec = facts.job.spec
    replicas, processes = spec.trainers.replicas, runtime.processes(facts.job)
    own = not _OWN_ENDPOINTS.isdisjoint(spec.allow_managed_env)
    if spec.mode != "collective" or replicas * processes == 1 or own:
        return
    path, command = program_of(spec, name, role)
    if command is None or launches(command):
        return
    path, commands = runs_of(facts, path, command)
    for run in reversed(commands):
        script = run.script()
        if not script:
            continue
        hint = replacement(run.launched(script), command)
        count = replicas * processes
        if replicas > 1:
            message = f"without the launcher, {count} processes train {count} separate models"
            yield facts.error("no-launcher", message, path, hint)
        elif spec.trainers.processes_per_replica is not None:
            message = f"without the launcher, one process starts instead of {processes}"
            yield facts.error("no-launcher", message, path, hint)
        else:
            message = f"without the launcher, one process starts for {processes} accelerators"
            yield facts.warning("no-launcher", message, path, hint)
        return


@reads("spec.mode", "spec.command", "spec.args", "spec.{role}.command", "spec.{role}.args")
def launcher_in_ps(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """In mode ps a replica has one role; the launcher would start both roles in every replica."""
    if facts.job.spec.mode != "ps":
        return
    path, command = program_of(facts.job.spec, name, role)
    if command is None or not launches(command):
        return
    path, commands = runs_of(facts, path, command)
    hint = "run the program directly: python train.py"
    for run in commands:
        if launches(run.text) and (direct := run.without_launcher()):
            hint = replacement(direct, command)
    message = "in mode ps the launcher would start servers and trainers in every replica"
    yield facts.error("launcher-in-ps", message, path, hint)


@reads(
    "spec.mode",
    "spec.image",
    "spec.allowManagedEnv",
    "spec.{role}.image",
    "spec.trainers.replicas",
)
def old_launcher(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Launchers before Paddle 2.1 read other variables, or none."""
    spec = facts.job.spec
    path, text = image_of(facts.job, name, role)
    release = image(text).release
    own = not _OWN_ENDPOINTS.isdisjoint(spec.allow_managed_env)
    if spec.mode != "collective" or not runtime.meets(facts.job) or own:
        return
    if release is not None and release < _READS_VARIABLES:
        number = ".".join(map(str, release))
        message = (
            f"the launcher of Paddle {number} finds no other replicas: "
            f"{spec.trainers.replicas} replicas would train separate models"
        )
        hint = "use an image of Paddle 2.1 or later, or `trainers: {replicas: 1}`"
        yield facts.error("old-launcher", message, path, hint)


@reads(
    "metadata.name",
    "spec.mode",
    "spec.env",
    "spec.image",
    "spec.logs",
    "spec.command",
    "spec.args",
    "spec.{role}.env",
    "spec.{role}.image",
    "spec.{role}.command",
    "spec.{role}.args",
    "spec.trainers",
)
def launcher_flags(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Arguments of the launcher must agree with the variables of the runtime contract."""
    spec = facts.job.spec
    path, command = program_of(spec, name, role)
    if spec.mode != "collective" or command is None or not launches(command):
        return
    if "--" not in (command if isinstance(command, str) else " ".join(command)):
        return
    declared = {*spec.env, *role.env}
    path, commands = runs_of(facts, path, command)
    assigned: dict[str, str] = {}
    for run in commands:
        assigned |= run.assignments()
        if not launches(run.text):
            continue
        is_old = _is_old(run, image(image_of(facts.job, name, role)[1]).release)
        for flag, written in run.launcher_flags():
            value = _resolved(written, assigned)
            if _is_elastic(flag, value):
                message = f"--{flag} {value} starts an elastic job, which no target supports"
                hint = "remove it; `trainers.replicas` is fixed during a run"
                yield facts.error("elastic", message, path, hint)
            else:
                yield from _flag(facts, path, flag, value, declared, is_old=is_old)


def _is_old(run: Run, release: tuple[int, int] | None) -> bool:
    return _PREDECESSOR in run.text or (release is not None and release < _TODAY)


def _resolved(value: str, assigned: Mapping[str, str]) -> str:
    """Return *value* without quotes; a shell variable assigned before is replaced."""
    value = value.strip("\"'")
    return assigned.get(_variable(value), value)


def _variable(value: str) -> str:
    """Return the name of the variable if *value* is one reference, such as `$A` or `$(A)`."""
    name = value[1:].strip("{}()") if value.startswith("$") else ""
    return name if name.isidentifier() else ""


def _is_elastic(flag: str, value: str) -> bool:
    is_range = flag == "nnodes" and bool(_RANGE.match(value))
    return is_range or flag in _ELASTIC or (flag == "master" and value.startswith("etcd:"))


def _flag(
    facts: Facts,
    path: tuple[str | int, ...],
    flag: str,
    value: str,
    declared: set[str],
    *,
    is_old: bool,
) -> Iterator[Diagnostic]:
    """Report one flag that has no effect, or contradicts the spec."""
    if flag in _DEVICES:
        yield from _devices(facts, path, flag, value)
        return
    if flag in _ADDRESSES:
        listed = _variable(value) in ("PADDLE_TRAINERS", "POD_IP", "PADDLE_PORT")
        if runtime.meets(facts.job) and not listed:
            message = f"--{flag} has no effect: paddlespec sets the addresses of the replicas"
            yield facts.warning("launcher-flag", message, path, "remove it")
        return
    override = _overrides(facts.job).get(flag)
    if override is None or override.variable in declared:
        return
    if is_old and flag == "nproc_per_node":
        if not _agrees(value, override):
            message = f"--{flag} {value} contradicts {override.variable}={override.value}"
            hint = f"set `{override.field}: {value}`, or remove the flag"
            yield facts.error("launcher-flag", message, path, hint)
    elif is_old and flag in ("nnodes", "rank", "master"):
        message = f"this launcher has no --{flag}, and would take its value for the program"
        hint = "remove it, or use paddle.distributed.launch of Paddle 2.3 or later"
        yield facts.error("launcher-flag", message, path, hint)
    elif not is_old and not _agrees(value, override):
        assignment = override.variable + (f"={override.value}" if override.value else "")
        message = f"--{flag} has no effect: {assignment} takes precedence"
        hint = f"remove it, or set {override.variable} in `env` and add it to `allowManagedEnv`"
        hint = f"remove it; the value comes from `{override.field}`" if override.field else hint
        if flag == "log_dir" and not facts.job.spec.logs and value.startswith("/"):
            hint = f"remove it, and add `logs: {value}`"
        yield facts.warning("launcher-flag", message, path, hint)


def _agrees(value: str, override: _Override) -> bool:
    return value == override.value or _variable(value) in (override.variable, *override.same)


def _overrides(job: Job) -> dict[str, _Override]:
    """Return the variables that take precedence over flags of the launcher, by flag."""
    processes, replicas = runtime.processes(job), job.spec.trainers.replicas
    overrides = {
        "nnodes": _Override(
            "PADDLE_NNODES", str(replicas), "trainers.replicas", ("PADDLE_TRAINERS_NUM",)
        ),
        "nproc_per_node": _Override(
            "PADDLE_NPROC_PER_NODE", str(processes), "trainers.processesPerReplica"
        ),
        "log_dir": _Override(
            "PADDLE_LOG_DIR", runtime.logs(job), "logs" if job.spec.logs else None
        ),
        "job_id": _Override("PADDLE_JOB_ID", job.metadata.name, "metadata.name"),
    }
    if runtime.meets(job):
        indexes = ("PADDLE_TRAINER_ID", "PADDLESPEC_INDEX", "IDX")
        overrides |= {
            "master": _Override("PADDLE_MASTER"),
            "rank": _Override("PADDLE_RANK", same=indexes),
            "host": _Override("POD_IP"),
        }
    return overrides


def _devices(
    facts: Facts, path: tuple[str | int, ...], flag: str, value: str
) -> Iterator[Diagnostic]:
    """Devices chosen by the launcher must exist, and be as many as its processes."""
    names = value.split(",")
    if not all(name.strip().isdecimal() for name in names):
        return
    gpus, processes = facts.job.spec.trainers.resources.gpu, runtime.processes(facts.job)
    message, hint = "", "remove it; `trainers.resources.gpu` sets the number of accelerators"
    if not gpus:
        message = f"--{flag} selects {len(names)}, but the replicas request no accelerators"
        hint = f"remove it, or add `trainers: {{resources: {{gpu: {len(names)}}}}}`"
    elif int(max(names, key=int)) >= gpus:
        message = (
            f"--{flag} selects device {max(names, key=int)}, but a replica has 0 to {gpus - 1}"
        )
    elif len(names) != processes > 1:
        message = f"--{flag} selects {len(names)} devices for {processes} processes"
        hint = f"remove it, or set `trainers.processesPerReplica: {len(names)}`"
    if message:
        yield facts.error("launcher-flag", message, path, hint)


@reads(
    "spec.mode",
    "spec.command",
    "spec.args",
    "spec.image",
    "spec.{role}.command",
    "spec.{role}.args",
    "spec.{role}.image",
    "spec.trainers",
)
def old_process_count(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Launchers before Paddle 2.3 take the number of processes only from their arguments."""
    path, command = program_of(facts.job.spec, name, role)
    if facts.job.spec.mode != "collective" or command is None or not launches(command):
        return
    processes = runtime.processes(facts.job)
    gpus = facts.job.spec.trainers.resources.gpu
    if processes == (gpus or 1):
        return
    release = image(image_of(facts.job, name, role)[1]).release
    path, commands = runs_of(facts, path, command)
    for run in commands:
        flags = {flag for flag, _ in run.launcher_flags()} if launches(run.text) else set()
        if launches(run.text) and _is_old(run, release) and "nproc_per_node" not in flags:
            message = f"this launcher starts {gpus or 1} processes, not {processes}"
            hint = "add --nproc_per_node $PADDLE_NPROC_PER_NODE"
            yield facts.error("launcher-flag", message, path, hint)
            return
