"""
Run a command that sees folders of this machine at the paths of the cluster.

This script needs only the standard library: `python -I -S namespace_exec.py PLAN COMMAND...`. It
sets up a mount namespace and replaces itself with the command, so signals and exit codes are those
of the command.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys
from typing import Any

_NEWNS, _NEWUSER = 0x00020000, 0x10000000
_RDONLY, _REMOUNT, _BIND, _REC, _SLAVE = 1, 32, 4096, 16384, 1 << 19
# Flags of existing mounts, which a remount would clear.
_KEPT = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}


def main(arguments: list[str]) -> None:
    """Set up the mounts of the plan, then replace this process with the command."""
    plan = json.loads(arguments[0])
    command = arguments[1:]
    try:
        enter(plan["root"], [tuple(bind) for bind in plan["binds"]])
        os.chdir(plan["cwd"])
    except OSError as error:
        sys.exit(f"paddlespec: cannot mount the folders of the job: {error}")
    try:
        os.execvp(command[0], command)  # noqa: S606 - the user's command, no shell between
    except OSError as error:
        sys.stderr.write(f"paddlespec: {command[0]}: {error.strerror}\n")
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)


def enter(root: str, binds: list[tuple[str, str, bool]]) -> None:
    """
    Make *root* the root folder, with everything of the current one and *binds* on top.

    A bind is a source, a path, and whether it is read-only. If the path does not exist, its parent
    folders are rebuilt in memory, with their entries mounted into them.
    """
    _unshare()
    _mount("none", "/", None, _SLAVE | _REC)
    _mount("tmpfs", root, "tmpfs", 0)
    places = sorted(binds, key=lambda bind: bind[1].count("/"))
    outer = [bind for bind in places if not _is_inside(bind[1], places)]
    made = {"/"}
    for _, place, _ in outer:
        while not os.path.lexists(place):
            place = os.path.dirname(place)
            made.add(place)
    made |= {above for folder in made for above in _above(folder)}
    for folder in sorted(made):
        _rebuild(root, folder, made)
    for source, place, read_only in places:
        target = root + place
        _make(target, source)
        _mount(source, target, None, _BIND | _REC)
        if read_only:
            kept = sum(new for old, new in _KEPT.items() if os.statvfs(target).f_flag & old)
            _mount("none", target, None, _BIND | _REMOUNT | _RDONLY | kept)
    os.chroot(root)


def _unshare() -> None:
    """Enter a mount namespace, inside a user namespace if necessary."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEWNS) == 0:
        return
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_NEWUSER | _NEWNS) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _mount(source: str, place: str, kind: str | None, flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    texts = [os.fsencode(text) if text is not None else None for text in (source, place, kind)]
    if libc.mount(*texts, ctypes.c_ulong(flags), None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), place.encode("utf-8", "replace").decode())


def _is_inside(place: str, places: list[tuple[str, str, bool]]) -> bool:
    return any(place != other and place.startswith(f"{other}/") for _, other, _ in places)


def _above(folder: str) -> Any:
    while folder != "/":
        folder = os.path.dirname(folder)
        yield folder


def _rebuild(root: str, folder: str, made: set[str]) -> None:
    """Rebuild *folder* below *root* with all its entries, except those that are rebuilt too."""
    here = root + folder
    os.makedirs(here, exist_ok=True)
    if not os.path.isdir(folder):
        return
    for entry in os.scandir(folder):
        if entry.path in made or entry.path == root:
            continue
        copy = os.path.join(here, entry.name)
        try:
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), copy)
                continue
            _make(copy, entry.path)
            _mount(entry.path, copy, None, _BIND | _REC)
        except OSError:  # deleted meanwhile, or not readable
            continue
    os.chmod(here, stat.S_IMODE(os.stat(folder).st_mode))


def _make(place: str, source: str) -> None:
    """Make a file or a folder to mount *source* on."""
    if os.path.lexists(place):
        return
    if os.path.isdir(source):
        os.makedirs(place)
        return
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="ascii"):
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
