"""
How a process comes to see the job's folders: at their true paths, or under others.

The true paths need a mount namespace, which some machines do not grant; then every path that a
variable or a word of the command begins with is rewritten.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.local.mounts import Rewriting, holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.local.mounts import Place


HELPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py")


class Seen(NamedTuple):
    """A command as it is started, and where; the texts of variables go through *rewriting*."""

    argv: tuple[str, ...]
    cwd: str
    rewriting: Rewriting


def can_mount(folder: str) -> bool:
    """Whether this machine lets processes have mounts of their own; tried out in *folder*."""
    if sys.platform != "linux":
        return False
    from subprocess import DEVNULL, run

    try:
        tried = run(
            [*_inside(folder, [], "/"), "true"],
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            timeout=20,
            check=False,
        )
    except (OSError, ValueError):
        return False
    return tried.returncode == 0


def hides(places: Iterable[Place], needed: Iterable[str]) -> bool:
    """Whether mounts at the true paths would cover what the processes of this machine need."""
    paths = [path for each in needed for path in (os.path.abspath(each), os.path.realpath(each))]
    return any(
        holds(os.path.realpath(place.path), path) and not _is_same(place)
        for place in places
        for path in paths
    )


def at_true_paths(
    command: Sequence[str], workdir: str, here: str, places: Sequence[Place], root: str
) -> Seen:
    """*command* with *places* where the job expects them; *root* is an empty folder."""
    binds = [
        (os.path.realpath(each.here), os.path.realpath(each.path), each.read_only)
        for each in places
        if not _is_same(each)
    ]
    argv = (*_inside(root, binds, workdir), *command) if binds else tuple(command)
    return Seen(argv, here, Rewriting([]))


def under_other_paths(command: Sequence[str], here: str, places: Sequence[Place]) -> Seen:
    """*command* with the paths of this machine."""
    rewriting = Rewriting(places)
    return Seen(tuple(rewriting.command(command)), here, rewriting)


def _is_same(place: Place) -> bool:
    return os.path.realpath(place.here) == os.path.realpath(place.path) and not place.read_only


def _inside(root: str, binds: Sequence[tuple[str, str, bool]], cwd: str) -> list[str]:
    plan = json.dumps({"root": os.path.realpath(root), "binds": binds, "cwd": cwd})
    return [sys.executable, "-I", "-S", HELPER, plan]
