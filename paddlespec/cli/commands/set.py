"""`set`: edit a spec in place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import options
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.write_files import difference, write_all

if TYPE_CHECKING:
    from paddlespec.spec.update import Update

_STDIN = "-"


def set_values(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Spec to edit; - edits stdin to stdout.")
    ],
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE...", help="KEY+=VALUE appends, KEY- removes, KEY=@FILE reads a file."
        ),
    ],
    document: Annotated[
        str | None,
        typer.Option(
            "--document", metavar="NAME|N", help="Edit this document of a file with several."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would change; write nothing.")
    ] = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Edit a spec in place; keep comments, order and quotes.

    Makes all changes or none, and refuses one that would make the spec invalid.

    \b
    paddlespec set paddlejob.yaml trainers.replicas=8 image=team/train:1.3
    paddlespec set paddlejob.yaml 'setup+=pip install -e .' 'volumes[home].readOnly=true'
    paddlespec set paddlejob.yaml metadata.labels.team- --dry-run
    """
    from paddlespec.spec.edit import Source, choose, edited

    name = "<stdin>" if file == _STDIN else file
    content = _content(file, name)
    _refuse_foreign(content, name)
    source = Source.of(content, name)
    updates = _parsed(changes)
    text = edited(source.text, name, updates, choose(source.text, name, document))
    if dry_run:
        write.text(difference(name, source.text, text))
    elif file == _STDIN:
        write.exact(text)
    elif text != source.text:
        write_all({file: source.with_text(text)})
    if not quiet:
        done = "would change" if dry_run else "changed"
        write.note(f"{name}: {done if text != source.text else 'nothing to change'}")
    return Exit.done


def _refuse_foreign(content: bytes, name: str) -> None:
    """Raise `InvalidSpec` for a job file of another tool."""
    from paddlespec.diagnostic import InvalidSpec
    from paddlespec.spec import foreign
    from paddlespec.spec.source import read

    if faults := foreign.own(read(content, name).documents)[1]:
        raise InvalidSpec(faults)


def _parsed(changes: list[str]) -> list[Update]:
    """Every change; raises `InvalidSpec` with every invalid one."""
    from paddlespec.diagnostic import InvalidSpec
    from paddlespec.spec.update import parse

    updates, faults = [], []
    for change in changes:
        try:
            updates.append(parse(change, option=""))
        except InvalidSpec as error:
            faults += error.diagnostics
    if faults:
        raise InvalidSpec(faults)
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
