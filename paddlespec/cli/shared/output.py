"""What commands print: results, notes, failures, questions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from paddlespec.cli.shared.exits import Exit

if TYPE_CHECKING:
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.values import Event, Progress


def show_event(event: Event) -> None:
    """Print a change of an object as a result, a remark about the job as a note."""
    stream = sys.stdout if event.subject else sys.stderr
    stream.write(f"{event}\n")
    stream.flush()


def note_event(event: Event) -> None:
    """Print every event as a note."""
    note(str(event))


def note(text: str) -> None:
    """Print a line that is no result."""
    sys.stderr.write(f"{text}\n")


def foreign_note(text: str) -> None:
    """Print a line that may hold text of a server: on one line, without control characters."""
    from paddlespec.report.width import visible

    sys.stdout.flush()
    note(visible(text))


def remark(text: str) -> None:
    """Print a line in the name of this program, between the output of another one."""
    sys.stdout.flush()
    note(f"paddlespec: {text}")


def report_failure(name: str, error: OperationFailed, more: str = "") -> int:
    """Print why a job failed; return the exit code that stands for it."""
    from paddlespec.runs.failures import JobFailed, TimeRanOut

    sys.stdout.flush()
    sys.stderr.write(f"paddlespec: {name}: {error.message}{more}\n")
    if error.hint:
        sys.stderr.write(f"  hint: {error.hint}\n")
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
            sys.stderr.write(f"{name}: {progress.message}\n")
            sys.stderr.flush()


def is_interactive() -> bool:
    """Whether questions reach a person."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask a yes-or-no question; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
