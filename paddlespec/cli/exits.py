"""Exit codes, and the one place where failures become them."""

from __future__ import annotations

import errno
import os
import sys
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Exit(IntEnum):
    """One table for all commands; documented in docs/commands.md."""

    done = 0
    no = 1
    usage = 2
    refused = 3
    job_failed = 4
    timeout = 5
    internal = 70
    interrupted = 130
    terminated = 143


_FIRST = (Exit.terminated, Exit.interrupted, Exit.internal, Exit.usage, Exit.refused)
_PRECEDENCE = (*_FIRST, Exit.job_failed, Exit.timeout, Exit.no)
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO)


def worst(codes: Iterable[int]) -> int:
    """The code of a command that handled several specs."""
    found = set(codes)
    return next((each for each in _PRECEDENCE if each in found), Exit.done)


class Stop(Exception):
    """The command cannot go on; *message* is for people, *hint* says what to do."""

    def __init__(self, code: Exit, message: str = "", hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


def run(command: Callable[[], object]) -> int:
    """Run *command*; every way in which it can end becomes an exit code and never a traceback."""
    from paddlespec.diagnostic import InvalidSpec

    _open_streams()
    try:
        result = command()
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_output()
        return Exit.done  # the reader has gone, and wants no more
    except KeyboardInterrupt:
        _tell("interrupted")
        return Exit.interrupted
    except InvalidSpec as error:
        from paddlespec.report.text import diagnostics

        sys.stderr.write(diagnostics(error.diagnostics, {}, color=False, excerpts=True))
        return Exit.usage
    except Stop as error:
        if error.message:
            _tell(error.message, error.hint)
        return error.code
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # the option parser's own answer to it
            return Exit.done
        return error.code if isinstance(error.code, int) else Exit.done if not error.code else 2
    except Exception as error:  # noqa: BLE001 - the last line: users never see a traceback
        return _failed(error)
    return result if isinstance(result, int) else Exit.done


def _open_streams() -> None:
    """Put something in the place of streams that were closed before we began."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _give_up_output() -> None:
    """Keep Python from flushing once more, at its end, into what takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(message: str, hint: str | None = None) -> None:
    sys.stderr.write(f"paddlespec: {message}\n")
    if hint:
        sys.stderr.write(f"  hint: {hint}\n")


def _failed(error: Exception) -> int:
    from paddlespec.backend import OperationFailed

    if isinstance(error, OSError) and error.errno in _FULL:
        _give_up_output()
        _tell(f"cannot write the output: {(error.strerror or '').lower()}")
        return Exit.refused
    if not isinstance(error, OperationFailed):
        return _internal(error)
    _tell(error.message, error.hint)
    return Exit.refused


def _internal(error: Exception) -> int:
    """
    Report a fault of our own.

    Only places are named: messages of unexpected errors may hold values of the user's spec.
    """
    import traceback

    from paddlespec import __version__

    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(f"{os.path.basename(each.filename)}:{each.lineno}" for each in frames[::-1])
    _tell(
        f"internal error: {type(error).__name__} at {where} (version {__version__})",
        "please report this line and the command; PADDLESPEC_DEBUG=1 shows the traceback",
    )
    if os.environ.get("PADDLESPEC_DEBUG"):
        sys.stderr.write("".join(_places(error)))
    return Exit.internal


def _places(error: BaseException) -> Iterator[str]:
    """A traceback of lines of our code alone; texts of errors and variables may be secrets."""
    import traceback

    if (earlier := error.__cause__ or error.__context__) is not None:
        yield from _places(earlier)
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__name__}\n"
