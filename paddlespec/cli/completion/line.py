"""From the words of a command line to what may follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.cli.lazy import LazyGroup


class Offer(NamedTuple):
    """Words with their meaning; `files` and `folders` are added by the shell."""

    words: Sequence[tuple[str, str]] = ()
    files: bool = False
    folders: bool = False

    def beginning(self, text: str) -> Offer:
        """The same, without words that do not begin with *text*."""
        return self._replace(words=[pair for pair in self.words if pair[0].startswith(text)])

    def after(self, prefix: str) -> Offer:
        """The same, each word after *prefix*, such as `--target=`."""
        return self._replace(words=[(prefix + word, meaning) for word, meaning in self.words])


class Given(NamedTuple):
    """What was typed so far: the command, the values of its options, and its arguments."""

    command: str
    options: dict[str, list[str]]
    arguments: list[str]

    def option(self, name: str) -> str | None:
        """The last value of an option."""
        return next(reversed(self.options.get(name, ())), None)


def offer(words: Sequence[str], current: str) -> Offer:
    """Return what may stand at *current*, the beginning of a word after *words*."""
    command: Any = app.command()
    names: list[str] = []
    rest = list(words)
    while hasattr(command, "commands"):
        while rest and rest[0].startswith("-"):
            rest.pop(0)
        if not rest:
            return _commands(command, current)
        command = command.get_command(None, rest.pop(0))
        if command is None:
            return Offer()
        names.append(command.name)
    if names == ["help"]:
        return offer(rest, current) if _is_group(rest) else Offer()
    return _of_command(command, " ".join(names), rest, current)


def _is_group(words: Sequence[str]) -> bool:
    """Whether *words* are a group of commands, or nothing."""
    command: Any = app.command()
    for word in words:
        command = command.get_command(None, word) if hasattr(command, "commands") else None
    return hasattr(command, "commands")


def _commands(group: LazyGroup, current: str) -> Offer:
    if current.startswith("-"):
        return Offer(list(_options(group.params))).beginning(current)
    names = [name for name in group.commands if name.startswith(current)]
    return Offer([(name, _summary(group.commands[name])) for name in names])


def _of_command(command: Any, name: str, words: Sequence[str], current: str) -> Offer:
    from paddlespec.cli.completion.values import values

    takers = {
        opt: param
        for param in command.params
        for opt in param.opts
        if opt.startswith("-") and not getattr(param, "is_flag", False)
    }
    options: dict[str, list[str]] = {}
    arguments: list[str] = []
    pending, literal = None, False
    for word in words:
        option, separator, value = word.partition("=")
        if pending is not None:
            options.setdefault(pending.opts[-1], []).append(word)
            pending = None
        elif literal or not word.startswith("-") or word == "-":
            arguments.append(word)
        elif word == "--":
            literal = True
        elif separator and option in takers:
            options.setdefault(takers[option].opts[-1], []).append(value)
        else:
            pending = takers.get(word)
    given = Given(name, options, arguments)
    if pending is not None:
        return values(pending, given, current).beginning(current)
    option, separator, value = current.partition("=")
    if separator and option in takers and not literal:
        return values(takers[option], given, value).beginning(value).after(f"{option}=")
    if current.startswith("-") and not literal:
        return Offer(list(_options(command.params))).beginning(current)
    expected = [param for param in command.params if param.param_type_name == "argument"]
    if not expected:
        return Offer()
    param = expected[min(len(arguments), len(expected) - 1)]
    if len(arguments) >= len(expected) and param.nargs != -1:
        return Offer()
    return values(param, given, current).beginning(current)


def _options(params: Sequence[Any]) -> Iterator[tuple[str, str]]:
    for param in params:
        for name in (*param.opts, *param.secondary_opts):
            if name.startswith("--"):
                yield name, (param.help or "").partition("\n")[0]


def _summary(command: Any) -> str:
    return str(command.help or "").strip().partition("\n")[0]
