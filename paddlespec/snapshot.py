"""
A revision in a folder of its own.

Only what is asked for is unpacked, by git itself, so that line ends and executable bits are those
of a work tree; but no filter is run: what one would have changed is told.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import OperationFailed
from paddlespec.repository import Repository, parts_of, submodule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_LINK, _SUBMODULE = "120000", "160000"


class _Part(NamedTuple):
    """A commit to read: the one asked for, or a submodule's, below its prefix."""

    repository: Repository
    commit: str
    prefix: str
    index_file: str


class Snapshot:
    """
    A revision in the temporary folder *folder*, filled with what is asked for.

    It lies there below the path of the original, so that links and paths to its neighbours hold.
    """

    def __init__(self, repository: Repository, commit: str, folder: str) -> None:
        self.commit = commit
        self.repository = repository
        self.folder = folder
        self.top = os.path.join(folder, os.path.splitdrive(repository.top)[1].lstrip("/\\"))
        self._parts: list[_Part] = []
        self._entries: dict[str, tuple[str, _Part]] = {}
        self._lacking: dict[str, str] = {}
        self._filled: set[str] = set()
        os.makedirs(self.top)
        self._list(repository, commit, "")
        self._order = sorted(self._entries)

    def path(self, name: str) -> str:
        """Where *name*, a path from the top, is or would be."""
        return os.path.normpath(os.path.join(self.top, name))

    def has(self, name: str) -> bool:
        """Whether the revision has a file or a folder at *name*."""
        return name in self._entries or any(True for _ in self._below(name))

    def add(self, names: Iterable[str], accept: Callable[[str], bool] = lambda _: True) -> None:
        """Bring the files at or below *names* that *accept* takes, and what their links lead to."""
        found = {each for name in names for each in self._below(name) if accept(each)}
        while found := found - self._filled:
            self._filled |= found
            self._fill(found)
            targets = [target for each in found for target in self._link(each)]
            found = {each for target in targets for each in self._below(target)}

    def neighbour(self, name: str) -> None:
        """Let a path that leads out of the repository lead to what is there now."""
        inside = self.path(name)
        if inside.startswith(self.folder + os.sep) and not os.path.lexists(inside):
            os.makedirs(os.path.dirname(inside), exist_ok=True)
            with suppress(OSError):
                os.symlink(os.path.normpath(os.path.join(self.repository.top, name)), inside)

    def lacking(self, name: str) -> list[str]:
        """What of the things at or below *name* could not be brought, in words."""
        return [
            words
            for path, words in sorted(self._lacking.items())
            if name == "." or f"{path}/".startswith(f"{name}/") or name.startswith(f"{path}/")
        ]

    def _list(self, repository: Repository, commit: str, prefix: str) -> None:
        index = os.path.join(self.folder, f"index-{len(self._parts)}")
        part = _Part(repository, commit, prefix, index)
        self._parts.append(part)
        modules: list[tuple[str, str]] = []
        for line in parts_of(repository.git("ls-tree", "-r", "-z", "--full-tree", commit)):
            head, _, path = line.partition("\t")
            mode, _, name = head.split(" ")
            if mode == _SUBMODULE:
                modules.append((path, name))
            else:
                self._entries[prefix + path] = mode, part
        named = _module_names(repository, commit) if modules else {}
        for path, name in modules:
            found = _module(repository, path, named.get(path), name)
            if found:
                self._list(found, name, f"{prefix}{path}/")
            else:
                self._lacking[prefix + path] = f"the submodule {prefix}{path}, which is not here"

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
            own = sorted(
                each.removeprefix(part.prefix) for each in names if self._entries[each][1] is part
            )
            if own:
                self._check_out(part, own)

    def _check_out(self, part: _Part, names: list[str]) -> None:
        folder = os.path.join(self.top, part.prefix)
        # The top of a repository is where searches for project and ignore files end.
        os.makedirs(os.path.join(folder, ".git"), exist_ok=True)
        filters = _filters(part.repository)
        off = [
            f"filter.{each}.{key}=" for each in filters for key in ("smudge", "clean", "process")
        ]
        off += [f"filter.{each}.required=false" for each in filters]
        settings = [word for each in off for word in ("-c", each)]

        def git(*arguments: str, given: bytes = b"") -> bytes:
            variables = {"GIT_WORK_TREE": folder, "GIT_INDEX_FILE": part.index_file}
            return part.repository.git(*settings, *arguments, given=given, cwd=folder, **variables)

        if not os.path.exists(part.index_file):
            git("read-tree", part.commit)
        given = b"".join(os.fsencode(each) + b"\0" for each in names)
        git("checkout-index", "--force", "--quiet", "-z", "--stdin", given=given)
        for name in names:
            self._large(part, name)
        if filters - {"lfs"}:
            answers = parts_of(git("check-attr", "-z", "--stdin", "filter", given=given))
            for name, value in zip(answers[::3], answers[2::3]):
                if value in filters - {"lfs"}:
                    words = f"the filter {value} of {part.prefix}{name}"
                    self._lacking[part.prefix + name] = words

    def _large(self, part: _Part, name: str) -> None:
        """Put the content in place of a pointer of Git LFS, if the user's own file has it too."""
        path = os.path.join(self.top, part.prefix, name)
        pointer = _pointer(path)
        if pointer is None or _pointer(os.path.join(part.repository.top, name)) is not None:
            return
        store = os.path.join(part.repository.common_dir, "lfs", "objects")
        stored = os.path.join(store, pointer[:2], pointer[2:4], pointer)
        try:
            with open(stored, "rb") as source, open(path, "r+b") as target:
                target.write(source.read())
        except OSError:
            words = f"the content of {part.prefix}{name}, which Git LFS keeps elsewhere"
            self._lacking[part.prefix + name] = words

    def _link(self, name: str) -> Iterator[str]:
        """What a link leads to; one that was absolute leads into the snapshot from now on."""
        path = self.path(name)
        if self._entries[name][0] != _LINK or not os.path.islink(path):
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


