"""Usage errors of the option parser, in the voice of every other error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.output import notes
from paddlespec.diagnostic import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_EXTRA = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)

_HINTS = {"--lines": "-n is --lines here; write --namespace for a namespace"}


def usage_error(error: Any) -> Stop | None:
    """
    Return what a failure of the option parser means to the user; None for any other failure.

    Typer vendors its option parser in some versions and not in others, so that its exceptions have
    no common class; they are known by their names.
    """
    if getattr(error, "show", None) is None:
        return None
    context: Any = getattr(error, "ctx", None)
    called = context.command_path if context else "paddlespec"
    hint = f"show its options with: {called} --help"
    match type(error).__name__:
        case "NoArgsIsHelpError":
            notes(error.format_message())
            return Stop(Exit.usage)
        case "NoSuchOption":
            known = [name for param in context.command.params for name in param.opts]
            similar = _similar(error.option_name, error.possibilities or (), known)
            message = f'unknown option "{error.option_name}" for `{called}`'
            if not similar and getattr(context.command, "commands", None):
                hint = f"options follow the command: {called} COMMAND {error.option_name}"
            return Stop(Exit.usage, message, f'did you mean "{similar}"?' if similar else hint)
        case "MissingParameter":
            name = error.param.metavar or error.param.name.upper()
            return Stop(Exit.usage, f"missing {name} for `{called}`", hint)
        case "BadParameter":
            option = max(error.param.opts, key=len)
            hint = _HINTS.get(option, hint)
            return Stop(Exit.usage, f"invalid value for {option}: {_plain(error.message)}", hint)
        case _:
            pass
    if extra := _EXTRA.match(error.message):
        return Stop(Exit.usage, f'unexpected argument "{extra[1]}" for `{called}`', hint)
    return Stop(Exit.usage, _plain(error.format_message()), hint)


def unknown_command(
    called: str, name: str, known: Sequence[str], renamed: Mapping[str, str]
) -> Stop:
    """The failure for a command that does not exist; *renamed* maps words of other tools."""
    message = f'unknown command "{name}"'
    if name in renamed:
        return Stop(Exit.usage, message, f"{called} {renamed[name]}")
    similar = nearest(name, known)
    list_all = f"list all commands with: {called} --help"
    return Stop(Exit.usage, message, f'did you mean "{called} {similar}"?' if similar else list_all)


def _similar(option: str, possible: Sequence[str], known: Sequence[str]) -> str | None:
    return possible[0] if len(possible) == 1 else nearest(option, known)


def _plain(message: str) -> str:
    """A sentence of the option parser as a part of ours."""
    text = message.strip().rstrip(".").replace("'", '"').replace("int range", "integer")
    return text[:1].lower() + text[1:]
