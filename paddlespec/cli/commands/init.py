"""`init`: write a new job."""

from __future__ import annotations

import os
import sys
from shlex import quote
from typing import Annotated

import typer

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.values import one_of
from paddlespec.cli.shared.write_files import write_all


def init(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DIR] [-- COMMAND...]", help="Folder to write to [default: this one]."
        ),
    ] = None,
    mode: Annotated[
        str,
        typer.Option("--mode", metavar="collective|ps|legacy|parallel", help="Mode of the job."),
    ] = "collective",
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the job [default: the folder's]."),
    ] = None,
    image: Annotated[
        str | None, typer.Option("--image", metavar="IMAGE", help="Container image of the job.")
    ] = None,
    from_command: Annotated[
        bool,
        typer.Option("--from-command", help="Run the COMMAND after --; write no example."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> int:
    """
    Write a new spec with comments, and a working example.

    The spec is valid and ready to apply. With --from-command it runs your own command; in mode
    collective, Paddle's launcher is added if the command lacks it.

    \b
    paddlespec init
    paddlespec init jobs/ctr --mode ps --image team/ctr:1.2
    paddlespec init --from-command -- python train.py --epochs 3
    """
    from paddlespec.spec.scaffold import MODES

    given = list(arguments or ())
    count = _after_dashes(sys.argv[1:])
    command = given[len(given) - count :] if count else []
    folders = given[: len(given) - len(command)]
    one_of("--mode", mode, MODES)
    if from_command and not command:
        hint = "for example: paddlespec init --from-command -- python train.py"
        raise Stop(Exit.usage, "--from-command needs a command after --", hint)
    if len(folders) > 1:
        raise Stop(Exit.usage, f"expected one folder, got {' '.join(folders)}")
    return write_job(folders[0] if folders else ".", mode, name, image, command, force=force)


def write_job(
    folder: str,
    mode: str,
    name: str | None = None,
    image: str | None = None,
    command: list[str] | None = None,
    *,
    force: bool = False,
) -> int:
    """Write all files of a new job into *folder*, or none; print what to do next."""
    from paddlespec.spec.edit import edited
    from paddlespec.spec.scaffold import (
        IGNORE,
        REQUIREMENTS,
        SPEC,
        job_name,
        scaffold,
    )

    name = name if name is not None else job_name(os.path.abspath(folder))
    planned = scaffold(mode, name, image, command)
    spec = os.path.normpath(os.path.join(folder, SPEC))
    contents = {
        os.path.normpath(os.path.join(folder, name)): text for name, text in planned.files.items()
    }
    contents[spec] = edited(contents[spec], SPEC, planned.edits)
    existing = {path for path in contents if os.path.lexists(path)}
    for own in (IGNORE, REQUIREMENTS):
        # The user's own lists are kept.
        path = os.path.normpath(os.path.join(folder, own))
        if path in existing:
            existing.remove(path)
            del contents[path]
    if existing and not force:
        shown = ", ".join(sorted(existing))
        raise Stop(
            Exit.usage,
            f"already exists: {shown}",
            "add --force to overwrite, or name another folder",
        )
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Stop(Exit.refused, f"cannot write {folder}: {error.strerror}") from None
    write_all({path: text.encode() for path, text in contents.items()})
    for path in contents:
        write.lines([path])
    path = quote(spec if os.sep in spec else f"./{spec}" if spec.startswith("-") else spec)
    write.note(f"next: paddlespec validate {path}")
    write.note(f"      paddlespec render {path} --preview")
    write.note(f"      paddlespec apply {path} --target local --wait complete  # on this machine")
    write.note(f"      paddlespec apply {path}  # on a cluster")
    return Exit.done


def _after_dashes(words: list[str]) -> int:
    """How many words follow the first `--`, which the option parser drops."""
    return len(words) - words.index("--") - 1 if "--" in words else 0
