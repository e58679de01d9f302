"""What commands that change a cluster tell: results, notes, failures, questions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from paddlespec.cli.exits import Exit

if TYPE_CHECKING:
    from paddlespec.backend import Event, OperationFailed, Progress


def told(event: Event) -> None:
    """Changes of objects are the result; notes about them are not."""
    stream = sys.stdout if event.subject else sys.stderr
    stream.write(f"{event}\n")
    stream.flush()


def noted(event: Event) -> None:
    note(str(event))


def note(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def failed(name: str, error: OperationFailed, more: str = "") -> int:
    """Tell why a job failed; the exit code that it means."""
    from paddlespec.backend import JobFailed, TimeRanOut

    sys.stdout.flush()
    sys.stderr.write(f"paddlespec: {name}: {error.message}{more}\n")
    if error.hint:
        sys.stderr.write(f"  hint: {error.hint}\n")
    if isinstance(error, JobFailed):
        return Exit.job_failed
    return Exit.timeout if isinstance(error, TimeRanOut) else Exit.refused


class Lines:
    """Progress as plain lines, each said once."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.last: dict[str, str] = {}

    def tell(self, name: str, progress: Progress) -> None:
        if self.last.get(name) == progress.message:
            return
        self.last[name] = progress.message
        if not self.quiet:
            sys.stderr.write(f"{name}: {progress.message}\n")
            sys.stderr.flush()


def is_conversation() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def agreed(question: str) -> bool:
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
