"""The answer to a shell that completes a line: one word per line, and what the shell adds."""

from __future__ import annotations

import re
import shlex
from contextlib import redirect_stderr
from io import StringIO
from typing import TYPE_CHECKING

from paddlespec.cli.shared import output as write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.cli.completion.line import Offer

# After these a word goes on, so that no space follows it.
_OPEN = ("=", ".", ",", ":")


def answer(arguments: Sequence[str]) -> int:
    """
    Print what may follow a line; nothing if anything is wrong with it.

    bash gives the line and the characters at which it breaks words; other shells give their words,
    of which the last one is being typed.
    """
    from paddlespec.cli.completion.line import Offer, offer
    from paddlespec.report.width import visible

    shell, *rest = arguments or ["", ""]
    line, breaks = (rest[0], rest[1] if len(rest) > 1 else "") if shell == "bash" else ("", "")
    *words, current = _words(line)[1:] or [""] if shell == "bash" else rest or [""]
    offered = Offer()
    with redirect_stderr(StringIO()):
        try:
            offered = offer(words, current)
        except Exception:  # noqa: BLE001 - a line that is being typed is often wrong
            offered = Offer()
    cut = _last_break(current, breaks)
    for word, meaning in sorted(offered.words):
        shown = f"\t{visible(meaning)}" if meaning and shell != "bash" else ""
        write.data(f"{visible(word[cut:])}{shown}\n")
    write.lines(_directives(offered))
    return 0


def _directives(offered: Offer) -> list[str]:
    found = [":files"] if offered.files else [":folders"] if offered.folders else []
    words = [word for word, _ in offered.words]
    if words and all(word.endswith(_OPEN) for word in words):
        found.append(":nospace")
    return found


def _words(line: str) -> list[str]:
    """The words of a line whose last one may be empty, or its quotes still open."""
    for close in ("", '"', "'"):
        try:
            words = shlex.split(line + close, comments=False)
        except ValueError:
            continue
        ends = not close and re.search(r"(?<!\\)\s\Z", line)
        return [*words, ""] if ends or not words else words
    return []


def _last_break(current: str, breaks: str) -> int:
    """How many characters of *current* the shell has split off as words of their own."""
    return max((current.rfind(char) + 1 for char in breaks if not char.isspace()), default=0)
