"""A command beside a replica of a rehearsal: with its variables, its folder and its mounts."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from paddlespec.backend import OperationFailed
from paddlespec.local import launch
from paddlespec.local.view import HELPER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.local.launch import Process


def execute(process: Process, command: Sequence[str], tell: Callable[[str], None]) -> int:
    """Run *command* as *process* was run, until it ends; its exit code as in a shell."""
    hidden = sorted(name for name in process.secret if launch.is_hidden(process.env.get(name, "")))
    if hidden:
        tell(f"without the values of secrets, which are not kept: {', '.join(hidden)}")
    env = {name: value for name, value in process.env.items() if name not in hidden}
    argv = [*_mounts(process), *command]
    try:
        code = subprocess.run(argv, env=env, cwd=process.cwd, check=False).returncode
    except OSError as error:
        what = process.cwd if not os.path.isdir(process.cwd) else command[0]
        raise OperationFailed(f"{what}: {(error.strerror or 'cannot be run').lower()}") from None
    return code if code >= 0 else 128 - code


def _mounts(process: Process) -> tuple[str, ...]:
    """What shows the mounts of *process* to a command, if it has any."""
    if HELPER not in process.argv:
        return ()
    return process.argv[: process.argv.index(HELPER) + 2]
