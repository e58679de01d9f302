"""Check that a command starts the program the way its mode requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.checks.shell import SHELLS, Run, runs
from paddlespec.checks.written import written
from paddlespec.render import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role, Spec
    from paddlespec.render.runtime import RoleName

_LAUNCHERS = ("paddle.distributed.launch", "paddle.distributed.fleet.launch", "fleetrun")
# A spec that sets these replaces the launcher on purpose.
_RANKS = frozenset(("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ENDPOINTS"))
_FAULT_TOLERANT = ("start_new_pserver", "start_new_trainer", "start_master")
_MASTER_VARIABLES = ("MASTER_IP", "ETCD_IP")
_SHELL_OPERATORS = frozenset(("&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"))
_FLAGS = ("--nnodes", "--nproc_per_node", "--log_dir", "--master", "--rank")
_MAX_HINT_LENGTH = 120


def command_of(spec: Spec, name: RoleName, role: Role) -> tuple[Path, str | list[str] | None]:
    """Return the command of a role and its path."""
    if role.command:
        return ("spec", name, "command"), role.command
    return ("spec", "command"), spec.command


def _shell_script(path: Path, command: str | list[str]) -> tuple[Path, str] | None:
    """Return the text a shell reads and its path, or None if no shell is involved."""
    if isinstance(command, str):
        return path, command
    if command[0].rpartition("/")[2] in SHELLS and len(command) > 2 and "c" in command[1]:
        return (*path, 2), command[2]
    return None


def _runs_of(facts: Facts, path: Path, command: str | list[str]) -> tuple[Path, list[Run]]:
    """Return what *command* runs, spelled as in its file if it is on one line."""
    script = _shell_script(path, command)
    if script is None:
        return path, [Run(" ".join(command), list(command))]
    path, text = script
    spelling = written(facts.document, path)
    if spelling and "${{" in spelling:
        text = spelling.strip("\"'")
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
    """Without a launcher, several processes train several separate models."""
    spec = facts.job.spec
    trainers = spec.trainers
    processes = trainers.replicas * trainers.processes_per_replica
    if spec.mode != "collective" or processes == 1 or not _RANKS.isdisjoint(spec.allow_managed_env):
        return
    path, command = command_of(spec, name, role)
    if command is None or _launches(command):
        return
    path, runs_of_command = _runs_of(facts, path, command)
    for run in reversed(runs_of_command):
        if script := run.script():
            message = (
                f"without the launcher, {processes} processes train {processes} separate models"
            )
            hint = _replacement(run.launched(script), command)
            yield facts.error("no-launcher", message, path, hint)
            return


def _replacement(words: list[str], command: str | list[str]) -> str:
    """Return the hint to use *words*, as a list or a string like *command*."""
    text = f"[{', '.join(words)}]" if isinstance(command, list) else " ".join(words)
    return f"use: {text if len(text) <= _MAX_HINT_LENGTH else text[:_MAX_HINT_LENGTH] + '…'}"


def _launches(command: str | list[str]) -> bool:
    text = command if isinstance(command, str) else " ".join(command)
    return any(module in text for module in _LAUNCHERS)


@reads("spec.mode", "spec.command", "spec.{role}.command")
def launcher_in_ps(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """In mode ps a replica has one role; the launcher would start both roles in every replica."""
    if facts.job.spec.mode != "ps":
        return
    path, command = command_of(facts.job.spec, name, role)
    if command is None or not _launches(command):
        return
    path, runs_of_command = _runs_of(facts, path, command)
    hint = "run the program directly: python train.py"
    for run in runs_of_command:
        if _launches(run.text) and (direct := run.without_launcher()):
            hint = _replacement(direct, command)
    message = "in mode ps the launcher would start servers and trainers in every replica"
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
    """The launcher's arguments are overridden by the variables of the runtime contract."""
    spec = facts.job.spec
    path, command = command_of(spec, name, role)
    if spec.mode != "collective" or not command or not _launches(command):
        return
    text = command if isinstance(command, str) else " ".join(command)
    if not any(flag in text for flag in _FLAGS):
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
    if runtime.meets(facts.job):
        values |= {"master": ("PADDLE_MASTER", None, None), "rank": ("PADDLE_RANK", None, None)}
    path, runs_of_command = _runs_of(facts, path, command)
    for run in runs_of_command:
        for flag, value in run.launcher_flags():
            variable, actual, field = values.get(flag, ("", None, None))
            if not variable or value == actual or variable in spec.env or variable in role.env:
                continue
            assignment = f"{variable}={actual}" if actual else variable
            message = f"--{flag} has no effect: {assignment} takes precedence"
            hint = f"remove it, or set {variable} in `env` and add it to `allowManagedEnv`"
            hint = f"remove it; the value comes from `{field}`" if field else hint
            yield facts.warning("launcher-flag", message, path, hint)


