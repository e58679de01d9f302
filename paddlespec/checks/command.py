"""Whether a command starts the program as its mode needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import contract
from paddlespec.checks import reads
from paddlespec.checks.shell import SHELLS, Run, runs
from paddlespec.checks.written import written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.contract import RoleName
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role, Spec

_LAUNCHERS = ("paddle.distributed.launch", "paddle.distributed.fleet.launch", "fleetrun")
# Who sets these does the launcher's work himself.
_RANKS = frozenset(("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ENDPOINTS"))
_FAULT_TOLERANT = ("start_new_pserver", "start_new_trainer", "start_master")
_OF_MASTERS = ("MASTER_IP", "ETCD_IP")
_SHELL_WORDS = frozenset(("&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"))
_FLAGS = ("--nnodes", "--nproc_per_node", "--log_dir", "--master", "--rank")
_LONGEST_HINT = 120


def command_of(spec: Spec, name: RoleName, role: Role) -> tuple[Path, str | list[str] | None]:
    """The command of a role, and where it is written."""
    if role.command:
        return ("spec", name, "command"), role.command
    return ("spec", "command"), spec.command


def _scripts(path: Path, command: str | list[str]) -> tuple[Path, str] | None:
    """The text that a shell reads, if one does."""
    if isinstance(command, str):
        return path, command
    if command[0].rpartition("/")[2] in SHELLS and len(command) > 2 and "c" in command[1]:
        return (*path, 2), command[2]
    return None


def _found(facts: Facts, path: Path, command: str | list[str]) -> tuple[Path, list[Run]]:
    """What *command* runs, in the words of its file where one line holds it."""
    script = _scripts(path, command)
    if script is None:
        return path, [Run(" ".join(command), list(command))]
    path, text = script
    spelt = written(facts.document, path)
    if spelt and "${{" in spelt:
        text = spelt.strip("\"'")
    return path, list(runs(text))


@reads(
    "spec.mode",
    "spec.command",
    "spec.allowManagedEnv",
    "spec.{role}.command",
    "spec.trainers.replicas",
    "spec.trainers.processesPerReplica",
)
def launcher(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Several processes that no launcher brings together train several models."""
    spec = facts.job.spec
    trainers = spec.trainers
    processes = trainers.replicas * trainers.processes_per_replica
    if spec.mode != "collective" or processes == 1 or not _RANKS.isdisjoint(spec.allow_managed_env):
        return
    path, command = command_of(spec, name, role)
    if command is None or _launches(command):
        return
    path, found = _found(facts, path, command)
    for run in reversed(found):
        if script := run.script():
            message = (
                f"without the launcher, {processes} processes train {processes} separate models"
            )
            repaired = _repair(run.launched(script), command)
            yield facts.error("no-launcher", message, path, repaired)
            return


def _repair(words: list[str], command: str | list[str]) -> str:
    """The hint to write *words*, in the form that *command* has."""
    text = f"[{', '.join(words)}]" if isinstance(command, list) else " ".join(words)
    return f"write: {text if len(text) <= _LONGEST_HINT else text[:_LONGEST_HINT] + '…'}"


def _launches(command: str | list[str]) -> bool:
    text = command if isinstance(command, str) else " ".join(command)
    return any(each in text for each in _LAUNCHERS)


