"""What all `get` commands share: their options, and the forms of their output."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.values import one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FORMS = ("table", "wide", "json", "yaml", "name")
_NARROWEST = 60

Form = Annotated[
    str,
    typer.Option("-o", "--output", metavar="|".join(FORMS), help="Output format."),
]
Everywhere = Annotated[bool, typer.Option("-A", "--all-namespaces", help="Include all namespaces.")]
Watch = Annotated[bool, typer.Option("-w", "--watch", help="Keep printing changes until Ctrl-C.")]


class Listing(NamedTuple):
    """One listing in its three forms: plain data, names, and a table of `wide` and width."""

    data: Callable[[], Any]
    names: Callable[[], Iterable[str]]
    table: Callable[[bool, int | None], str]


def check(form: str, known: tuple[str, ...] = FORMS) -> None:
    """Refuse a format that a command does not have."""
    one_of("-o", form, known)


def is_table(form: str) -> bool:
    """Whether people read the output."""
    return form in ("table", "wide")


def show(form: str, listing: Listing) -> None:
    """Print a listing."""
    print_as(form, text(form, listing))


def print_as(form: str, content: str) -> None:
    """Print a listing that was formatted before."""
    if form in ("json", "yaml"):
        write.data(content)
    elif form == "name":
        write.lines(content.splitlines())
    else:
        write.text(content)


def text(form: str, listing: Listing) -> str:
    """Return a listing in the format *form*."""
    if form in ("json", "yaml"):
        return dumped(form, listing.data())
    if form == "name":
        return "".join(f"{name}\n" for name in listing.names())
    return listing.table(form == "wide", width())


def write_data(form: str, data: Any) -> None:
    """Print plain data as JSON or YAML."""
    write.data(dumped(form, data))


def width() -> int | None:
    """The columns of the terminal; None elsewhere, where no line is broken."""
    if not sys.stdout.isatty():
        return None
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def is_colored() -> bool:
    """Whether tables and texts have colors."""
    from paddlespec.cli.shared.session import colored

    return colored(sys.stdout)


def dumped(form: str, data: Any) -> str:
    """Plain data as JSON or YAML."""
    if form == "json":
        import json

        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    from paddlespec.spec.emit import dump

    return dump(data)


def refuse_two_scopes(namespace: str | None, *, everywhere: bool) -> None:
    """Raise `Stop` if both -A and -n are given."""
    if everywhere and namespace:
        raise Stop(Exit.usage, f"-A includes all namespaces: remove it, or remove -n {namespace}")