@reads("spec.mode", "spec.image", "spec.command", "spec.{role}.command", "spec.{role}.image")
def no_command(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Paddle's own images start a shell, which exits at once and trains nothing."""
    spec = facts.job.spec
    if spec.mode == "legacy" or role.command or spec.command:
        return
    repository = (role.image or spec.image).partition("@")[0].split("/")
    if len(repository) > 1 and repository[-2] == "paddlepaddle":
        message = f"{name} have no command, and the image only starts a shell"
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
    """What runs before and after a command requires one: the image's own command is unknown."""
    spec = facts.job.spec
    roles = [role for role in (spec.trainers, spec.pservers) if role]
    if spec.mode == "legacy" or spec.command or all(role.command for role in roles):
        return
    package = spec.package
    for path, value in (
        (("spec", "setup"), spec.setup),
        (("spec", "teardown"), spec.teardown),
        (("spec", "package", "pip"), package and package.pip),
        (("spec", "package", "requirements"), package and package.requirements),
    ):
        if value:
            message = f"`{path[-1]}` has no effect without a command"
            hint = "set `command`, for example to the command of the image"
            yield facts.error("no-command", message, path, hint, key=True)


@reads("spec.command", "spec.{role}.command")
def empty_words(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The first word names the program; a later empty word is often an empty parameter."""
    path, command = command_of(facts.job.spec, name, role)
    words = [command] if isinstance(command, str) else command or []
    if words and not words[0].strip():
        where = path if isinstance(command, str) else (*path, 0)
        hint = "start the command with the name of a program"
        yield facts.error("empty", "the command has no program name", where, hint)
    for index, word in enumerate(words[1:], start=1):
        if not word and not words[index - 1].startswith("-"):
            message = "the empty item is passed to the program as an argument"
            hint = "remove it, or write the command as a single string"
            yield facts.warning("exec-form", message, (*path, index), hint)


@reads("spec.command", "spec.{role}.command")
def exec_form(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A list is executed without a shell: nothing splits, joins or expands its items."""
    path, command = command_of(facts.job.spec, name, role)
    if not isinstance(command, list) or _shell_script(path, command):
        return
    if len(command) == 1 and " " in command[0].strip():
        message = "the only item of the list is taken as the name of the program"
        hint = f"write it as a string: command: {command[0]}"[:_MAX_HINT_LENGTH]
        yield facts.warning("exec-form", message, (*path, 0), hint)
    for index, word in enumerate(command):
        variable = word.partition("$")[2].strip("{}")
        if word in _SHELL_OPERATORS:
            message = f'"{word}" is passed as an argument: a list runs without a shell'
            hint = "write the command as a single string"
            yield facts.warning("exec-form", message, (*path, index), hint)
        elif variable.isidentifier() and word.count("$") == 1:
            message = f"${variable} is not expanded: a list runs without a shell"
            yield facts.warning("exec-form", message, (*path, index), f"use $({variable})")


@reads("spec.mode", "spec.command", "spec.env", "spec.{role}.command", "spec.{role}.env")
def fault_tolerance(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The masters, etcd and API access of the old cluster's entry point do not exist here."""
    spec = facts.job.spec
    if spec.mode != "legacy":
        return
    for variable in _MASTER_VARIABLES:
        if variable in spec.env or variable in role.env:
            env_path = ("spec", name, "env") if variable in role.env else ("spec", "env")
            message = f"{variable} is not supported: there is no master and no etcd"
            hint = "save and load checkpoints instead; a lost replica fails the run"
            yield facts.error("fault-tolerance", message, (*env_path, variable), hint, key=True)
    path, command = command_of(spec, name, role)
    text = command if isinstance(command, str) else " ".join(command or ())
    if "start_" not in text:
        return
    for word in _FAULT_TOLERANT:
        if word in text:
            message = f"{word} is not supported: there is no master and no etcd"
            hint = "save and load checkpoints instead; a lost replica fails the run"
            yield facts.error("fault-tolerance", message, path, hint)
            return
    if "paddle_k8s" in text:
        message = "paddle_k8s requires labels and permissions that pods no longer have"
        hint = "set the command of the trainers; pservers start automatically"
        yield facts.error("old-entry-point", message, path, hint)
