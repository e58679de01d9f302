"""
The tables of options in docs/commands.md and docs/commands/, made from the command line.

A page marks where a table belongs: `<!-- options: apply -->`, a table, `<!-- end -->`. Options that
many commands share have one table each, named after their bundle: `<!-- options: Layers -->`.
Run this file to renew all tables.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.cli import app
from paddlespec.cli.bundles import unbundled
from paddlespec.cli.shared import options

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "docs" / "commands.md", *sorted((ROOT / "docs" / "commands").glob("*.md")))
TABLE = re.compile(r"(<!-- options: ([\w -]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
CURE = "make docs-commands"
# Where a shared table is, by bundle: its title and its anchor in docs/commands.md.
SHARED = {
    "Layers": ("layers", "layers"),
    "Cluster": ("cluster options", "cluster"),
    "Rehearsal": ("options of rehearsals", "rehearsals"),
    "Output": ("output options", "output"),
}
_VERBOSE, _OUTPUT = "--verbose", ("--no-color", "--quiet")


class Row(NamedTuple):
    """One argument or option: how it is written, and what it does."""

    written: str
    text: str


def commands(group: Any = None, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command by its full name."""
    for name, command in (group or app.command()).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))
        else:
            yield " ".join((*words, name)), command


@cache
def known() -> dict[str, Any]:
    """Every command by its full name, loaded once."""
    return dict(commands())


@cache
def shared() -> dict[str, list[Row]]:
    """The tables that commands share."""
    bundles = (options.Layers, options.Cluster, options.Rehearsal)
    tables = {bundle.__name__: rows(_parsed(bundle)) for bundle in bundles}
    params = {param.opts[-1]: param for param in known()["apply"].params}
    tables["Cluster"].append(row(params[_VERBOSE]))
    return {**tables, "Output": [row(params[name]) for name in _OUTPUT]}


def table(name: str) -> str:
    """The table of a command or of a bundle, as Markdown."""
    if name in SHARED:
        return _markdown(shared()[name])
    own = rows(known()[name])
    also = [key for key, those in shared().items() if set(those) <= set(own)]
    common = {one for key in also for one in shared()[key]}
    text = _markdown([one for one in own if one not in common])
    if not also:
        return text
    links = ", ".join(f"[{SHARED[key][0]}](../commands.md#{SHARED[key][1]})" for key in also)
    return f"{text}\nAlso takes {links}.\n" if text else f"Takes {links}.\n"


def refreshed(page: str) -> str:
    """A page with its tables made anew."""
    return TABLE.sub(lambda match: f"{match[1]}\n{table(match[2])}\n{match[4]}", page)


def rows(command: Any) -> list[Row]:
    """The arguments and options of a command, but --help."""
    return [row(param) for param in command.params if "--help" not in param.opts]


def row(param: Any) -> Row:
    """One argument or option."""
    if param.param_type_name == "argument":
        return Row(f"`{_escaped(param.metavar)}`", _sentence(param))
    names = [*sorted(param.opts, key=len), *param.secondary_opts]
    value = "" if param.is_flag else f" {param.metavar}"
    *others, last = [f"`{name}`" for name in names]
    return Row(", ".join([*others, f"`{_escaped(last.strip('`') + value)}`"]), _sentence(param))


def _sentence(param: Any) -> str:
    text = _escaped(" ".join(param.help.split()))
    default = param.default
    if default in (None, False, "", ()) or "[default:" in text or callable(default):
        return text
    return f"{text} [default: {_escaped(str(default))}]"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _markdown(those: list[Row]) -> str:
    if not those:
        return ""
    lines = "".join(f"| {one.written} | {one.text} |\n" for one in those)
    return f"| option | what it does |\n|---|---|\n{lines}"


def _parsed(bundle: Any) -> Any:
    """A command that takes one bundle."""
    import typer

    def command(*, bundle: Any) -> None:
        """Do nothing."""

    command.__annotations__["bundle"] = bundle
    one = typer.Typer(add_completion=False)
    one.command()(unbundled(command))
    return typer.main.get_command(one)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
