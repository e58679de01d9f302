"""
Read revisions of a git repository.

Only objects are read. The index and the network are not used, the work tree only by `head`, and no
program configured by the repository is run: neither hooks nor filters.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.git.run import FOLDER_HINT, GitFailed, GitTooMuch, run
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LFS_POINTER = re.compile(
    rb"\Aversion https://git-lfs\.github\.com/spec/v1\n(?:[^\n]*\n)*?oid sha256:([0-9a-f]{64})$",
    re.MULTILINE,
)
_BATCH_BYTES = 16 << 20


class Repository(NamedTuple):
    """A clone: the root of its work tree, and its git folder."""

    top: str
    git_dir: str

    def git(
        self, *arguments: str, stdin: bytes = b"", cwd: str | None = None, **variables: str
    ) -> bytes:
        """Run git and return its output; raises `OperationFailed` with its error."""
        # Without GIT_WORK_TREE, git would use the work tree of its settings.
        where = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": cwd or self.git_dir, **variables}
        return run(arguments, cwd or self.git_dir, stdin, where)

    @property
    def common_dir(self) -> str:
        """The git folder shared by linked work trees."""
        answer = line_of(self.git("rev-parse", "--git-common-dir"))
        return os.path.normpath(os.path.join(self.git_dir, answer))

    def relative(self, path: str) -> str | None:
        """Return *path* relative to the root, `.` for the root; None if it is outside."""
        path = os.path.abspath(path)
        entry = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        for candidate in (entry, os.path.realpath(path)):
            with suppress(ValueError):  # on another drive
                relative = os.path.relpath(candidate, self.top).replace(os.sep, "/")
                if relative != ".." and not relative.startswith("../"):
                    return relative
        return None

    def commit(self, revision: str) -> str:
        """Resolve *revision* to a commit id; raises `OperationFailed`."""
        if revision and not revision.startswith("-"):
            with suppress(OperationFailed):
                return line_of(
                    self.git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
                )
        shallow = line_of(self.git("rev-parse", "--is-shallow-repository")) == "true"
        if shallow and re.search(r"[~^]", revision):
            hint = "fetch more history of this shallow clone: git fetch --deepen=10"
        elif shallow:
            remote, _, branch = revision.rpartition("/")
            missing = f"{remote.rpartition('/')[2] or 'origin'} {branch or 'main'}"
            hint = f"fetch it into this shallow clone: git fetch --depth=1 {missing}"
        else:
            hint = "fetch it with `git fetch origin`, or list branches with `git branch --all`"
        raise OperationFailed(f'unknown revision "{revision}"', hint)

    def filters(self) -> set[str]:
        """Return the names of the configured filters."""
        try:
            output = self.git("config", "-z", "--name-only", "--get-regexp", r"^filter\..")
        except GitFailed:  # no filters
            return set()
        return {entry.partition(".")[2].rpartition(".")[0] for entry in parts_of(output)}

    def sizes(self, objects: Iterable[str]) -> dict[str, int]:
        """Return the sizes of *objects* by id; missing ones have none."""
        asked = "".join(f"{name}\n" for name in dict.fromkeys(objects)).encode()
        lines = self.git("cat-file", "--batch-check", stdin=asked).decode().splitlines()
        answers = [line.split() for line in lines]
        return {answer[0]: int(answer[2]) for answer in answers if len(answer) == 3}

    def contents(self, objects: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
        """Yield the ids and contents of *objects*, which have these sizes."""
        batch: list[str] = []
        left = _BATCH_BYTES
        for index, (name, size) in enumerate(objects.items(), 1):
            batch.append(name)
            left -= size
            if left > 0 and index < len(objects):
                continue
            answer = self.git("cat-file", "--batch", stdin="\n".join([*batch, ""]).encode())
            start = 0
            for known in batch:
                start = answer.index(b"\n", start) + 1
                yield known, answer[start : start + objects[known]]
                start += objects[known] + 1
            batch, left = [], _BATCH_BYTES


def without_filters(names: Iterable[str]) -> list[str]:
    """Return options that switch filters off."""
    settings = [
        f"filter.{name}.{setting}"
        for name in names
        for setting in ("smudge=", "clean=", "process=", "required=false")
    ]
    return [word for setting in settings for word in ("-c", setting)]


def repository(path: str) -> Repository:
    """Return the clone that contains *path*, which may no longer exist."""
    folder = os.path.abspath(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    try:
        root = _root(folder)
        answer = run(("rev-parse", "--show-toplevel", "--absolute-git-dir"), root or folder)
    except GitFailed as error:
        raise OperationFailed(*_no_repository(path, str(error))) from None
    if root is None:  # git before 2.38 uses repositories that are committed as files
        raise OperationFailed(*_no_repository(path, "bare repository"))
    top, git_dir = os.fsdecode(answer).splitlines()[:2]
    return Repository(os.path.realpath(top), git_dir)


def _root(folder: str) -> str | None:
    """
    Return the folder at or above *folder* that contains `.git`, or None.

    Only git can create `.git`, so a repository that is committed as files is passed over.
    """
    root = folder
    while not os.path.lexists(os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            return None
        root = parent
    return root


@lru_cache
def head(folder: str) -> tuple[str, bool]:
    """
    Return the commit checked out in *folder*, and whether *folder* has uncommitted changes.

    Filters are not run. Files in Git LFS are compared with their pointers; a file of another filter
    that git has to compare counts as changed. Changes inside submodules do not count.
    """
    clone = repository(folder)
    commit = line_of(clone.git("rev-parse", "--verify", "HEAD"))
    place = clone.relative(folder) or "."
    status = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty")
    off = without_filters(clone.filters())
    try:
        answer = clone.git(*off, *status, "--untracked-files=normal", "--", place, cwd=clone.top)
        return commit, any(_is_changed(clone, entry) for entry in parts_of(answer))
    except GitTooMuch:
        return commit, True


def _is_changed(clone: Repository, entry: str) -> bool:
    """Whether an entry of `git status` is more than the content behind a Git LFS pointer."""
    from hashlib import file_digest

    state, path = entry[:2], entry[3:]
    if state != " M":
        return True
    pointer = clone.git("cat-file", "blob", f":{path}")
    match = LFS_POINTER.search(pointer)
    if match is None:
        return True
    try:
        with open(os.path.join(clone.top, path), "rb") as file:
            return file_digest(file, "sha256").hexdigest() != match[1].decode()
    except OSError:
        return True


def submodule(top: str, place: str) -> Repository:
    """Return the clone of a submodule at *top*; *place* is its git folder or `.git` file."""
    answer = run(("rev-parse", "--resolve-git-dir", place), os.path.dirname(place))
    return Repository(top, os.path.join(os.path.dirname(place), line_of(answer)))


def _no_repository(path: str, error: str) -> tuple[str, str]:
    if "dubious ownership" in error:
        hint = "allow it if you trust it: git config --global --add safe.directory PATH"
        return f"the repository of {path} belongs to another user", hint
    if "work tree" in error or "bare repository" in error:
        return f"the repository of {path} is bare and has no files", "clone it"
    if "not a git repository" in error:
        return f"{path} is not in a git repository", FOLDER_HINT
    return f"git: {error}", FOLDER_HINT


def parts_of(output: bytes) -> list[str]:
    return [os.fsdecode(part) for part in output.split(b"\0") if part]


def line_of(answer: bytes) -> str:
    return os.fsdecode(answer).rstrip("\r\n")
