"""`config set`: change values of a configuration."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import config_file
from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.cli.shared.config_file import Edited
    from paddlespec.diagnostic import InvalidSpec
    from paddlespec.spec.edit.splice import Action


def set_values(
    changes: Annotated[
        list[str], typer.Argument(metavar="KEY=VALUE...", help="KEY+=VALUE appends to a list.")
    ],
    *,
    project: config_file.InProject = False,
) -> int:
    """
    Set values of your configuration or the project.

    Keeps comments, and makes all changes or none.

    \b
    paddlespec config set defaults.namespace=alice
    paddlespec config set 'datacenters[dc1].queues.default=ads' --project
    """
    file = config_file.opened(project=project)
    for change in changes:
        file = _changed(file, change)
    file.write_and_note()
    return Exit.done


def _changed(file: Edited, text: str) -> Edited:
    """Apply one `KEY=VALUE`; a value that YAML reads as another type may also be meant as text."""
    from paddlespec.diagnostic import InvalidSpec, Span, dotted
    from paddlespec.spec.gate import CONFIG
    from paddlespec.spec.source import read
    from paddlespec.spec.update import Update, parts_of, split

    left, splits, right = split(text)
    if not splits:
        hint = "to remove a value: paddlespec config unset KEY"
        raise Stop(Exit.usage, f'invalid change "{text}": expected KEY=VALUE', hint)
    path = parts_of(left.removesuffix("+"), Update(text, (), "set", option=""))
    action: Action = "append" if left.endswith("+") else "set"
    reading = read(right, text)
    plain = reading.documents[0].data if reading.documents and not reading.diagnostics else right
    try:
        return file.put(path, plain, Span(text), action)
    except InvalidSpec as error:
        if file.schema == CONFIG and path[:1] == ("defaults",) and _is_unknown(error):
            command = f"paddlespec config set {shlex.quote(text)} --project"
            message = f'your own configuration has no "{dotted(path)}": it never changes a job'
            raise Stop(Exit.usage, message, f"set it for the project: {command}") from None
        if isinstance(plain, (str, dict, list)):
            raise
        return file.put(path, right, Span(text), action)


def _is_unknown(error: InvalidSpec) -> bool:
    return any(found.code == "unknown-key" for found in error.diagnostics)
