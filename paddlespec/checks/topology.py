"""Check that the mode and the roles of a job agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.checks import reads
from paddlespec.render import environment, roles, runtime
from paddlespec.render.runtime import Context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path

# This many addresses fit in one variable even with the longest names.
_ALWAYS_FITS = 600


@reads("spec.mode", "spec.pservers")
def mode_and_pservers(facts: Facts) -> Iterator[Diagnostic]:
    """The modes ps and legacy require parameter servers; other modes have none."""
    spec = facts.job.spec
    if spec.mode in ("ps", "legacy"):
        if spec.pservers is None and not _is_misspelled(facts):
            path: Path = ("spec", "mode")
            hint = "add `pservers: {replicas: 1}`"
            yield facts.error("mode-roles", f"mode {spec.mode} requires pservers", path, hint)
    elif spec.pservers is not None:
        path = ("spec", "pservers")
        hint = "remove them, or set `mode: ps`"
        message = f"mode {spec.mode} does not use pservers"
        yield facts.error("mode-roles", message, path, hint, key=True)


def _is_misspelled(facts: Facts) -> bool:
    """Whether an unknown key, reported by the gate, was meant to be `pservers`."""
    keys = facts.document.at(("spec",)) or {}
    return any("server" in key.lower() for key in keys)


@reads("spec.roles")
def role_names(facts: Facts) -> Iterator[Diagnostic]:
    """The roles of Paddle have fields of their own, and their names stand for nothing else."""
    for name in facts.job.spec.roles or ():
        plural = roles.plural(name)
        if plural in roles.PADDLE:
            path = ("spec", "roles", name)
            hint = f"set `spec.{plural}`, or use another name"
            yield facts.error("role-name", f'role name "{name}" is reserved', path, hint, key=True)


@reads("spec.mode", "spec.trainers.processesPerReplica")
def processes_per_replica(facts: Facts) -> Iterator[Diagnostic]:
    """Only Paddle's launcher, in mode collective, starts several processes per replica."""
    spec = facts.job.spec
    if spec.mode != "collective" and (spec.trainers.processes_per_replica or 1) > 1:
        path = ("spec", "trainers", "processesPerReplica")
        message = f"mode {spec.mode} runs one process per replica"
        yield facts.error("mode-roles", message, path, "raise `trainers.replicas` instead")


@reads("spec.mode", "spec.legacy", "spec.command", "spec.trainers.command")
def legacy_settings(facts: Facts) -> Iterator[Diagnostic]:
    """`legacy` requires mode legacy, where a job has either a topology or a command."""
    spec, legacy = facts.job.spec, facts.job.spec.legacy
    path: Path = ("spec", "legacy")
    if spec.mode != "legacy":
        if legacy is not None:
            message = f"mode {spec.mode} does not use `legacy`"
            hint = "remove it, or set `mode: legacy`"
            yield facts.error("mode-roles", message, path, hint, key=True)
        return
    command = ("spec", "trainers", "command") if spec.trainers.command else ("spec", "command")
    topology = legacy.topology if legacy else None
    if facts.document.at(command) is None and not topology:
        hint = "add `command`, or for a v1 job `legacy: {topology: conf.py}`"
        message = "mode legacy requires a command or a topology"
        yield facts.error("legacy-program", message, ("spec", "mode"), hint)
    elif topology and facts.document.at(command) is not None:
        message = "legacy.topology and command are mutually exclusive"
        hint = "keep the topology for a v1 job, or the command for a v2 program"
        yield facts.error("legacy-program", message, command, hint, key=True)
    if legacy and legacy.train_list and not topology:
        message = "legacy.trainList is ignored without a topology"
        yield facts.warning("legacy-program", message, (*path, "trainList"), key=True)


@reads("spec.mode", "spec.parameters")
def legacy_passes(facts: Facts) -> Iterator[Diagnostic]:
    """`parameters.passes` becomes PADDLE_INIT_NUM_PASSES, a count."""
    spec = facts.job.spec
    passes = spec.parameters.get("passes") if spec.mode == "legacy" else None
    if passes is not None and (isinstance(passes, bool) or not _is_count(passes)):
        message = "in mode legacy, parameters.passes must be an integer of at least 1"
        yield facts.error("legacy-passes", message, ("spec", "parameters", "passes"))


def _is_count(value: object) -> bool:
    text = str(value)
    return text.isascii() and text.isdigit() and int(text[:9]) > 0


@reads("spec.pservers.workload")
def empty_restart(facts: Facts) -> Iterator[Diagnostic]:
    """A StatefulSet hides the loss of a pserver and its parameters."""
    pservers = facts.job.spec.pservers
    if pservers and workloads.rendered_by(facts.target, pservers.workload).KIND.hold is None:
        message = "a lost pserver restarts empty, and trainers may succeed with a wrong model"
        hint = "remove `workload`, unless the program reloads its own state"
        yield facts.warning("empty-restart", message, ("spec", "pservers", "workload"), hint)


@reads(
    "metadata.name",
    "metadata.namespace",
    "spec.mode",
    "spec.trainers.replicas",
    "spec.trainers.processesPerReplica",
    "spec.trainers.resources",
    "spec.logs",
    "spec.pservers.replicas",
    "spec.roles",
    "spec.legacy",
    "spec.parameters",
    "spec.network",
    "spec.command",
    "spec.package",
    "spec.workdir",
    "spec.workspace",
    "spec.input",
    "spec.output",
)
def addresses_fit(facts: Facts) -> Iterator[Diagnostic]:
    """One variable holds all addresses of a role, and the kernel limits its size."""
    job = facts.job
    if not runtime.has_hosts(job):
        return
    namespace = job.metadata.namespace or "n"
    context = Context(naming=facts.naming)
    names = roles.names(job.spec)
    if all(runtime.replicas(job, role) < _ALWAYS_FITS for role in names):
        return
    for role in names:
        for name, value in environment.of(job, role, context).items():
            size = len(name) + 1 + len(value.replace("$(NS)", namespace))
            if size > environment.LARGEST_VALUE:
                limit = f"{environment.LARGEST_VALUE:,}"
                message = f"{name} would have {size:,} bytes; the limit is {limit}"
                hint = "use fewer replicas, or a shorter name of the job"
                yield facts.error("too-many-replicas", message, _largest_role(facts), hint)
                return


def _largest_role(facts: Facts) -> Path:
    """Return the path of the larger replica count."""
    names = roles.names(facts.job.spec)
    largest = max(names, key=lambda name: runtime.replicas(facts.job, name))
    return (*roles.path(largest), "replicas")
