"""`init` and `set`: the commands that write specs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli import options
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.update import Update

_STDIN = "-"


def init(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DIR] [-- COMMAND...]", help="Folder of the job; the current one if absent."
        ),
    ] = None,
    mode: Annotated[
        str,
        typer.Option("--mode", metavar="collective|ps|legacy|parallel", help="Kind of job."),
    ] = "collective",
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name; the folder's if absent.")
    ] = None,
    image: Annotated[
        str | None, typer.Option("--image", metavar="IMAGE", help="Container image.")
    ] = None,
    from_command: Annotated[
        bool,
        typer.Option("--from-command", help="Run the COMMAND after -- and write no example."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that are there already.")
    ] = False,
) -> int:
    """
    Write a commented spec and a working example.

    The spec is valid as it is. With --from-command it runs your own command; in mode collective
    Paddle's launcher is added to one that lacks it.

    \b
    paddlespec init
    paddlespec init jobs/ctr --mode ps --image team/ctr:1.2
    paddlespec init --from-command -- python train.py --epochs 3
    """
    from paddlespec.scaffold import MODES

    given = list(arguments or ())
    count = _after_dashes(sys.argv[1:])
    command = given[len(given) - count :] if count else []
    folders = given[: len(given) - len(command)]
    if mode not in MODES:
        raise Stop(Exit.usage, f"--mode {mode}: expected one of {', '.join(MODES)}")
    if from_command and not command:
        hint = "for example: paddlespec init --from-command -- python train.py"
        raise Stop(Exit.usage, "--from-command needs a command after --", hint)
    if len(folders) > 1:
        raise Stop(Exit.usage, f"one folder at a time, found {' '.join(folders)}")
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
    """Write all files of a new job into *folder*, or none; what to do next goes to stderr."""
    from paddlespec.edit import edited
    from paddlespec.scaffold import IGNORE, SPEC, job_name, scaffold

    name = name if name is not None else job_name(os.path.abspath(folder))
    planned = scaffold(mode, name, image, command)
    spec = os.path.normpath(os.path.join(folder, SPEC))
    contents = {
        os.path.normpath(os.path.join(folder, each)): text for each, text in planned.files.items()
    }
    contents[spec] = edited(contents[spec], SPEC, planned.edits)
    existing = {each for each in contents if os.path.lexists(each)}
    ignored = os.path.normpath(os.path.join(folder, IGNORE))
    if ignored in existing:
        # The user's own list of what stays behind is as good as ours.
        existing.remove(ignored)
        del contents[ignored]
    if existing and not force:
        shown = ", ".join(sorted(existing))
        raise Stop(Exit.usage, f"already there: {shown}", "--force overwrites, DIR is elsewhere")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Stop(Exit.refused, f"cannot write {folder}: {error.strerror}") from None
    write_all({path: text.encode() for path, text in contents.items()})
    for each in contents:
        sys.stdout.write(f"{each}\n")
    sys.stderr.write(
        f"next: paddlespec validate {spec}\n"
        f"      paddlespec render {spec} --preview\n"
        f"      paddlespec apply {spec}\n"
    )
    return Exit.done


def set_values(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Spec to edit; - for stdin.")],
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE...", help="KEY+=VALUE appends, KEY- removes, KEY=@FILE reads a file."
        ),
    ],
    document: Annotated[
        str | None,
        typer.Option("--document", metavar="NAME|N", help="Which document of a file of several."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change and write nothing.")
    ] = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Edit a spec in place; comments, order and quotes survive.

    All changes are made or none. A change that would make the spec invalid is refused.

    \b
    paddlespec set paddlejob.yaml trainers.replicas=8 image=team/train:1.3
    paddlespec set paddlejob.yaml 'setup+=pip install -e .' 'volumes[home].readOnly=true'
    paddlespec set paddlejob.yaml metadata.labels.team- --dry-run
    """
    from paddlespec.edit import Source, choose, edited

    updates = _parsed(changes)
    name = "<stdin>" if file == _STDIN else file
    source = Source.of(_content(file, name), name)
    text = edited(source.text, name, updates, choose(source.text, name, document))
    if dry_run:
        sys.stdout.write(difference(name, source.text, text))
    elif file == _STDIN:
        sys.stdout.write(text)
    elif text != source.text:
        write_all({file: source.with_text(text)})
    if not quiet:
        done = "would be changed" if dry_run else "changed"
        sys.stderr.write(f"{name}: {done if text != source.text else 'nothing to change'}\n")
    return Exit.done


def write_all(contents: Mapping[str, bytes]) -> None:
    """
    Write every file or none, as far as a file system can: drafts first, then renames.

    A file keeps its permissions, and a link goes on pointing at the file that it names.
    """
    drafts: dict[str, str] = {}
    path = ""
    try:
        for path, content in contents.items():
            target = os.path.realpath(path)
            draft = os.path.join(
                os.path.dirname(target), f".{os.path.basename(target)}.{os.getpid()}.part"
            )
            drafts[draft] = target
            with open(draft, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(target):
                os.chmod(draft, os.stat(target).st_mode & 0o7777)
        for draft, target in drafts.items():
            os.replace(draft, target)
    except OSError as error:
        for draft in drafts:
            if os.path.exists(draft):
                os.remove(draft)
        raise Stop(Exit.refused, f"cannot write {path}: {error.strerror}") from None


def _after_dashes(words: list[str]) -> int:
    """How many words follow the first `--`, which the option parser swallows."""
    return len(words) - words.index("--") - 1 if "--" in words else 0


def _parsed(changes: list[str]) -> list[Update]:
    """Every change, or every fault in them at once."""
    from paddlespec.diagnostic import InvalidSpec
    from paddlespec.update import parse

    updates, found = [], []
    for each in changes:
        try:
            updates.append(parse(each, option=""))
        except InvalidSpec as error:
            found += error.diagnostics
    if found:
        raise InvalidSpec(found)
    return updates


def _content(file: str, name: str) -> bytes:
    from paddlespec.diagnostic import Diagnostic, InvalidSpec, Span

    try:
        if file == _STDIN:
            return sys.stdin.buffer.read()
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        message = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise InvalidSpec([Diagnostic("file", message, Span(name))]) from None


def difference(name: str, before: str, after: str) -> str:
    """What an edit changes, as a patch."""
    import difflib

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    shown = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    note = "\n\\ No newline at end of file\n"
    return "".join(each if each.endswith("\n") else each + note for each in shown)
