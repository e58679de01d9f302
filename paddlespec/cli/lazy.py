"""
Groups whose commands are imported when they run, or when help needs them.

Starting is a feature: `validate` should not pay for the imports of twenty other commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperGroup

from paddlespec.cli.bundles import unbundled
from paddlespec.cli.shared import verbose

if TYPE_CHECKING:
    from typing import TypeAlias

_PACKAGE = "paddlespec.cli.commands"
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

# Commands by name: where each one is, as module:function, or a group of more.
Commands: TypeAlias = Mapping[str, "str | Group"]


class Group(NamedTuple):
    """
    A group of commands; `sections` divides its help under headings.

    `renamed` maps words of other tools to the commands of this group.
    """

    help: str
    sections: Mapping[str, Commands]
    renamed: Mapping[str, str] = {}


def group(name: str, described: Group) -> Any:
    """A group as the option parser takes it; nothing of its commands is loaded."""
    app = typer.Typer(
        name=name,
        cls=LazyGroup,
        help=described.help,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        context_settings=_SETTINGS,
    )
    app.callback()(_nothing)
    return filled(typer.main.get_command(app), described)


def filled(parsed: Any, described: Group) -> Any:
    """*parsed*, a group without commands, with those of *described*."""
    parsed.commands = LazyCommands(described.sections)
    parsed.sections, parsed.renamed = described.sections, described.renamed
    return parsed


class LazyCommands(Mapping[str, Any]):
    """Commands by name, each loaded when it is taken out."""

    def __init__(self, sections: Mapping[str, Commands]) -> None:
        self._known = {name: where for known in sections.values() for name, where in known.items()}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            where = self._known[name]
            if isinstance(where, Group):
                self._loaded[name] = group(name, where)
            else:
                self._loaded[name] = _command(name, where)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class LazyGroup(TyperGroup):
    """A group that prints its commands under headings, with whole summaries."""

    sections: Mapping[str, Commands] = {}
    renamed: Mapping[str, str] = {}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; a noun may be in the singular."""
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, _plural(cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that *args* begin with, and the rest; raises `Stop`."""
        name, *rest = args
        if name.startswith("-"):
            return super().resolve_command(ctx, args)
        command = self.get_command(ctx, name)
        if command is None:
            from paddlespec.cli.shared.usage import unknown_command

            raise unknown_command(ctx.command_path, name, list(self.commands), self.renamed)
        return command.name, command, rest

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        """Write the sections of the help."""
        width = max(map(len, self.commands))
        for heading, names in self.sections.items():
            rows = [(name.ljust(width), _summary(self.commands[name])) for name in names]
            with formatter.section(heading):
                formatter.write_dl(rows)


def _command(name: str, where: str) -> Any:
    """Load one command."""
    module, _, function = where.partition(":")
    loaded = import_module(f"{_PACKAGE}.{module}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    cls = getattr(loaded, "PARSER", None)
    app.command(name, cls=cls, context_settings=_SETTINGS)(unbundled(getattr(loaded, function)))
    command = typer.main.get_command(app)
    from paddlespec.cli.shared import common_flags

    common_flags.add_to(command)
    verbose.add_to(command)
    return command


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _summary(command: Any) -> str:
    """The first line of a help text."""
    return str(command.help or "").strip().partition("\n")[0]


def _nothing() -> None:
    """A group does nothing by itself."""
