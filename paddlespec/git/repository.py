"""
Read revisions of a git repository.

Only objects are read. The work tree, the index and the network are not used, and no program
configured by the repository is run: neither hooks nor filters.
"""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

# These select the settings of the user. All other variables of git are removed: inside a hook,
# GIT_DIR and GIT_INDEX_FILE would point git to another repository.
_KEPT = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"))
_QUIET = {
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would fetch missing objects
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
    """A clone: the root of its work tree, and its git folder."""

    top: str
    git_dir: str

    def git(
        self, *arguments: str, stdin: bytes = b"", cwd: str | None = None, **variables: str
    ) -> bytes:
        """Run git and return its output; raises `OperationFailed` with its error."""
        # Without GIT_WORK_TREE, git would use the work tree of its settings.
        where = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": cwd or self.git_dir, **variables}
        return _git(arguments, cwd or self.git_dir, stdin, where)

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

    def mentioning(self, commit: str, text: str) -> list[str]:
        """Return the YAML files of *commit* that contain *text*."""
        command = ("grep", "-l", "-z", "-F", "-e", text, commit, "--", "*.yaml", "*.yml")
        try:
            output = self.git(*command)
        except OperationFailed:  # no matches
            return []
        return [entry.partition(":")[2] for entry in parts_of(output)]


def repository(path: str) -> Repository:
    """Return the clone that contains *path*, which may no longer exist."""
    folder = os.path.abspath(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    try:
        answer = _git(("rev-parse", "--show-toplevel", "--absolute-git-dir"), folder)
    except _GitFailed as error:
        raise OperationFailed(*_no_repository(path, str(error))) from None
    top, git_dir = os.fsdecode(answer).splitlines()[:2]
    return Repository(os.path.realpath(top), git_dir)


@lru_cache
def head(folder: str) -> tuple[str, bool]:
    """Return the commit checked out in *folder*, and whether *folder* has uncommitted changes."""
    commit = _git(("rev-parse", "--verify", "HEAD"), folder)
    changes = _git(("status", "--porcelain", "--untracked-files=normal", "--", "."), folder)
    return line_of(commit), bool(changes)


def submodule(top: str, place: str) -> Repository:
    """Return the clone of a submodule at *top*; *place* is its git folder or `.git` file."""
    answer = _git(("rev-parse", "--resolve-git-dir", place), os.path.dirname(place))
    return Repository(top, os.path.join(os.path.dirname(place), line_of(answer)))


def _no_repository(path: str, error: str) -> tuple[str, str]:
    if "dubious ownership" in error:
        hint = "allow it if you trust it: git config --global --add safe.directory PATH"
        return f"the repository of {path} belongs to another user", hint
    if "work tree" in error:
        return f"the repository of {path} is bare and has no files", "clone it"
    if "not a git repository" in error:
        return f"{path} is not in a git repository", _FOLDER_HINT
    return f"git: {error}", _FOLDER_HINT


class _GitFailed(OperationFailed):
    """Raised if git exits with an error, with its message."""


def _git(
    arguments: Iterable[str],
    cwd: str,
    stdin: bytes = b"",
    variables: dict[str, str] | None = None,
) -> bytes:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        done = subprocess.run(
            ["git", *settings, *arguments],
            cwd=cwd,
            env={**kept, **_QUIET, **(variables or {})},
            input=stdin,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise OperationFailed("git is not installed", _FOLDER_HINT) from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"]
        error = next((line for line in lines if line.startswith("fatal: ")), lines[-1])
        hint = None
        if "not allowed" in error or "promisor" in error or "bad object" in error:
            hint = "fetch the missing objects: git fetch --refetch"
        raise _GitFailed(error.removeprefix("fatal: "), hint)
    return done.stdout


def parts_of(output: bytes) -> list[str]:
    return [os.fsdecode(part) for part in output.split(b"\0") if part]


def line_of(answer: bytes) -> str:
    return os.fsdecode(answer).rstrip("\r\n")
