"""What all `get` commands share: their options, and the forms of their output."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_FORMS = ("table", "wide", "json", "yaml", "name")
_NARROWEST = 60

Form = Annotated[
    str,
    typer.Option("-o", "--output", metavar="|".join(_FORMS), help="Form of the output."),
]
Everywhere = Annotated[
    bool, typer.Option("-A", "--all-namespaces", help="The jobs of every namespace.")
]


def check(form: str, known: tuple[str, ...] = _FORMS) -> None:
    """Refuse a form that a command does not have."""
    if form not in known:
        raise Stop(Exit.usage, f"-o {form}: expected one of {', '.join(known)}")


def show(
    form: str,
    data: Callable[[], Any],
    names: Callable[[], Iterable[str]],
    table: Callable[[bool, int | None], str],
) -> None:
    """Write what was found in the form asked for; *table* is given `wide` and the width."""
    if form in ("json", "yaml"):
        write_data(form, data())
    elif form == "name":
        sys.stdout.write("".join(f"{each}\n" for each in names()))
    else:
        sys.stdout.write(table(form == "wide", _width()))


def write_data(form: str, data: Any) -> None:
    """Write plain data as JSON or YAML."""
    if form == "json":
        import json

        sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    else:
        from paddlespec.emit import dump

        sys.stdout.write(dump(data))


def _width() -> int | None:
    """The columns of the terminal; what is no terminal breaks no lines."""
    if not sys.stdout.isatty():
        return None
    return max(_NARROWEST, shutil.get_terminal_size().columns)
