"""
The folder that a spec may read: its git repository or, without one, its own folder.

What the command line names may be anywhere. What a file names, by a path or through a link, must
be inside the boundary of that file, or in a folder that the command line allows.
"""

from __future__ import annotations

import os
from typing import NamedTuple

HINT = "move it into the repository, or allow its folder: --allow-outside DIR"


class Boundary(NamedTuple):
    """The real paths of folders that may be read: the top, and those that were allowed."""

    top: str
    is_repository: bool
    allowed: tuple[str, ...] = ()

    def holds(self, path: str) -> bool:
        """Whether *path*, with all links resolved, is inside."""
        return is_inside(_real(path), self.top) or self.allows(path)

    def allows(self, path: str) -> bool:
        """Whether *path* is inside a folder that the command line allows."""
        real = _real(path)
        return any(is_inside(real, folder) for folder in self.allowed)

    def __str__(self) -> str:
        return "the repository" if self.is_repository else "the folder of the spec"


def boundary(folder: str, allowed: tuple[str, ...] = ()) -> Boundary:
    """
    Return the boundary of the files in *folder*; *allowed* are folders of the command line.

    A link inside a repository that leaves it does not lead into another repository: the boundary
    stays with the first, so that the target is outside.
    """
    path = os.path.abspath(folder or ".")
    top = None
    for prefix in _prefixes(path):
        if top is not None and os.path.islink(prefix) and not is_inside(_real(prefix), top):
            break
        if os.path.lexists(os.path.join(prefix, ".git")):
            top = _real(prefix)
    roots = tuple(map(_real, allowed))
    return Boundary(_real(path), False, roots) if top is None else Boundary(top, True, roots)


def is_open_file(path: str) -> bool:
    """Whether *path*, as the user writes it, names a pipe or file that the shell has opened."""
    return path.startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/")) and ".." not in path


def is_inside(path: str, folder: str) -> bool:
    """Whether the real path *path* is *folder* or below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def is_foreign(path: str, folder: str) -> bool:
    """
    Whether another user owns *path*, a file that applies to the specs in *folder*.

    As in git, root and the user are trusted, and with sudo the user who called it. The owner of
    *folder* is trusted too: a user who can change the spec gains nothing from another file.
    """
    if not hasattr(os, "getuid"):
        return False
    trusted = {0, os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdecimal():
        trusted.add(int(os.environ["SUDO_UID"]))
    try:
        owner = os.stat(path).st_uid
        return owner not in trusted and owner != os.stat(folder or ".").st_uid
    except OSError:
        return False


def _prefixes(path: str) -> list[str]:
    """Return *path* and the folders above it, from the root down."""
    prefixes = [path]
    while (parent := os.path.dirname(prefixes[-1])) != prefixes[-1]:
        prefixes.append(parent)
    return prefixes[::-1]


def _real(path: str) -> str:
    """Resolve all links; a path that cannot exist is outside of every folder."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return ""