@reads("spec.mode", "spec.command", "spec.{role}.command")
def launcher_in_ps(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """In mode ps each replica has one role; the launcher would start both in every one."""
    if facts.job.spec.mode != "ps":
        return
    path, command = command_of(facts.job.spec, name, role)
    if command is None or not _launches(command):
        return
    path, found = _found(facts, path, command)
    hint = "run the program itself: python train.py"
    for run in found:
        if _launches(run.text) and (direct := run.without_launcher()):
            hint = _repair(direct, command)
    message = "the launcher starts servers and trainers in every replica"
    yield facts.error("launcher-in-ps", message, path, hint)


@reads(
    "spec.mode",
    "spec.env",
    "spec.command",
    "spec.{role}.env",
    "spec.{role}.command",
    "spec.trainers.replicas",
    "spec.trainers.processesPerReplica",
)
def launcher_flags(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """To the launcher, a variable of the contract wins over its own argument."""
    spec = facts.job.spec
    path, command = command_of(spec, name, role)
    if spec.mode != "collective" or not command or not _launches(command):
        return
    text = command if isinstance(command, str) else " ".join(command)
    if not any(each in text for each in _FLAGS):
        return
    values: dict[str, tuple[str, str | None, str | None]] = {
        "nnodes": ("PADDLE_NNODES", str(spec.trainers.replicas), "trainers.replicas"),
        "nproc_per_node": (
            "PADDLE_NPROC_PER_NODE",
            str(spec.trainers.processes_per_replica),
            "trainers.processesPerReplica",
        ),
        "log_dir": ("PADDLE_LOG_DIR", "/tmp/paddle-log", None),
    }
    if contract.meets(facts.job):
        values |= {"master": ("PADDLE_MASTER", None, None), "rank": ("PADDLE_RANK", None, None)}
    path, found = _found(facts, path, command)
    for run in found:
        for flag, value in run.launcher_flags():
            variable, wins, field = values.get(flag, ("", None, None))
            if not variable or value == wins or variable in spec.env or variable in role.env:
                continue
            message = f"--{flag} has no effect: the launcher prefers {variable}"
            message += f", which is {wins}" if wins else ""
            hint = f"remove it, or allow and set {variable}"
            hint = f"remove it; `{field}` says it" if field else hint
            yield facts.warning("launcher-flag", message, path, hint)


@reads("spec.mode", "spec.image", "spec.command", "spec.{role}.command", "spec.{role}.image")
def no_command(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Paddle's own images start a shell, which ends at once and trains nothing."""
    spec = facts.job.spec
    if spec.mode == "legacy" or role.command or spec.command:
        return
    repository = (role.image or spec.image).partition("@")[0].split("/")
    if len(repository) > 1 and repository[-2] == "paddlepaddle":
        message = f"{name} have no command, and the image has no program of its own"
        path = ("spec", name, "image") if role.image else ("spec", "image")
        program = "-m paddle.distributed.launch train.py"
        program = program if spec.mode == "collective" else "train.py"
        yield facts.warning("no-command", message, path, f"add `command: python {program}`")


@reads(
    "spec.mode",
    "spec.command",
    "spec.trainers.command",
    "spec.pservers.command",
    "spec.setup",
    "spec.teardown",
    "spec.package",
)
def around_no_command(facts: Facts) -> Iterator[Diagnostic]:
    """What goes before and after a command needs one: the image's own is not known."""
    spec = facts.job.spec
    roles = [each for each in (spec.trainers, spec.pservers) if each]
    if spec.mode == "legacy" or spec.command or all(each.command for each in roles):
        return
    package = spec.package
    for path, given in (
        (("spec", "setup"), spec.setup),
        (("spec", "teardown"), spec.teardown),
        (("spec", "package", "pip"), package and package.pip),
        (("spec", "package", "requirements"), package and package.requirements),
    ):
        if given:
            message = f"without a command {path[-1]} is not run either"
            hint = "write the image's own as `command`"
            yield facts.error("no-command", message, path, hint, key=True)


@reads("spec.command", "spec.{role}.command")
def empty_words(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The first word names the program; an empty one behind it is often an empty parameter."""
    path, command = command_of(facts.job.spec, name, role)
    words = [command] if isinstance(command, str) else command or []
    if words and not words[0].strip():
        where = path if isinstance(command, str) else (*path, 0)
        yield facts.error(
            "empty", "the first word of a command names the program, and here it is empty", where
        )
    for index, word in enumerate(words[1:], start=1):
        if not word and not words[index - 1].startswith("-"):
            message = "an empty word is an argument of the program too"
            hint = "leave it out, or write the command as one text"
            yield facts.warning("exec-form", message, (*path, index), hint)


@reads("spec.command", "spec.{role}.command")
def exec_form(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A list is executed as it is: no shell splits, joins or expands its words."""
    path, command = command_of(facts.job.spec, name, role)
    if not isinstance(command, list) or _scripts(path, command):
        return
    if len(command) == 1 and " " in command[0].strip():
        message = "the list has one word, which would be the name of the program"
        hint = f"without the list a shell splits it: command: {command[0]}"[:_LONGEST_HINT]
        yield facts.warning("exec-form", message, (*path, 0), hint)
    for index, word in enumerate(command):
        variable = word.partition("$")[2].strip("{}")
        if word in _SHELL_WORDS:
            message = f"{word} is an argument here: a list runs without a shell"
            hint = "write the command as one text"
            yield facts.warning("exec-form", message, (*path, index), hint)
        elif variable.isidentifier() and word.count("$") == 1:
            message = f"${variable} stays as it is: a list runs without a shell"
            yield facts.warning("exec-form", message, (*path, index), f"write $({variable})")


@reads("spec.mode", "spec.command", "spec.env", "spec.{role}.command", "spec.{role}.env")
def fault_tolerance(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """What the old cluster's entry point did with masters, etcd and the API is not there."""
    spec = facts.job.spec
    if spec.mode != "legacy":
        return
    for variable in _OF_MASTERS:
        if variable in spec.env or variable in role.env:
            own = ("spec", name, "env") if variable in role.env else ("spec", "env")
            message = f"{variable}: fault tolerance with a master and etcd is not supported"
            hint = "a lost replica fails the run; save and load checkpoints instead"
            yield facts.error("fault-tolerance", message, (*own, variable), hint, key=True)
    path, command = command_of(spec, name, role)
    text = command if isinstance(command, str) else " ".join(command or ())
    if "start_" not in text:
        return
    for word in _FAULT_TOLERANT:
        if word in text:
            message = f"{word}: fault tolerance with a master and etcd is not supported"
            hint = "a lost replica fails the run; save and load checkpoints instead"
            yield facts.error("fault-tolerance", message, path, hint)
            return
    if "paddle_k8s" in text:
        message = "paddle_k8s looks for its peers by labels and rights that pods have no more"
        hint = "write the trainers' own command; pservers start by themselves"
        yield facts.error("old-entry-point", message, path, hint)
