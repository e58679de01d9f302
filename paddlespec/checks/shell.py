"""What a line of shell visibly runs; nothing is executed, and what is unclear is left alone."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEPARATORS = frozenset(("\n", ";", "&", "&&", "|", "||", "(", ")"))
_BEFORE = frozenset(
    (
        "command",
        "do",
        "else",
        "env",
        "exec",
        "if",
        "nice",
        "nohup",
        "numactl",
        "stdbuf",
        "sudo",
        "taskset",
        "then",
        "time",
        "timeout",
        "while",
        "{",
        "!",
    )
)
_OF_WRAPPERS = "-0123456789"
SHELLS = frozenset(("sh", "bash", "ash", "dash", "zsh"))
_WITH_VALUE = frozenset(("-W", "-X", "--check-hash-based-pycs"))
_MOST_NESTED = 4


@lru_cache(maxsize=1)
def _tokens() -> re.Pattern[str]:
    return re.compile(
        r"""(?:[^\s;&|()'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+|\n|&&|\|\||[;&|()]""", re.DOTALL
    )


@lru_cache(maxsize=1)
def _python() -> re.Pattern[str]:
    return re.compile(r"(?:.*/)?(?:python|pypy)[0-9.]*\Z", re.DOTALL)


class Run(NamedTuple):
    """One simple command: its text, and its words with quotes."""

    text: str
    words: list[str]

    def interpreter(self) -> int | None:
        """Where the interpreter stands among the words, if the command is a Python program."""
        wrapped = False
        for index, word in enumerate(self.words):
            if _python().match(word):
                return index
            if word in _BEFORE:
                wrapped = True
            elif "=" not in word and not (wrapped and word[0] in _OF_WRAPPERS):
                return None
        return None

    def script(self) -> str | None:
        """The file that the interpreter runs, unless a module or a launcher comes first."""
        start = self.interpreter()
        if start is None:
            return None
        index = start + 1
        while index < len(self.words):
            word = self.words[index]
            if word in ("-m", "-c"):
                return None
            if not word.startswith("-"):
                name = word.strip("\"'")
                launches = "launch" in name.rpartition("/")[2]
                return word if name.endswith(".py") and not launches else None
            index += 2 if word in _WITH_VALUE else 1
        return None

    def launched(self, script: str) -> list[str]:
        """The words of the command with the launcher before its *script*."""
        index = self.words.index(script)
        return [*self.words[:index], "-m", "paddle.distributed.launch", *self.words[index:]]

    def without_launcher(self) -> list[str] | None:
        """The words that run the launcher's program directly."""
        for index, word in enumerate(self.words):
            if word.endswith(".py"):
                start = self.interpreter()
                python = "python" if start is None else self.words[start]
                return [python, *self.words[index:]]
        return None

    def launcher_flags(self) -> Iterator[tuple[str, str]]:
        """The arguments of the launcher: those before its program."""
        words = iter(self.words)
        for word in words:
            if word.endswith(("launch", "fleetrun")):
                break
        for word in words:
            if word.endswith(".py"):
                return
            if word.startswith("--"):
                name, equals, value = word[2:].partition("=")
                yield name, value if equals else next(words, "")


def runs(text: str, depth: int = 0) -> Iterator[Run]:
    """The simple commands of *text*, those inside of `bash -c '…'` too."""
    text = text.replace("\\\n", "  ")
    words: list[str] = []
    start = end = 0
    skipping = False
    for match in _tokens().finditer(text):
        token = match[0]
        if token in _SEPARATORS:
            if words:
                yield from _run(text[start:end], words, depth)
            words = []
            skipping = skipping and token != "\n"
        elif skipping or (
            token.startswith("#") and text[match.start() - 1 : match.start()] in "\n \t;"
        ):
            skipping = True
        else:
            start = start if words else match.start()
            words.append(token)
            end = match.end()
    if words:
        yield from _run(text[start:end], words, depth)


def _run(text: str, words: list[str], depth: int) -> Iterator[Run]:
    names = [each.rpartition("/")[2] for each in words]
    for index in range(len(words) - 2):
        option = words[index + 1]
        if names[index] in SHELLS and option.startswith("-") and option.endswith("c"):
            if depth < _MOST_NESTED:
                yield from runs(words[index + 2].strip("\"'"), depth + 1)
            return
    yield Run(text, words)
