"""
Collect the files of a package.

The result depends only on the files: ignore files up to the root of the repository apply, but
neither git settings of the user nor the order of the file system. Empty folders are left out, as
in git.
"""

from __future__ import annotations

import os
import posixpath
import stat
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.boundary import boundary
from paddlespec.package import PackageFault
from paddlespec.package.walk import (
    File,
    Left,
    Walk,
    reason,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.boundary import Boundary
    from paddlespec.model.run import Package

_MAX_FAULTS = 20


class Collection(NamedTuple):
    """
    The files of a package, sorted by path; complete unless there are faults.

    `left` holds what a pattern excludes, as far as the walk met it.
    """

    files: tuple[File, ...] = ()
    total: int = 0
    faults: tuple[PackageFault, ...] = ()
    left: tuple[Left, ...] = ()


def collect(
    package: Package, folder: str, spec: str | None = None, limit: Boundary | None = None
) -> Collection:
    """
    Collect the files and faults of *package*.

    *folder* is the folder of the spec file *spec*. Specs are left out unless a pattern includes
    them; otherwise changing a label would change the code. Ignore files are inside *limit*.
    """
    root = os.path.join(folder, package.path)
    if missing := _missing(root, package.path):
        return Collection(faults=(missing,))
    limit = limit or boundary(folder)
    walk = Walk(os.path.realpath(root), os.path.realpath(spec) if spec else None, limit)
    walk.run(package.exclude)
    files = tuple(sorted(walk.files))
    faults = [*walk.faults, *_invalid_settings(package, files, complete=not walk.is_over)]
    faults.sort(key=lambda fault: fault.message)
    if len(faults) > _MAX_FAULTS:
        more = PackageFault(f"{len(faults) - _MAX_FAULTS:,} more problems of this kind")
        faults = [*faults[:_MAX_FAULTS], more]
    total = sum(file.size for file in files)
    return Collection(files, total, tuple(faults), tuple(sorted(walk.left)))


def requirements(package: Package, collection: Collection) -> str | None:
    """Return the requirements file of the package: the one it names, or requirements.txt."""
    if package.requirements:
        return posixpath.normpath(package.requirements)
    name = "requirements.txt"
    return name if any(file.path == name for file in collection.files) else None


def _missing(root: str, path: str) -> PackageFault | None:
    try:
        mode = os.stat(root).st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            hint = "use a path relative to the folder of the spec"
            return PackageFault(f'folder "{shown(path)}" not found', hint)
        return PackageFault(f'cannot read "{shown(path)}": {reason(error)}')
    if stat.S_ISDIR(mode):
        return None
    hint = f'use its folder, "{shown(posixpath.dirname(path) or ".")}"'
    return PackageFault(f'"{shown(path)}" is a file, not a folder', hint)


def _invalid_settings(
    package: Package, files: tuple[File, ...], *, complete: bool
) -> Iterator[PackageFault]:
    """Report settings of the package that its files do not match."""
    if posixpath.normpath(package.into).split("/")[0] in ("..", ""):
        hint = "use a folder below `workdir`, such as demo"
        yield PackageFault(f'into "{package.into}" is outside workdir', hint, at="into")
    file_name = package.requirements and posixpath.normpath(package.requirements)
    if file_name and complete and all(file.path != file_name for file in files):
        hint = "add it to the package, or remove it from the ignore files"
        message = f'requirements "{package.requirements}" not found in package'
        yield PackageFault(message, hint, at="requirements")
