"""
Git, asked for what a revision holds.

Only objects are read: the work tree, the index and the network stay untouched, and nothing that a
repository configures is run, neither hooks nor filters.
"""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

# Where the user's own settings are; every other variable of git may lead it astray, as inside of a
# hook, where GIT_DIR and GIT_INDEX_FILE are set.
_KEPT = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"))
_QUIET = {
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would fetch what it lacks
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.splitIndex=false"),
    *("core.sparseCheckout=false", "core.untrackedCache=false"),
)
_FOLDER_HINT = "compare with a folder of manifests: --against DIR"


class Repository(NamedTuple):
    """A clone: the top of its work tree, and its own folder."""

    top: str
    git_dir: str

    def git(
        self, *arguments: str, given: bytes = b"", cwd: str | None = None, **variables: str
    ) -> bytes:
        """What git answers; raises `OperationFailed` with its words."""
        # Without a work tree of their own, commands would look for that of the settings.
        where = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": cwd or self.git_dir, **variables}
        return _git(arguments, cwd or self.git_dir, given, where)

    @property
    def common_dir(self) -> str:
        """The folder that linked work trees share."""
        answer = line_of(self.git("rev-parse", "--git-common-dir"))
        return os.path.normpath(os.path.join(self.git_dir, answer))

    def relative(self, path: str) -> str | None:
        """*path* from the top, `.` for the top itself; nothing when it lies outside."""
        path = os.path.abspath(path)
        entry = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        for each in (entry, os.path.realpath(path)):
            with suppress(ValueError):  # on another drive
                found = os.path.relpath(each, self.top).replace(os.sep, "/")
                if found != ".." and not found.startswith("../"):
                    return found
        return None

    def commit(self, revision: str) -> str:
        """The id of the commit that *revision* names; raises `OperationFailed`."""
        if revision and not revision.startswith("-"):
            with suppress(OperationFailed):
                return line_of(
                    self.git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
                )
        shallow = line_of(self.git("rev-parse", "--is-shallow-repository")) == "true"
        if shallow and re.search(r"[~^]", revision):
            hint = "the clone is shallow: `git fetch --deepen=10` brings more of its history"
        elif shallow:
            remote, _, branch = revision.rpartition("/")
            wanted = f"{remote.rpartition('/')[2] or 'origin'} {branch or 'main'}"
            hint = f"the clone is shallow: `git fetch --depth=1 {wanted}` brings it"
        else:
            hint = "`git fetch origin` brings what is new; `git branch --all` lists branches"
        raise OperationFailed(f'no commit here is called "{revision}"', hint)

    def mentioning(self, commit: str, text: str) -> list[str]:
        """The YAML files of *commit* that hold *text*."""
        command = ("grep", "-l", "-z", "-F", "-e", text, commit, "--", "*.yaml", "*.yml")
        try:
            listed = self.git(*command)
        except OperationFailed:  # nothing found
            return []
        return [each.partition(":")[2] for each in parts_of(listed)]


def repository(path: str) -> Repository:
    """The clone that *path* is in, whether or not there is such a file any more."""
    folder = os.path.abspath(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    try:
        found = _git(("rev-parse", "--show-toplevel", "--absolute-git-dir"), folder)
    except _Refused as error:
        raise OperationFailed(*_no_repository(path, str(error))) from None
    top, git_dir = os.fsdecode(found).splitlines()[:2]
    return Repository(os.path.realpath(top), git_dir)


@lru_cache
def head(folder: str) -> tuple[str, bool]:
    """The commit that is checked out around *folder*, and whether *folder* differs from it."""
    found = _git(("rev-parse", "--verify", "HEAD"), folder)
    changes = _git(("status", "--porcelain", "--untracked-files=normal", "--", "."), folder)
    return line_of(found), bool(changes)


def submodule(top: str, place: str) -> Repository:
    """The clone of a submodule whose files belong to *top*; *place* is its folder, or names it."""
    answer = _git(("rev-parse", "--resolve-git-dir", place), os.path.dirname(place))
    return Repository(top, os.path.join(os.path.dirname(place), line_of(answer)))


def _no_repository(path: str, said: str) -> tuple[str, str]:
    if "dubious ownership" in said:
        hint = "if you trust it: git config --global --add safe.directory PATH"
        return f"the repository of {path} belongs to another user", hint
    if "work tree" in said:
        return f"the repository of {path} is bare: it has no files", "clone it, and name a file"
    if "not a git repository" in said:
        return f"{path} is in no git repository", _FOLDER_HINT
    return f"git: {said}", _FOLDER_HINT


class _Refused(OperationFailed):
    """Git ended with an error; the message is its own."""


def _git(
    arguments: Iterable[str],
    cwd: str,
    given: bytes = b"",
    variables: dict[str, str] | None = None,
) -> bytes:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    settings = [word for each in _SETTINGS for word in ("-c", each)]
    try:
        done = subprocess.run(
            ["git", *settings, *arguments],
            cwd=cwd,
            env={**kept, **_QUIET, **(variables or {})},
            input=given,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise OperationFailed("git is not installed", _FOLDER_HINT) from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"]
        told = next((each for each in lines if each.startswith("fatal: ")), lines[-1])
        hint = None
        if "not allowed" in told or "promisor" in told or "bad object" in told:
            hint = "the clone lacks objects of that revision: `git fetch --refetch` brings them"
        raise _Refused(told.removeprefix("fatal: "), hint)
    return done.stdout


def parts_of(listed: bytes) -> list[str]:
    return [os.fsdecode(each) for each in listed.split(b"\0") if each]


def line_of(answer: bytes) -> str:
    return os.fsdecode(answer).rstrip("\r\n")
