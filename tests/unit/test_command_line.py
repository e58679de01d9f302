"""The options of all commands together: what is shared means the same everywhere."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from paddlespec.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

# In `logs`, as with kubectl and tail, -f follows and -n counts lines.
OTHERWISE = {("logs", "-f"), ("logs", "-n")}


def commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands(each, (*words, name))
        else:
            yield " ".join((*words, name)), each


COMMANDS = dict(commands(app.command()))


def flags(command: Any) -> list[tuple[str, str]]:
    """The short flags of a command with their long names."""
    return [
        (short, next(each for each in param.opts if each.startswith("--")))
        for param in command.params
        for short in param.opts
        if short.startswith("-") and not short.startswith("--")
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_short_flag_has_two_meanings_in_one_command(name: str) -> None:
    short = [each for each, _ in flags(COMMANDS[name])]
    assert len(short) == len(set(short))


def test_a_short_flag_means_the_same_in_every_command() -> None:
    meanings = defaultdict(set)
    for name, command in COMMANDS.items():
        for short, long in flags(command):
            if (name, short) not in OTHERWISE:
                meanings[short].add(long)
    assert {short: longs for short, longs in meanings.items() if len(longs) > 1} == {}
    assert meanings["-f"] == {"--file"}
    assert meanings["-n"] == {"--namespace"}


def test_whatever_speaks_to_a_cluster_can_tell_how() -> None:
    found = {name for name, each in COMMANDS.items() if ("-v", "--verbose") in flags(each)}
    options = {
        name: [opt for p in each.params for opt in p.opts] for name, each in COMMANDS.items()
    }
    assert found == {name for name, each in options.items() if "--kubeconfig" in each}
    assert {"apply", "get jobs", "config check", "registry add"} <= found
    assert not {"validate", "config use"} & found


@pytest.mark.parametrize("name", COMMANDS)
def test_flags_that_every_command_takes(name: str) -> None:
    options = [opt for param in COMMANDS[name].params for opt in param.opts]
    assert options.count("--quiet") == options.count("--no-color") == 1
    # Here the datacenter is an argument.
    if "--kubeconfig" in options and name not in ("config add", "config check", "config discover"):
        assert "--datacenter" in options


def test_a_command_about_one_job_takes_its_spec_with_a_flag() -> None:
    for name, command in COMMANDS.items():
        metavars = [param.metavar or "" for param in command.params]
        if any("NAME|PATH" in metavar for metavar in metavars):
            assert any("--file" in param.opts for param in command.params), name


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_it_is_and_shows_an_example(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    assert f"paddlespec {name}" in command.help
    assert all(each.help for each in command.params if each.opts[0].startswith("-"))