def _filters(repository: Repository) -> set[str]:
    """The filters that git would run on the way to a work tree."""
    try:
        listed = repository.git("config", "-z", "--name-only", "--get-regexp", r"^filter\..")
    except OperationFailed:  # there are none
        return set()
    return {each.partition(".")[2].rpartition(".")[0] for each in parts_of(listed)}


def _module_names(repository: Repository, commit: str) -> dict[str, str]:
    """The names of the submodules of *commit* by their paths."""
    try:
        listed = repository.git("config", "-z", "--blob", f"{commit}:.gitmodules", "--list")
    except OperationFailed:  # a submodule that was never declared
        return {}
    found = {}
    for line in parts_of(listed):
        key, _, value = line.partition("\n")
        if key.startswith("submodule.") and key.endswith(".path"):
            found[value] = key.removeprefix("submodule.").removesuffix(".path")
    return found


def _module(repository: Repository, path: str, name: str | None, commit: str) -> Repository | None:
    """The clone of a submodule, where it has *commit*."""
    top = os.path.join(repository.top, path)
    places = [os.path.join(top, ".git")]
    if name and ".." not in name.split("/"):
        above = (repository.git_dir, repository.common_dir)
        places += [os.path.join(each, "modules", name) for each in above]
    for place in places:
        if os.path.exists(place):
            with suppress(OperationFailed):
                found = submodule(top, place)
                found.git("cat-file", "-e", f"{commit}^{{tree}}")
                return found
    return None


def _pointer(path: str) -> str | None:
    """The id of the content that the file at *path* only points at."""
    try:
        if os.path.islink(path):
            return None
        with open(path, "rb") as file:
            content = file.read(1024)
    except OSError:
        return None
    found = re.search(rb"^oid sha256:([0-9a-f]{64})$", content, re.MULTILINE)
    return found[1].decode() if found and content.startswith(_POINTER) else None
