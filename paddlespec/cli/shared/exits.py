"""Exit codes, and the one place where failures become exit codes."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from contextlib import suppress
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
_DISK_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO)


def worst(codes: Iterable[int]) -> int:
    """The exit code of a command that handled several jobs."""
    given = set(codes)
    return next((code for code in _PRECEDENCE if code in given), Exit.done)


class Stop(Exception):
    """End the command with *code*; *message* says what is wrong, *hint* what to do."""

    def __init__(self, code: Exit, message: str = "", hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


def finish(command: Callable[[], object]) -> int:
    """
    Run *command* as the last thing this process does; return the exit code.

    Afterwards signals end the process at once: Python would print a traceback for one that arrives
    while it exits.
    """
    from paddlespec.cli.shared.interrupts import raise_again

    raise_again()
    code: int = Exit.terminated
    try:
        code = run(command)
    except KeyboardInterrupt:  # the second one, while the first is being reported
        code = Exit.interrupted
    except SystemExit:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
    return code


def run(command: Callable[[], object]) -> int:
    """Run *command*; however it ends, return an exit code and print no traceback."""
    from paddlespec.diagnostic import InvalidSpec

    _replace_closed_streams()
    _write_utf8()
    try:
        result = command()
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return Exit.done  # the reader wants no more
    except KeyboardInterrupt:
        _print_error("interrupted")
        return Exit.interrupted
    except InvalidSpec as error:
        from paddlespec.report.text import diagnostics

        sys.stderr.write(diagnostics(error.diagnostics, {}, color=False, excerpts=True))
        return Exit.usage
    except Stop as error:
        if error.message:
            _print_error(error.message, error.hint)
        return error.code
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # how the option parser reacts to one
            return Exit.done
        return error.code if isinstance(error.code, int) else Exit.done if not error.code else 2
    except Exception as error:  # noqa: BLE001 - the last line: users never see a traceback
        return _failed(error)
    return result if isinstance(result, int) else Exit.done


def _replace_closed_streams() -> None:
    """Open os.devnull for streams that were closed before this process began."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _write_utf8() -> None:
    """
    Write the same bytes in every locale.

    What is no text, such as a part of a file name, is escaped. People read stderr, so it keeps the
    encoding of their terminal.
    """
    for stream, encoding in ((sys.stdout, "utf-8"), (sys.stderr, None)):
        if isinstance(stream, io.TextIOWrapper):
            # The last thing it does is to ask for its position, which not every stream has.
            with suppress(OSError):
                stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _discard_output() -> None:
    """Keep Python from flushing into a closed pipe again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(message: str, hint: str | None = None) -> None:
    from paddlespec.report.width import visible

    sys.stderr.write(f"paddlespec: {visible(message)}\n")
    if hint:
        sys.stderr.write(f"  hint: {visible(hint)}\n")


def _failed(error: Exception) -> int:
    from paddlespec.runs.failures import InvalidOption, OperationFailed

    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        _discard_output()
        _print_error(f"cannot write the output: {(error.strerror or '').lower()}")
        return Exit.refused
    if not isinstance(error, (OperationFailed, InvalidOption)):
        return _internal(error)
    _print_error(error.message, error.hint)
    return Exit.usage if isinstance(error, InvalidOption) else Exit.refused


def _internal(error: Exception) -> int:
    """
    Report a fault of this program.

    Only places are named: messages of unexpected errors may hold values of the user's spec.
    """
    import traceback

    from paddlespec import __version__

    frames = traceback.extract_tb(error.__traceback__)[-3:]
    lines = [f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in frames[::-1]]
    _print_error(
        f"internal error: {type(error).__name__} at {' < '.join(lines)} (version {__version__})",
        "report this line with the command; PADDLESPEC_DEBUG=1 shows the traceback",
    )
    if os.environ.get("PADDLESPEC_DEBUG"):
        sys.stderr.write("".join(_traceback(error)))
    return Exit.internal


def _traceback(error: BaseException) -> Iterator[str]:
    """A traceback without messages and variables, which may hold secrets."""
    import traceback

    if (earlier := error.__cause__ or error.__context__) is not None:
        yield from _traceback(earlier)
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__name__}\n"
