"""Find the commands in a line of shell. Nothing is executed; unclear code is ignored."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEPARATORS = frozenset(("\n", ";", "&", "&&", "|", "||", "(", ")"))
_WRAPPERS = frozenset(
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
_WRAPPER_ARGUMENT_STARTS = "-0123456789"
SHELLS = frozenset(("sh", "bash", "ash", "dash", "zsh"))
_FLAGS_WITH_VALUE = frozenset(("-W", "-X", "--check-hash-based-pycs"))
_MAX_DEPTH = 4


@lru_cache(maxsize=1)
def _tokens() -> re.Pattern[str]:
    return re.compile(
        r"""(?:[^\s;&|()'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+|\n|&&|\|\||[;&|()]""", re.DOTALL
    )


@lru_cache(maxsize=1)
def _python() -> re.Pattern[str]:
    return re.compile(r"(?:.*/)?(?:python|pypy)[0-9.]*\Z", re.DOTALL)


class Run(NamedTuple):
    """One simple command: its text, and its words including quotes."""

    text: str
    words: list[str]

    def interpreter(self) -> int | None:
        """Return the index of the Python interpreter, or None if this is no Python program."""
        wrapped = False
        for index, word in enumerate(self.words):
            if _python().match(word):
                return index
            if word in _WRAPPERS:
                wrapped = True
            elif "=" not in word and not (wrapped and word[0] in _WRAPPER_ARGUMENT_STARTS):
                return None
        return None

    def script(self) -> str | None:
        """Return the file the interpreter runs, unless a module or a launcher comes first."""
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
            index += 2 if word in _FLAGS_WITH_VALUE else 1
        return None

    def launched(self, script: str) -> list[str]:
        """Return the words of the command with the launcher in front of *script*."""
        index = self.words.index(script)
        return [*self.words[:index], "-m", "paddle.distributed.launch", *self.words[index:]]

    def without_launcher(self) -> list[str] | None:
        """Return words that run the launcher's program directly."""
        for index, word in enumerate(self.words):
            if word.endswith(".py"):
                start = self.interpreter()
                python = "python" if start is None else self.words[start]
                return [python, *self.words[index:]]
        return None

    def assignments(self) -> dict[str, str]:
        """Return the variables of a command that only assigns some, with their values."""
        words = self.words[1:] if self.words[0] in ("export", "local", "readonly") else self.words
        pairs = [word.partition("=") for word in words]
        if not all(equals and name.isidentifier() for name, equals, _ in pairs):
            return {}
        return {name: value.strip("\"'") for name, _, value in pairs}

    def launcher_flags(self) -> Iterator[tuple[str, str]]:
        """Yield the arguments of the launcher, which end at its program."""
        words = iter(self.words)
        for word in words:
            if word.endswith(("launch", "fleetrun")):
                break
        for word in words:
            if not word.startswith(("-", "$")):
                return
            name, equals, value = word.removeprefix("--").partition("=")
            if not word.startswith("--"):
                continue
            value = value if equals else next(words, "")
            if value.endswith(".py"):
                yield name, ""
                return
            yield name, value


def runs(text: str, depth: int = 0) -> Iterator[Run]:
    """Yield the simple commands of *text*, including those inside `bash -c '…'`."""
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
    names = [word.rpartition("/")[2] for word in words]
    for index in range(len(words) - 2):
        option = words[index + 1]
        if names[index] in SHELLS and option.startswith("-") and option.endswith("c"):
            if depth < _MAX_DEPTH:
                yield from runs(words[index + 2].strip("\"'"), depth + 1)
            return
    yield Run(text, words)
