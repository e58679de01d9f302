"""Check that a command starts the program the way its mode requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.checks.shell import SHELLS, Run, runs
from paddlespec.checks.written import written
from paddlespec.render import roles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role, Spec
    from paddlespec.render.roles import RoleName

_FAULT_TOLERANT = ("start_new_pserver", "start_new_trainer", "start_master")
_MASTER_VARIABLES = ("MASTER_IP", "ETCD_IP")
_SHELL_OPERATORS = frozenset(("&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"))
_MAX_HINT_LENGTH = 120


def command_of(spec: Spec, name: RoleName, role: Role) -> tuple[Path, str | list[str] | None]:
    """Return the command of a role and its path."""
    if role.command:
        return (*roles.path(name), "command"), role.command
    return ("spec", "command"), spec.command


def args_of(spec: Spec, name: RoleName, role: Role) -> tuple[Path, list[str]]:
    """Return the arguments of a role and their path."""
    return ((*roles.path(name), "args"), role.args) if role.args else (("spec", "args"), spec.args)


def program_of(spec: Spec, name: RoleName, role: Role) -> tuple[Path, str | list[str] | None]:
    """Return the command of a role or, without one, the arguments for the image's entry point."""
    path, command = command_of(spec, name, role)
    if command is None:
        path, args = args_of(spec, name, role)
        command = args or None
    return path, command


def shell_script(path: Path, command: str | list[str]) -> tuple[Path, str] | None:
    """Return the text a shell reads and its path, or None if no shell is involved."""
    if isinstance(command, str):
        return path, command
    if command[0].rpartition("/")[2] in SHELLS and len(command) > 2 and "c" in command[1]:
        return (*path, 2), command[2]
    return None


def runs_of(facts: Facts, path: Path, command: str | list[str]) -> tuple[Path, list[Run]]:
    """Return what *command* runs, spelled as in its file if it is on one line."""
    script = shell_script(path, command)
    if script is None:
        return path, [Run(" ".join(command), list(command))]
    path, text = script
    spelling = written(facts.document, path)
    if spelling and "${{" in spelling:
        text = spelling.strip("\"'")
    return path, list(runs(text))


def replacement(words: list[str], command: str | list[str]) -> str:
    """Return the hint to use *words*, as a list or a string like *command*."""
    text = f"[{', '.join(words)}]" if isinstance(command, list) else " ".join(words)
    return f"use: {text if len(text) <= _MAX_HINT_LENGTH else text[:_MAX_HINT_LENGTH] + '…'}"


@reads("spec.mode", "spec.command", "spec.args", "spec.{role}.command", "spec.{role}.args")
def args_without_command(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Arguments are for the entry point of the image, which a command replaces."""
    spec = facts.job.spec
    path, args = args_of(spec, name, role)
    if not args:
        return
    if spec.mode == "legacy":
        message = "mode legacy starts the programs of Paddle, and not the entry point of the image"
        yield facts.error("args", message, path, "set `command` instead", key=True)
    elif command_of(spec, name, role)[1] is not None and (role.args or not role.command):
        message = "`args` has no effect beside `command`, which replaces the entry point"
        hint = "add the arguments to `command`, or remove it"
        yield facts.error("args", message, path, hint, key=True)


@reads(
    "spec.mode",
    "spec.image",
    "spec.command",
    "spec.args",
    "spec.{role}.command",
    "spec.{role}.args",
    "spec.{role}.image",
)
def no_command(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Paddle's own images start a shell, which exits at once and trains nothing."""
    spec = facts.job.spec
    if spec.mode == "legacy" or program_of(spec, name, role)[1]:
        return
    repository = (role.image or spec.image).partition("@")[0].split("/")
    if len(repository) > 1 and repository[-2] == "paddlepaddle":
        message = f"{roles.clause(name, 'have')} no command, and the image only starts a shell"
        path = (*roles.path(name), "image") if role.image else ("spec", "image")
        program = "-m paddle.distributed.launch train.py"
        program = program if spec.mode == "collective" and name in roles.PADDLE else "train.py"
        yield facts.warning("no-command", message, path, f"add `command: python {program}`")


@reads(
    "spec.mode",
    "spec.command",
    "spec.trainers.command",
    "spec.pservers.command",
    "spec.roles",
    "spec.setup",
    "spec.teardown",
    "spec.package",
)
def around_no_command(facts: Facts) -> Iterator[Diagnostic]:
    """What runs before and after a command requires one: the image's own command is unknown."""
    spec = facts.job.spec
    own = [roles.role(spec, name).command for name in roles.names(spec)]
    if spec.mode == "legacy" or spec.command or all(own):
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


@reads("spec.command", "spec.args", "spec.{role}.command", "spec.{role}.args")
def exec_form(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A list is executed without a shell: nothing splits, joins or expands its items."""
    path, command = program_of(facts.job.spec, name, role)
    if not isinstance(command, list) or shell_script(path, command):
        return
    if len(command) == 1 and path[-1] == "command" and " " in command[0].strip():
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
            env_path = (*roles.path(name), "env") if variable in role.env else ("spec", "env")
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
