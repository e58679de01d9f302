"""Whether the mode and the roles of a job agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import contract
from paddlespec.checks import reads
from paddlespec.contract import ROLES, Context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path

# Fewer addresses than these fit into one variable however long the names are.
_SURELY_FIT = 600


@reads("spec.mode", "spec.pservers")
def mode_and_pservers(facts: Facts) -> Iterator[Diagnostic]:
    """Parameter servers belong to the modes ps and legacy, and these need them."""
    spec = facts.job.spec
    if spec.mode in ("ps", "legacy"):
        if spec.pservers is None and not _is_misspelt(facts):
            path: Path = ("spec", "mode")
            hint = "add `pservers: {replicas: 1}`"
            yield facts.error("mode-roles", f"mode {spec.mode} needs pservers", path, hint)
    elif spec.pservers is not None:
        path = ("spec", "pservers")
        hint = "remove them, or write `mode: ps`"
        yield facts.error("mode-roles", f"mode {spec.mode} has no pservers", path, hint, key=True)


def _is_misspelt(facts: Facts) -> bool:
    """Whether an unknown key, which the gate told, was meant to be `pservers`."""
    keys = facts.document.at(("spec",)) or {}
    return any("server" in key.lower() for key in keys)


@reads("spec.mode", "spec.trainers.processesPerReplica")
def processes_per_replica(facts: Facts) -> Iterator[Diagnostic]:
    """Only Paddle's launcher starts several processes in one replica."""
    spec = facts.job.spec
    if spec.mode != "collective" and spec.trainers.processes_per_replica > 1:
        path = ("spec", "trainers", "processesPerReplica")
        message = f"mode {spec.mode} runs one process in each replica"
        yield facts.error("mode-roles", message, path, "raise `trainers.replicas` instead")


@reads("spec.mode", "spec.legacy", "spec.command", "spec.trainers.command")
def legacy_settings(facts: Facts) -> Iterator[Diagnostic]:
    """`legacy` belongs to its mode, where a job is either a topology or a command."""
    spec, legacy = facts.job.spec, facts.job.spec.legacy
    path: Path = ("spec", "legacy")
    if spec.mode != "legacy":
        if legacy is not None:
            message = f"mode {spec.mode} has no legacy settings"
            hint = "remove them, or write `mode: legacy`"
            yield facts.error("mode-roles", message, path, hint, key=True)
        return
    own = ("spec", "trainers", "command") if spec.trainers.command else ("spec", "command")
    topology = legacy.topology if legacy else None
    if facts.document.at(own) is None and not topology:
        hint = "add `command`, or for a v1 job `legacy: {topology: conf.py}`"
        message = "mode legacy needs a command or a topology"
        yield facts.error("legacy-program", message, ("spec", "mode"), hint)
    elif topology and facts.document.at(own) is not None:
        message = "legacy.topology and command are two programs"
        hint = "keep the topology for a v1 job, the command for a v2 program"
        yield facts.error("legacy-program", message, own, hint, key=True)
    if legacy and legacy.train_list and not topology:
        message = "legacy.trainList is read only together with a topology"
        yield facts.warning("legacy-program", message, (*path, "trainList"), key=True)


@reads("spec.mode", "spec.parameters")
def legacy_passes(facts: Facts) -> Iterator[Diagnostic]:
    """`parameters.passes` becomes PADDLE_INIT_NUM_PASSES, a count."""
    spec = facts.job.spec
    passes = spec.parameters.get("passes") if spec.mode == "legacy" else None
    if passes is not None and (isinstance(passes, bool) or not _is_count(passes)):
        message = "in mode legacy parameters.passes is a number of passes, at least 1"
        yield facts.error("legacy-passes", message, ("spec", "parameters", "passes"))


def _is_count(value: object) -> bool:
    text = str(value)
    return text.isascii() and text.isdigit() and int(text[:9]) > 0


@reads("spec.pservers.workload")
def empty_restart(facts: Facts) -> Iterator[Diagnostic]:
    """A StatefulSet hides the loss of a pserver, and with it of parameters."""
    pservers = facts.job.spec.pservers
    if pservers and pservers.workload == "StatefulSet":
        message = "a lost pserver is restarted empty, and trainers may end well with a wrong model"
        hint = "leave `workload` out unless the program reloads its own state"
        yield facts.warning("empty-restart", message, ("spec", "pservers", "workload"), hint)


@reads(
    "metadata.name",
    "metadata.namespace",
    "spec.mode",
    "spec.trainers.replicas",
    "spec.trainers.processesPerReplica",
    "spec.trainers.resources",
    "spec.pservers.replicas",
    "spec.legacy",
    "spec.parameters",
    "spec.command",
    "spec.package",
    "spec.workdir",
    "spec.workspace",
    "spec.input",
    "spec.output",
)
def addresses_fit(facts: Facts) -> Iterator[Diagnostic]:
    """All addresses of a role stand in one variable, which the kernel bounds."""
    job = facts.job
    if job.spec.mode not in ("ps", "legacy"):
        return
    namespace = job.metadata.namespace or "n"
    for role in ROLES:
        count = contract.replicas(job, role)
        if count < _SURELY_FIT:
            continue
        for name, value in contract.environment(job, role, Context()).items():
            size = len(name) + 1 + len(value.replace("$(NS)", namespace))
            if size > contract.LARGEST_VALUE:
                message = f"{name} would have {size:,} bytes, at most {contract.LARGEST_VALUE:,}"
                hint = "fewer replicas, or a shorter name of the job"
                yield facts.error("too-many-replicas", message, _widest(facts), hint)
                return


def _widest(facts: Facts) -> Path:
    """The number of replicas that makes the list long."""
    counts = {role: contract.replicas(facts.job, role) for role in ROLES}
    return ("spec", max(ROLES, key=lambda role: counts[role]), "replicas")
