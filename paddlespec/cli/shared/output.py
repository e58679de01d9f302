"""
The one writer of the command line: results, notes, failures, questions.

Names, messages and values come from specs, servers and logs. On one line of a message nothing of
them starts a new line, controls a terminal, or is a command to the runner of a CI job. GitHub's
runner takes `::name::` at the start of a line, and `##[name]` anywhere, on both streams.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from paddlespec.cli.shared.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TextIO

    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.values import Event, Progress

_COMMAND = re.compile(r"(?:\A|[\r\n])\s*::|##\[")


def show_event(event: Event) -> None:
    """Print a change of an object as a result, a remark about the job as a note."""
    if event.subject:
        lines([str(event)])
        sys.stdout.flush()
    else:
        note_event(event)


def note_event(event: Event) -> None:
    """Print every event as a note."""
    note(str(event))


def text(content: str) -> None:
    """Print a result for people, whose lines are safe for a terminal; fenced on GitHub."""
    if not _COMMAND.search(content):
        sys.stdout.write(content)
        return
    with fenced():
        sys.stdout.write(content)


def lines(content: Iterable[str]) -> None:
    """Print results of one line, such as names."""
    sys.stdout.writelines(f"{_line(line)}\n" for line in content)


def data(content: str) -> None:
    """Print JSON or YAML; YAML is written without lines that are commands."""
    sys.stdout.write(content.replace("##[", "\\u0023#["))


def commands(content: str) -> None:
    """Print annotations for GitHub's runner, which are meant as commands."""
    sys.stdout.write(content)


def findings(stream: TextIO, content: str) -> None:
    """Print findings, whose lines of specs and names are visible already."""
    stream.write(content.replace("##[", "##\ufffd["))


def exact(content: str) -> None:
    """Print a file of the user unchanged; the fence goes to stderr, so the output stays valid."""
    with fenced(sys.stderr) if _COMMAND.search(content) else nullcontext():
        sys.stdout.write(content)
        sys.stdout.flush()


def markdown(content: str) -> None:
    """Print Markdown, which a job may also write to its log."""
    from paddlespec.report.width import unbroken

    sys.stdout.write(unbroken(content))


@contextmanager
def fenced(stream: TextIO | None = None) -> Iterator[None]:
    """
    Print to *stream* what others wrote; GitHub's runner takes no commands from it.

    The token is random, so the output cannot end the fence. Files get no fence.
    """
    stream = stream or sys.stdout
    if os.environ.get("GITHUB_ACTIONS") != "true" or _is_file(stream):
        yield
        return
    token = os.urandom(16).hex()
    stream.write(f"::stop-commands::{token}\n")
    stream.flush()
    try:
        yield
    finally:
        # The output may end within a line.
        stream.write(f"\n::{token}::\n")
        stream.flush()


class Notes:
    """Whether `-q` hides lines that are neither results nor errors."""

    are_hidden = False


def note(content: str) -> None:
    """Print a line that is no result."""
    if not Notes.are_hidden:
        _report(content)


def _report(content: str) -> None:
    sys.stderr.write(f"{_line(content)}\n")


def foreign_note(content: str) -> None:
    """Print a line of a server, after everything that was printed before."""
    sys.stdout.flush()
    note(content)


def notes(content: str) -> None:
    """Print lines of this program that are no result; values in them are visible already."""
    for line in content.splitlines():
        note(line)


def remark(content: str) -> None:
    """Print a line in the name of this program, between the output of another one."""
    sys.stdout.flush()
    note(f"paddlespec: {content}")


def problem(message: str, hint: str | None = None) -> None:
    """Print what is wrong, and what to do about it."""
    _report(f"paddlespec: {message}")
    if hint:
        _report(f"  hint: {hint}")


def report_failure(name: str, error: OperationFailed, more: str = "") -> int:
    """Print why a job failed; return the exit code that stands for it."""
    from paddlespec.runs.failures import JobFailed, NoCluster, TimeRanOut

    sys.stdout.flush()
    named = error.message.removeprefix("job ").startswith((f"{name} ", f"{name}: "))
    _report(f"paddlespec: {'' if named else f'{name}: '}{error.message}{more}")
    for line in error.evidence:
        _report(line)
    if error.hint:
        elsewhere = "; or use this machine: --target local" if isinstance(error, NoCluster) else ""
        _report(f"  hint: {error.hint}{elsewhere}")
    if isinstance(error, JobFailed):
        return Exit.job_failed
    return Exit.timeout if isinstance(error, TimeRanOut) else Exit.refused


class Lines:
    """Progress as plain lines; a message is printed once until it changes."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.last: dict[str, str] = {}

    def show(self, name: str, progress: Progress) -> None:
        """Print the progress of a job if it is new."""
        if self.last.get(name) == progress.message:
            return
        self.last[name] = progress.message
        if not self.quiet:
            note(f"{name}: {progress.message}")
            sys.stderr.flush()


def is_interactive() -> bool:
    """Whether questions reach a person."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask a yes-or-no question; anything but yes is no."""
    sys.stderr.write(f"{_line(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _line(content: str) -> str:
    from paddlespec.report.width import visible

    return visible(content)


def _is_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False
