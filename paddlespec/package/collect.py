"""
Which files of a folder travel with a job.

What is found depends on the files alone: ignore files count up to the top of the repository, but
neither the user's own git settings nor the order of the file system do. What git does not keep
does not travel either: an empty folder is no file.
"""

from __future__ import annotations

import os
import posixpath
import stat
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.package import PackageFault
from paddlespec.package.walk import File, Walk, reason, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.model.run import Package

_MOST_FAULTS = 20


class Collection(NamedTuple):
    """The files of a package in the order of their paths; usable when there are no faults."""

    files: tuple[File, ...] = ()
    total: int = 0
    faults: tuple[PackageFault, ...] = ()


def collect(package: Package, folder: str, spec: str | None = None) -> Collection:
    """
    The files of *package* that travel, and all that is wrong with it.

    *folder* is the spec's own, and *spec* its file. Specs stay behind unless a pattern takes them
    back, since a changed label would otherwise be changed code.
    """
    root = os.path.join(folder, package.path)
    if missing := _missing(root, package.path):
        return Collection(faults=(missing,))
    walk = Walk(os.path.realpath(root), os.path.realpath(spec) if spec else None)
    walk.exclude(package.exclude)
    walk.run()
    files = tuple(sorted(walk.files))
    faults = [*walk.faults, *_disagreements(package, files, complete=not walk.is_over)]
    faults.sort(key=lambda fault: fault.message)
    if len(faults) > _MOST_FAULTS:
        more = PackageFault(f"{len(faults) - _MOST_FAULTS:,} more faults like these")
        faults = [*faults[:_MOST_FAULTS], more]
    return Collection(files, sum(each.size for each in files), tuple(faults))


def requirements(package: Package, collection: Collection) -> str | None:
    """The requirements file in the package: the one named, or the one that is simply there."""
    if package.requirements:
        return posixpath.normpath(package.requirements)
    name = "requirements.txt"
    return name if any(each.path == name for each in collection.files) else None


def _missing(root: str, path: str) -> PackageFault | None:
    try:
        mode = os.stat(root).st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            hint = "the path is relative to the folder of the spec"
            return PackageFault(f'there is no folder "{shown(path)}"', hint)
        return PackageFault(f'"{shown(path)}" cannot be read: {reason(error)}')
    if stat.S_ISDIR(mode):
        return None
    hint = f'name its folder, "{shown(posixpath.dirname(path) or ".")}"'
    return PackageFault(f'"{shown(path)}" is a file, expected a folder', hint)


def _disagreements(
    package: Package, files: tuple[File, ...], *, complete: bool
) -> Iterator[PackageFault]:
    """What the rest of the package says that its files do not bear out."""
    if posixpath.normpath(package.into).split("/")[0] in ("..", ""):
        hint = "`into` is a folder below `workdir`, such as demo"
        yield PackageFault(f'into "{package.into}" is outside of workdir', hint)
    wanted = package.requirements and posixpath.normpath(package.requirements)
    if wanted and complete and all(each.path != wanted for each in files):
        hint = "it is missing in the package, or ignored"
        yield PackageFault(f'requirements "{package.requirements}" does not travel', hint)
