"""
How a process sees the job's folders: at their true paths, or at rewritten ones.

True paths need a mount namespace, which some machines do not allow. There, paths in variables and
in the command are rewritten.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.local.prepare.mounts import Rewriting, holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.backends.local.prepare.mounts import Place


HELPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "namespace_exec.py")


class Seen(NamedTuple):
    """A command to start, its folder, and the *rewriting* for its variables."""

    argv: tuple[str, ...]
    cwd: str
    rewriting: Rewriting


def can_mount(folder: str) -> bool:
    """Test in *folder* whether processes may have their own mounts."""
    if sys.platform != "linux":
        return False
    from subprocess import DEVNULL, run

    try:
        attempt = run(
            [*_inside(folder, [], "/"), "true"],
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            timeout=20,
            check=False,
        )
    except (OSError, ValueError):
        return False
    return attempt.returncode == 0


def hides(places: Iterable[Place], needed: Iterable[str]) -> bool:
    """Report whether mounts at the true paths would hide files that the processes need."""
    paths = [resolve(path) for path in needed for resolve in (os.path.abspath, os.path.realpath)]
    return any(
        holds(os.path.realpath(place.path), path) and not _is_same(place)
        for place in places
        for path in paths
    )


def at_true_paths(
    command: Sequence[str], workdir: str, here: str, places: Sequence[Place], root: str
) -> Seen:
    """Return *command* with *places* at the job's own paths; *root* is an empty folder."""
    binds = [
        (os.path.realpath(place.here), os.path.realpath(place.path), place.read_only)
        for place in places
        if not _is_same(place)
    ]
    argv = (*_inside(root, binds, workdir), *command) if binds else tuple(command)
    return Seen(argv, here, Rewriting([]))


def under_other_paths(command: Sequence[str], here: str, places: Sequence[Place]) -> Seen:
    """Return *command* with the paths of this machine."""
    rewriting = Rewriting(places)
    return Seen(tuple(rewriting.command(command)), here, rewriting)


def _is_same(place: Place) -> bool:
    return os.path.realpath(place.here) == os.path.realpath(place.path) and not place.read_only


def _inside(root: str, binds: Sequence[tuple[str, str, bool]], cwd: str) -> list[str]:
    plan = json.dumps({"root": os.path.realpath(root), "binds": binds, "cwd": cwd})
    return [sys.executable, "-I", "-S", HELPER, plan]
