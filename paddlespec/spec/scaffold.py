"""
Generate the files of a new job.

The templates are valid specs. The values of a job are inserted with the edits of `set`, so the
files need no template language.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.bundled import text
from paddlespec.spec.update import Update

if TYPE_CHECKING:
    from collections.abc import Sequence

SPEC = "paddlejob.yaml"
IGNORE = ".paddleignore"
PROGRAM = "train.py"
REQUIREMENTS = "requirements.txt"
MODES = ("collective", "ps", "legacy", "parallel")
_MAX_NAME_LENGTH = 40
_INTERPRETER = re.compile(r"(?:python|pypy)[0-9.]*\Z")
_LAUNCHER = ("-m", "paddle.distributed.launch")


class Scaffold(NamedTuple):
    """The files of a new job by name, and the edits to apply to its spec."""

    files: dict[str, str]
    edits: list[Update]


def scaffold(
    mode: str, name: str, image: str | None = None, command: Sequence[str] | None = None
) -> Scaffold:
    """
    Generate a job of *mode*; with a *command*, no example program is written.

    Paddle's launcher is added to a command that would otherwise train one model per process.
    """
    names = [SPEC] if command else [SPEC, PROGRAM]
    files = {file: text("templates", "init", mode, file) for file in names}
    files[IGNORE] = text("templates", "init", "paddleignore")
    if mode == "ps" and image is None:
        # Another image may have another Paddle.
        files[REQUIREMENTS] = text("templates", "init", mode, REQUIREMENTS)
    edits = [_option("--name", name, "metadata", "name")]
    if image is not None:
        edits.append(_option("--image", image, "spec", "image"))
    if command:
        words = list(command)
        if mode == "collective":
            words, processes = _processes(launched(command))
            if processes is not None:
                where = ("spec", "trainers", "processesPerReplica")
                edits.append(Update("--from-command", where, "set", processes, option=""))
        edits.append(_option("--from-command", shlex.join(words), "spec", "command"))
        # The user's command does not use the parameters of the example.
        for path in (("spec",), ("profiles", "smoke")):
            edits.append(Update("--from-command", (*path, "parameters"), "remove", option=""))
    return Scaffold(files, edits)


def job_name(folder: str) -> str:
    """Derive the name of a job from its *folder*, as a DNS label."""
    name = re.sub(r"[^a-z0-9]+", "-", PurePath(folder).name.lower()).strip("-")
    if not name[:1].isalpha():
        name = f"job-{name}" if name else "job"
    return name[:_MAX_NAME_LENGTH].rstrip("-")


def launched(command: Sequence[str]) -> list[str]:
    """
    Add Paddle's launcher to *command*, unless it has one or does not run Python.

    The launcher runs a `.py` file with its own interpreter, and anything else as a program.
    """
    words = list(command)
    if not words or not _INTERPRETER.match(PurePath(words[0]).name) or _LAUNCHER[1] in words:
        return words
    script = words[2:] if words[1:2] == ["-u"] else words[1:]
    rest = script if script[:1] and script[0].endswith(".py") else words
    return [words[0], *_LAUNCHER, *rest]


def _processes(command: Sequence[str]) -> tuple[list[str], int | None]:
    """Take the launcher's --nproc_per_node out of *command*, where it would have no effect."""
    words = list(command)
    script = next((i for i, word in enumerate(words) if word.endswith(".py")), len(words))
    for index, word in enumerate(words[:script]):
        option, separator, value = word.partition("=")
        if option.replace("-", "_") != "__nproc_per_node":
            continue
        end = index + 1 if separator else index + 2
        number = value if separator else "".join(words[index + 1 : end])
        if number.isascii() and number.isdecimal() and int(number):
            return [*words[:index], *words[end:]], int(number)
    return words, None


def _option(option: str, value: str, *path: str) -> Update:
    return Update(f"{option} {value}", path, "set", value, option="")
