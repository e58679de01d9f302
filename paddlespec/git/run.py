"""
Run git within bounds, without programs that a repository names.

A repository can name hooks, filters and a file monitor in its configuration. Another repository
can be committed as ordinary files, and git would use its configuration in that folder.
"""

from __future__ import annotations

import os
import subprocess
from tempfile import TemporaryFile
from threading import Timer
from typing import TYPE_CHECKING

from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_ANSWER_BYTES = 64 << 20
MAX_SECONDS = 120
FOLDER_HINT = "compare with a folder of manifests: --against DIR"
_MAX_ERROR_BYTES = 64 << 10

# These select the settings of the user. All other variables of git are removed: inside a hook,
# GIT_DIR and GIT_INDEX_FILE would point git to another repository.
_KEPT = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"))
_QUIET = {
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would fetch missing objects
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.splitIndex=false"),
    *("core.sparseCheckout=false", "core.untrackedCache=false", "safe.bareRepository=explicit"),
)


class GitFailed(OperationFailed):
    """Raised if git exits with an error, with its message."""


class GitTooMuch(OperationFailed):
    """Raised if git answers too much, or takes too long."""


def run(
    arguments: Iterable[str],
    cwd: str,
    stdin: bytes = b"",
    variables: dict[str, str] | None = None,
) -> bytes:
    """Run git and return its output; raises `OperationFailed`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    with TemporaryFile() as asked, TemporaryFile() as errors:
        asked.write(stdin)
        asked.seek(0)
        try:
            process = subprocess.Popen(
                ["git", *settings, *arguments],
                cwd=cwd,
                env={**kept, **_QUIET, **(variables or {})},
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        except FileNotFoundError:
            raise OperationFailed("git is not installed", FOLDER_HINT) from None
        answer = _answer(process)
        if not process.returncode:
            return answer
        errors.seek(0)
        raise _failed(errors.read(_MAX_ERROR_BYTES).decode("utf-8", "replace"))


def _answer(process: subprocess.Popen[bytes]) -> bytes:
    """Return the output of *process*, which has ended; raises `GitTooMuch`."""
    late = []

    def end() -> None:
        late.append(True)
        process.kill()

    timer = Timer(MAX_SECONDS, end)
    timer.daemon = True
    timer.start()
    try:
        with process:
            assert process.stdout is not None
            answer = process.stdout.read(MAX_ANSWER_BYTES + 1)
            if len(answer) > MAX_ANSWER_BYTES:
                process.kill()
    except BaseException:
        process.kill()
        raise
    finally:
        timer.cancel()
    if len(answer) > MAX_ANSWER_BYTES:
        raise GitTooMuch(f"git answers more than {MAX_ANSWER_BYTES >> 20} MiB", FOLDER_HINT)
    if late and process.returncode:
        raise GitTooMuch(f"git takes more than {MAX_SECONDS} seconds", FOLDER_HINT)
    return answer


def _failed(errors: str) -> GitFailed:
    lines = errors.strip().splitlines() or ["git failed"]
    error = next((line for line in lines if line.startswith("fatal: ")), lines[-1])
    hint = None
    if "not allowed" in error or "promisor" in error or "bad object" in error:
        hint = "fetch the missing objects: git fetch --refetch"
    return GitFailed(error.removeprefix("fatal: "), hint)
