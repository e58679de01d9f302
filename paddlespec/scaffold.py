"""
The files of a new job.

The templates are valid specs as they are; what differs from job to job is written into them by the
same edits that `set` makes, so no template language stands between the user and the file.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.resources import text
from paddlespec.update import Update

if TYPE_CHECKING:
    from collections.abc import Sequence

SPEC = "paddlejob.yaml"
IGNORE = ".paddleignore"
PROGRAM = "train.py"
MODES = ("collective", "ps", "legacy", "parallel")
_LONGEST_NAME = 40
_INTERPRETER = re.compile(r"(?:python|pypy)[0-9.]*\Z")
_LAUNCHER = ("-m", "paddle.distributed.launch")


class Scaffold(NamedTuple):
    """The files of a new job by name, and the edits that make the spec its own."""

    files: dict[str, str]
    edits: list[Update]


def scaffold(
    mode: str, name: str, image: str | None = None, command: Sequence[str] | None = None
) -> Scaffold:
    """
    A job of *mode*; with a *command* the program is the user's own and none is written.

    A command that would train alone in every process gets Paddle's launcher.
    """
    names = [SPEC] if command else [SPEC, PROGRAM]
    files = {each: text("templates", "init", mode, each) for each in names}
    files[IGNORE] = text("templates", "init", "paddleignore")
    edits = [_option("--name", name, "metadata", "name")]
    if image is not None:
        edits.append(_option("--image", image, "spec", "image"))
    if command:
        words = launched(command) if mode == "collective" else list(command)
        edits.append(_option("--from-command", shlex.join(words), "spec", "command"))
        # Nothing in the user's command reads the parameter of our example.
        for path in (("spec",), ("profiles", "smoke")):
            edits.append(Update("--from-command", (*path, "parameters"), "remove", option=""))
    return Scaffold(files, edits)


def job_name(folder: str) -> str:
    """The name of a job in *folder*: the folder's, made a DNS label."""
    name = re.sub(r"[^a-z0-9]+", "-", PurePath(folder).name.lower()).strip("-")
    if not name[:1].isalpha():
        name = f"job-{name}" if name else "job"
    return name[:_LONGEST_NAME].rstrip("-")


def launched(command: Sequence[str]) -> list[str]:
    """
    *command* under Paddle's launcher, unless it is there already or runs no Python itself.

    The launcher starts a `.py` file with its own interpreter and anything else as a program.
    """
    words = list(command)
    if not words or not _INTERPRETER.match(PurePath(words[0]).name) or _LAUNCHER[1] in words:
        return words
    script = words[2:] if words[1:2] == ["-u"] else words[1:]
    rest = script if script[:1] and script[0].endswith(".py") else words
    return [words[0], *_LAUNCHER, *rest]


def _option(option: str, value: str, *path: str) -> Update:
    return Update(f"{option} {value}", path, "set", value, option="")
