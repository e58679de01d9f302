"""Run a command beside a replica of a rehearsal, with its variables, folder and mounts."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from paddlespec.backends.local.prepare.view import HELPER
from paddlespec.backends.local.store import launch
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backends.local.store.launch import Process


def execute(process: Process, command: Sequence[str], report: Callable[[str], None]) -> int:
    """Run *command* as *process* was run; return its exit code as in a shell."""
    if process.container is not None:
        return _in_container(process.argv[0], process.container.name, command)
    hidden = sorted(name for name in process.secret if launch.is_hidden(process.env.get(name, "")))
    if hidden:
        report(f"secret values are not stored; unset variables: {', '.join(hidden)}")
    env = {name: value for name, value in process.env.items() if name not in hidden}
    argv = [*_mounts(process), *command]
    try:
        code = subprocess.run(argv, env=env, cwd=process.cwd, check=False).returncode
    except OSError as error:
        what = process.cwd if not os.path.isdir(process.cwd) else command[0]
        raise OperationFailed(f"{what}: {(error.strerror or 'cannot be run').lower()}") from None
    return code if code >= 0 else 128 - code


def _in_container(program: str, name: str, command: Sequence[str]) -> int:
    """Run *command* in the container *name*, with all variables of its replica, also secrets."""
    from paddlespec.backends.local.machine import podman

    terminal = ("--tty",) if sys.stdin.isatty() and sys.stdout.isatty() else ()
    return podman.execute([program, "exec", "--interactive", *terminal, name, *command])


def _mounts(process: Process) -> tuple[str, ...]:
    """Return the command prefix that provides the mounts of *process*, if it has any."""
    if HELPER not in process.argv:
        return ()
    return process.argv[: process.argv.index(HELPER) + 2]
