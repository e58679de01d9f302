"""
Check out parts of a revision into a temporary folder.

Git checks out the requested files, so line endings and executable bits are those of a work tree.
Filters are not run; files that a filter would change are reported as missing.
"""

from __future__ import annotations

import os
import shutil
from bisect import bisect_left
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.git.repository import LFS_POINTER, Repository, parts_of, submodule, without_filters
from paddlespec.git.run import FOLDER_HINT
from paddlespec.runs.failures import OperationFailed
from paddlespec.spec.source import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_FILES = 500_000
MAX_CHECKOUT_FILES = 100_000
MAX_CHECKOUT_BYTES = 1 << 30
_LINK, _SUBMODULE = "120000", "160000"


class _Part(NamedTuple):
    """A commit of the repository or of a submodule, with its path prefix."""

    repository: Repository
    commit: str
    prefix: str
    index_file: str


class _Entry(NamedTuple):
    """A file or link of the revision."""

    mode: str
    object: str
    part: _Part


class Snapshot:
    """
    A revision in the temporary folder *folder*, with the files requested so far.

    Below *folder*, it has the path of the original, so links and paths to other folders work.
    """

    def __init__(self, repository: Repository, commit: str, folder: str) -> None:
        self.commit = commit
        self.repository = repository
        self.folder = folder
        self.top = os.path.join(folder, os.path.splitdrive(repository.top)[1].lstrip("/\\"))
        self._parts: list[_Part] = []
        self._entries: dict[str, _Entry] = {}
        self._bytes_left = MAX_CHECKOUT_BYTES
        self._lacking: dict[str, str] = {}
        self._filled: set[str] = set()
        os.makedirs(self.top)
        self._list(repository, commit, "")
        self._order = sorted(self._entries)

    def path(self, name: str) -> str:
        """Return the path of *name*, which is relative to the root."""
        return os.path.normpath(os.path.join(self.top, name))

    def has(self, name: str) -> bool:
        """Whether the revision contains a file or folder *name*."""
        return name in self._entries or any(True for _ in self._below(name))

    def add(self, names: Iterable[str], accept: Callable[[str], bool] = lambda _: True) -> None:
        """Check out the files at or below *names* that *accept* allows, and the targets of links."""
        files = {file for name in names for file in self._below(name) if accept(file)}
        while files := files - self._filled:
            self._filled |= files
            self._fill(files)
            targets = [target for name in files for target in self._link(name)]
            files = {file for target in targets for file in self._below(target)}

    def neighbour(self, name: str) -> None:
        """Link a path outside the repository to its current content."""
        inside = self.path(name)
        if inside.startswith(self.folder + os.sep) and not os.path.lexists(inside):
            os.makedirs(os.path.dirname(inside), exist_ok=True)
            with suppress(OSError):
                os.symlink(os.path.normpath(os.path.join(self.repository.top, name)), inside)

    def mentioning(self, text: bytes) -> list[str]:
        """Return the YAML files of the repository that contain *text*, except large ones."""
        files: dict[str, list[str]] = {}
        for path, entry in self._entries.items():
            is_file = entry.mode != _LINK and path.endswith((".yaml", ".yml"))
            if is_file and entry.part is self._parts[0]:
                files.setdefault(entry.object, []).append(path)
        sizes = self.repository.sizes(files) if files else {}
        small = {name: size for name, size in sizes.items() if size <= MAX_BYTES}
        contents = self.repository.contents(small)
        return sorted(path for name, data in contents if text in data for path in files[name])

    def lacking(self, name: str) -> list[str]:
        """Describe the content at or below *name* that could not be checked out."""
        return [
            description
            for path, description in sorted(self._lacking.items())
            if name == "." or f"{path}/".startswith(f"{name}/") or name.startswith(f"{path}/")
        ]

    def _list(self, repository: Repository, commit: str, prefix: str) -> None:
        index = os.path.join(self.folder, f"index-{len(self._parts)}")
        part = _Part(repository, commit, prefix, index)
        self._parts.append(part)
        modules: list[tuple[str, str]] = []
        listing = repository.git("ls-tree", "-r", "-z", "--full-tree", commit)
        if len(self._entries) + listing.count(b"\0") > MAX_FILES:
            raise OperationFailed(f"the revision has more than {MAX_FILES:,} files", FOLDER_HINT)
        for line in parts_of(listing):
            head, _, path = line.partition("\t")
            mode, _, name = head.split(" ")
            if mode == _SUBMODULE:
                modules.append((path, name))
            else:
                self._entries[prefix + path] = _Entry(mode, name, part)
        module_names = _module_names(repository, commit) if modules else {}
        for path, name in modules:
            module = _module(repository, path, module_names.get(path), name)
            if module:
                self._list(module, name, f"{prefix}{path}/")
            else:
                description = f"the submodule {prefix}{path}, which is not checked out"
                self._lacking[prefix + path] = description

    def _below(self, name: str) -> Iterator[str]:
        if name in self._entries:
            yield name
            return
        start = "" if name == "." else f"{name}/"
        for index in range(bisect_left(self._order, start), len(self._order)):
            if not self._order[index].startswith(start):
                return
            yield self._order[index]

    def _fill(self, names: set[str]) -> None:
        for part in self._parts:
            in_part = sorted(
                name.removeprefix(part.prefix) for name in names if self._entries[name].part is part
            )
            if in_part:
                self._check_out(part, in_part)

    def _check_out(self, part: _Part, names: list[str]) -> None:
        folder = os.path.join(self.top, part.prefix)
        # Searches for project and ignore files end at the root of a repository.
        os.makedirs(os.path.join(folder, ".git"), exist_ok=True)
        filters = part.repository.filters()
        settings = without_filters(filters)
        self._count(part, names)

        def git(*arguments: str, stdin: bytes = b"") -> bytes:
            variables = {"GIT_WORK_TREE": folder, "GIT_INDEX_FILE": part.index_file}
            return part.repository.git(*settings, *arguments, stdin=stdin, cwd=folder, **variables)

        if not os.path.exists(part.index_file):
            git("read-tree", part.commit)
        paths = b"".join(os.fsencode(name) + b"\0" for name in names)
        git("checkout-index", "--force", "--quiet", "-z", "--stdin", stdin=paths)
        for name in names:
            self._large(part, name)
        if filters - {"lfs"}:
            answers = parts_of(git("check-attr", "-z", "--stdin", "filter", stdin=paths))
            for name, value in zip(answers[::3], answers[2::3]):
                if value in filters - {"lfs"}:
                    description = f"the filter {value} of {part.prefix}{name}"
                    self._lacking[part.prefix + name] = description

    def _count(self, part: _Part, names: list[str]) -> None:
        """Raise `OperationFailed` if *names* and all files so far are too many or too large."""
        if len(self._filled) > MAX_CHECKOUT_FILES:
            message = f"more than {MAX_CHECKOUT_FILES:,} files of the revision are needed"
            raise OperationFailed(message, FOLDER_HINT)
        objects = [self._entries[part.prefix + name].object for name in names]
        sizes = part.repository.sizes(objects)
        self._spend(sum(sizes.get(name, 0) for name in objects))

    def _spend(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            message = f"the files of the revision have more than {MAX_CHECKOUT_BYTES >> 20} MiB"
            raise OperationFailed(message, FOLDER_HINT)

    def _large(self, part: _Part, name: str) -> None:
        """Replace a Git LFS pointer with its content, if the work tree has the content too."""
        path = os.path.join(self.top, part.prefix, name)
        pointer = _pointer(path)
        if pointer is None or _pointer(os.path.join(part.repository.top, name)) is not None:
            return
        store = os.path.join(part.repository.common_dir, "lfs", "objects")
        stored = os.path.join(store, pointer[:2], pointer[2:4], pointer)
        try:
            with open(stored, "rb") as source, open(path, "r+b") as target:
                self._spend(os.fstat(source.fileno()).st_size)
                shutil.copyfileobj(source, target)
        except OSError:
            description = f"the content of {part.prefix}{name}, which is not in the Git LFS cache"
            self._lacking[part.prefix + name] = description

    def _link(self, name: str) -> Iterator[str]:
        """Yield the target of a link, and point an absolute link into the snapshot."""
        path = self.path(name)
        if self._entries[name].mode != _LINK or not os.path.islink(path):
            return
        target = os.readlink(path)
        real = os.path.join(os.path.dirname(os.path.join(self.repository.top, name)), target)
        inside = os.path.relpath(os.path.normpath(real), self.repository.top).replace(os.sep, "/")
        leaves = inside == ".." or inside.startswith("../")
        if leaves or os.path.isabs(target):
            os.remove(path)
            os.symlink(os.path.normpath(real) if leaves else self.path(inside), path)
        if not leaves:
            yield inside


def _module_names(repository: Repository, commit: str) -> dict[str, str]:
    """Return the names of the submodules of *commit* by path."""
    try:
        if int(repository.git("cat-file", "-s", f"{commit}:.gitmodules")) > MAX_BYTES:
            return {}
        output = repository.git("config", "-z", "--blob", f"{commit}:.gitmodules", "--list")
    except OperationFailed:  # no .gitmodules
        return {}
    names = {}
    for line in parts_of(output):
        key, _, value = line.partition("\n")
        if key.startswith("submodule.") and key.endswith(".path"):
            names[value] = key.removeprefix("submodule.").removesuffix(".path")
    return names


def _module(repository: Repository, path: str, name: str | None, commit: str) -> Repository | None:
    """Return the clone of a submodule, or None if it does not contain *commit*."""
    top = os.path.join(repository.top, path)
    places = [os.path.join(top, ".git")]
    if name and ".." not in name.split("/"):
        parents = (repository.git_dir, repository.common_dir)
        places += [os.path.join(parent, "modules", name) for parent in parents]
    for place in places:
        if os.path.exists(place):
            with suppress(OperationFailed):
                clone = submodule(top, place)
                clone.git("cat-file", "-e", f"{commit}^{{tree}}")
                return clone
    return None


def _pointer(path: str) -> str | None:
    """Return the content id in a Git LFS pointer file, or None for other files."""
    try:
        if os.path.islink(path):
            return None
        with open(path, "rb") as file:
            content = file.read(1024)
    except OSError:
        return None
    match = LFS_POINTER.search(content)
    return match[1].decode() if match else None
