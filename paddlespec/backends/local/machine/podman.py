"""
Podman on this machine: images, and containers by name.

Podman has no daemon: a container is below the process that starts it, as any other program.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.backends.local.store.launch import Launch

_PLATFORM: str = sys.platform
_SECONDS = 60
_INSTALL = (
    "install it: apt-get install podman crun catatonit, or dnf install podman; "
    "without --in-image, a rehearsal needs no container"
)


def program(shell: Mapping[str, str]) -> str:
    """Return the path of podman; raise `OperationFailed` where there is none."""
    if _PLATFORM != "linux":
        message = "--in-image needs Linux: elsewhere podman runs containers in a virtual machine"
        raise OperationFailed(message, "rehearse without --in-image")
    path = shutil.which("podman", path=shell.get("PATH"))
    if path is None:
        raise OperationFailed("--in-image needs podman, which is not installed", _INSTALL)
    return path


def provide(podman: str, image: str, shell: Mapping[str, str]) -> None:
    """Pull *image* unless this machine has it."""
    if _ran([podman, "image", "exists", image], shell).returncode == 0:
        return
    sys.stderr.write(f"pulling {image}\n")
    # The progress goes to the user's terminal.
    done = subprocess.run(
        [podman, "pull", image],
        env=dict(shell),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None if sys.stderr.isatty() else subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        message = f"cannot pull {image}{_reason(done)}"
        raise OperationFailed(message, "sign in to its registry: podman login")


def probe(argv: Sequence[str], env: Mapping[str, str], name: str) -> None:
    """Create and remove the container *name* of the command `podman run` *argv*."""
    podman = argv[0]
    done = _ran([podman, "create", *argv[2:]], env)
    _ran([podman, "rm", "--force", "--ignore", name], env)
    if done.returncode != 0:
        reason = _reason(done)
        lacks_init = "container-init" in reason or "catatonit" in reason
        hint = "install catatonit: apt-get install catatonit" if lacks_init else None
        raise OperationFailed(f"podman cannot create a container{reason}", hint)


def remove(launch: Launch) -> int:
    """End and remove the containers of *launch* that exist; return how many there were."""
    names = [process.container.name for process in launch.processes if process.container]
    if not names:
        return 0
    podman = launch.processes[0].argv[0]
    left = _ran([podman, "ps", "--all", "--format", "{{.Names}}"]).stdout.decode().split()
    ours = sorted(set(names) & set(left))
    if ours:
        _ran([podman, "rm", "--force", "--ignore", "--time", "0", *ours])
    return len(ours)


def execute(argv: Sequence[str]) -> int:
    """Run a command of podman with the streams of this process; return its exit code."""
    try:
        code = subprocess.run(argv, check=False).returncode
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OperationFailed(f"cannot run {argv[0]}: {reason}") from None
    return code if code >= 0 else 128 - code


def _ran(
    argv: Sequence[str], env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of podman; one that cannot be run, or does not end, has failed."""
    try:
        return subprocess.run(
            argv,
            env=None if env is None else dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return subprocess.CompletedProcess(argv, 125, b"", str(error).encode())


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the last line of podman, which says why it failed, after a colon."""
    lines = (done.stderr or b"").decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1].removeprefix('Error: ')}" if lines else ""
