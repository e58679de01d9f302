"""How operations on jobs fail; messages are for people and hold no value of their environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class OperationFailed(Exception):
    """A cluster, a network or a process refused or failed; *evidence* are lines that show why."""

    def __init__(self, message: str, hint: str | None = None, evidence: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message, self.hint, self.evidence = message, hint, tuple(evidence)

    @property
    def lines(self) -> tuple[str, ...]:
        """The message and its evidence."""
        return self.message, *self.evidence


class JobFailed(OperationFailed):
    """The job itself ended in failure."""


class TimeRanOut(OperationFailed):
    """The awaited state was not reached in time."""


class NotFound(OperationFailed):
    """No such job, run, replica or object."""


class NoCluster(OperationFailed):
    """Nothing says where the cluster is."""


class Forbidden(OperationFailed):
    """The user lacks the right; repeating the operation cannot help."""


class ConnectionLost(OperationFailed):
    """A stream broke while its remote end may still be running."""


class InvalidOption(Exception):
    """An option of the command line that the chosen place cannot accept: a usage error."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class Interrupted(BaseException):
    """
    The user or the system ends this command.

    Raised in worker threads at their next request, because only the main thread receives signals.
    """
