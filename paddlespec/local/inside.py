"""
Run a command that sees folders of this machine at the paths of the cluster.

It is a script of the standard library alone, started as `python -I -S inside.py PLAN COMMAND...`.
A mount namespace is set up and the command takes this process's place: no process stands between
the command and who watches it, so that signals and exit codes are its own.
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
# Flags of a mount that others set: to leave one out would be to take it away.
_KEPT = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}


def main(arguments: list[str]) -> None:
    """Set up what the plan says, then become the command."""
    plan = json.loads(arguments[0])
    command = arguments[1:]
    try:
        enter(plan["root"], [tuple(each) for each in plan["binds"]])
        os.chdir(plan["cwd"])
    except OSError as error:
        sys.exit(f"paddlespec: the mounts of the job: {error}")
    try:
        os.execvp(command[0], command)  # noqa: S606 - the user's command, no shell between
    except OSError as error:
        sys.stderr.write(f"paddlespec: {command[0]}: {error.strerror}\n")
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)


def enter(root: str, binds: list[tuple[str, str, bool]]) -> None:
    """
    Make *root* the root folder, with everything that is there now and *binds* on top.

    Each bind is a source, a place, and whether it is read-only. Where a place does not exist, the
    folders above it are made anew in memory, and what they hold is mounted into them.
    """
    _unshare()
    _mount("none", "/", None, _SLAVE | _REC)
    _mount("tmpfs", root, "tmpfs", 0)
    places = sorted(binds, key=lambda each: each[1].count("/"))
    outer = [each for each in places if not _is_inside(each[1], places)]
    made = {"/"}
    for _, place, _ in outer:
        while not os.path.lexists(place):
            place = os.path.dirname(place)
            made.add(place)
    made |= {above for each in made for above in _above(each)}
    for folder in sorted(made):
        _rebuild(root, folder, made)
    for source, place, read_only in places:
        here = root + place
        _make(here, source)
        _mount(source, here, None, _BIND | _REC)
        if read_only:
            kept = sum(new for old, new in _KEPT.items() if os.statvfs(here).f_flag & old)
            _mount("none", here, None, _BIND | _REMOUNT | _RDONLY | kept)
    os.chroot(root)


def _unshare() -> None:
    """A mount namespace: by right where we have it, else with a user namespace around it."""
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
    texts = [os.fsencode(each) if each is not None else None for each in (source, place, kind)]
    if libc.mount(*texts, ctypes.c_ulong(flags), None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), place.encode("utf-8", "replace").decode())


def _is_inside(place: str, places: list[tuple[str, str, bool]]) -> bool:
    return any(place != each and place.startswith(f"{each}/") for _, each, _ in places)


def _above(folder: str) -> Any:
    while folder != "/":
        folder = os.path.dirname(folder)
        yield folder


def _rebuild(root: str, folder: str, made: set[str]) -> None:
    """Make *folder* anew below *root*, with everything that it holds but what is made as well."""
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
        except OSError:  # gone meanwhile, or nothing that we could see anyway
            continue
    os.chmod(here, stat.S_IMODE(os.stat(folder).st_mode))


def _make(place: str, source: str) -> None:
    """Something of the kind of *source* to mount it on."""
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
