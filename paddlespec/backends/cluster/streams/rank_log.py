"""The log of one process of a launcher, in a running container."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from paddlespec.backends.cluster.streams import remote_exec
from paddlespec.runs.failures import ConnectionLost, NotFound, OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.streams.remote_exec import Place

_ABSENT = 66
_TAIL = (
    'file="${PADDLE_LOG_DIR:-/tmp/paddle-log}/workerlog.$0"; '
    f'[ -e "$file" ] || exit {_ABSENT}; exec tail "$@" "$file"'
)
_HINT = (
    "the log of a rank exists only while its container runs; to keep it, set `logs` to a folder "
    "on a volume"
)


class _Output:
    """The streams of a command without input."""

    terminal = reads = False

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self.errors = b""

    def typed(self) -> bytes | None:
        return None

    def size(self) -> tuple[int, int]:
        return 80, 24

    def show(self, data: bytes, *, error: bool) -> None:
        if error:
            self.errors += data
        else:
            self._write(data)


def copy(
    client: Client,
    place: Place,
    rank: int,
    lines: int | None,
    write: Callable[[bytes], None],
    *,
    follow: bool,
) -> None:
    """Write the log of process *rank*; with *follow*, until the container ends."""
    if not place.pod:
        raise NotFound("the replica has no pod", _HINT)
    options = ["-n", "+1" if lines is None else str(lines), *(["-F"] if follow else [])]
    output = _Output(write)
    command = ["sh", "-c", _TAIL, str(rank), *options]
    code = 0
    try:
        # A container that ends takes the connection with it.
        with suppress(*([ConnectionLost] if follow else [])):
            code = remote_exec.execute(client, place, command, output)
    except OperationFailed as error:
        error.hint = error.hint or _HINT
        raise
    if code == _ABSENT:
        raise NotFound(f"{place.pod} has no log of rank {rank}", _HINT)
    if code and not follow:
        reason = output.errors.decode(errors="replace").strip()
        raise OperationFailed(f"cannot read the log of rank {rank}: {reason}", _HINT)
