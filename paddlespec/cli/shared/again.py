"""Hints that can be pasted: the command of the user, for one job, with one option more."""

from __future__ import annotations

import re
import sys
from shlex import join

_ADD = re.compile(r"add (--[a-z-]+) to (.+)")
_APPLY = re.compile(r"paddlespec apply (--[a-z-]+)")
_COMMAND = "apply"


def pasted(hint: str | None, file: str) -> str | None:
    """
    Return *hint* with a whole command where it names an option; the job is that of *file*.

    Only an apply that was given can be given again.
    """
    if hint is None or sys.argv[1:2] != [_COMMAND] or file == "-":
        return hint
    if match := _ADD.fullmatch(hint):
        return f"to {match[2]}: {again(file, match[1])}"
    return _APPLY.sub(lambda match: again(file, match[1]), hint)


def again(file: str, option: str) -> str:
    """The command of this process for the job of *file*, with *option*; values stay masked."""
    from paddlespec.cli.app import command

    apply = command().get_command(None, _COMMAND)
    takers = {
        name
        for param in apply.params
        if not getattr(param, "is_flag", False)
        for name in param.opts
    }
    kept: list[str] = []
    words = iter(sys.argv[2:])
    for word in words:
        name = word.partition("=")[0]
        if word in takers:
            value = next(words, "")
            kept += [] if word in ("-f", "--file") else [word, _shown(word, value)]
        elif word.startswith("--") and name != "--file" and word not in (option, "--"):
            kept.append(f"{name}={_shown(name, word[len(name) + 1 :])}" if "=" in word else word)
        elif re.match(r"-[^-]", word) and not word.startswith("-f"):
            kept.append(word if word[:2] not in takers else word[:2] + _shown(word[:2], word[2:]))
    return f"paddlespec {_COMMAND} {join([file, *kept, option])}"


def _shown(option: str, value: str) -> str:
    """A value as it may be printed."""
    if option not in ("-u", "--update"):
        return value
    from paddlespec.diagnostic import Diagnostic, Span
    from paddlespec.report.mask import LOOKS_SECRET, redacted

    # A parameter may be part of a sensitive variable.
    code = LOOKS_SECRET if re.match(r"(spec\.)?parameters\b", value) else ""
    found = redacted(Diagnostic(code, "", Span(f"--update {value}")))
    return found.span.file.removeprefix("--update ")
