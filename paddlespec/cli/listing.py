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
    sys.stdout.write(text(form, data, names, table))


def text(
    form: str,
    data: Callable[[], Any],
    names: Callable[[], Iterable[str]],
    table: Callable[[bool, int | None], str],
) -> str:
    """What `show` writes."""
    if form in ("json", "yaml"):
        return dumped(form, data())
    if form == "name":
        return "".join(f"{each}\n" for each in names())
    return table(form == "wide", width())


def write_data(form: str, data: Any) -> None:
    """Write plain data as JSON or YAML."""
    sys.stdout.write(dumped(form, data))


def width() -> int | None:
    """The columns of the terminal; what is no terminal breaks no lines."""
    if not sys.stdout.isatty():
        return None
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def dumped(form: str, data: Any) -> str:
    """Plain data as JSON or YAML."""
    if form == "json":
        import json

        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    from paddlespec.emit import dump

    return dump(data)
