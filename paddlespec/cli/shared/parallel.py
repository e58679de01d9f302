"""Work on many files side by side: copies of this process, each with a share."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Result = TypeVar("Result")
# Below this many files a second process costs more than it saves.
_FEWEST = 100


def spread(work: Callable[[Sequence[str]], Result], items: Sequence[str]) -> list[Result]:
    """
    The results of *work* for consecutive shares of *items*, in order.

    Results must be picklable. What a copy raises is raised here, as its own type when it is.
    """
    workers = _processors() if len(items) >= _FEWEST and hasattr(os, "fork") else 1
    if workers == 1:
        return [work(items)]
    size = -(-len(items) // workers)
    shares = [items[start : start + size] for start in range(0, len(items), size)]
    sys.stdout.flush()
    copies = [_start(work, share) for share in shares[1:]]
    try:
        first = work(shares[0])
    finally:
        outcomes: list[Result | BaseException] = [_finish(*copy) for copy in copies]
    results = [first]
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        results.append(outcome)
    return results


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(work: Callable[[Sequence[str]], Result], share: Sequence[str]) -> tuple[int, int]:
    """Fork a copy that works on *share*; its process and the pipe with its pickled result."""
    import pickle

    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        return process, reader
    os.close(reader)
    try:
        outcome: object = work(share)
    except BaseException as error:  # noqa: BLE001 - it is raised again by the parent
        outcome = error
    with os.fdopen(writer, "wb") as pipe:
        pickle.dump(outcome, pipe, pickle.HIGHEST_PROTOCOL)
    os._exit(0)


def _finish(process: int, reader: int) -> Any:
    """What a copy came to, once it has ended."""
    import pickle

    with os.fdopen(reader, "rb") as pipe:
        content = pipe.read()
    os.waitpid(process, 0)
    if not content:
        raise ChildProcessError("a helper process ended early")
    return pickle.loads(content)  # noqa: S301 - written by our own copy
