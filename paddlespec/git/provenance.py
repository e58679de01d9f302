"""The provenance of an apply: the user, the commit of the spec, and the CI job."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import Provenance

if TYPE_CHECKING:
    from collections.abc import Mapping

# Variables of GitHub, GitLab, Jenkins, Buildkite, CircleCI, Azure, Drone and Woodpecker.
_ACTORS = (
    *("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_USER_ID", "BUILDKITE_BUILD_CREATOR"),
    *("CIRCLE_USERNAME", "BUILD_REQUESTEDFOR", "DRONE_COMMIT_AUTHOR", "CI_COMMIT_AUTHOR"),
)
_PAGES = (
    *("CI_JOB_URL", "BUILD_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL"),
    *("DRONE_BUILD_LINK", "CI_PIPELINE_URL"),
)
# Services that provide only the parts of the URL.
_COMPOSED = (
    (("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"), "{}/{}/actions/runs/{}"),
    (
        ("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI", "SYSTEM_TEAMPROJECT", "BUILD_BUILDID"),
        "{}/{}/_build/results?buildId={}",
    ),
)
_CREDENTIALS = re.compile(r"(?<=://)[^/?#]*@")


def provenance(file: str, environment: Mapping[str, str] = os.environ) -> Provenance:
    """Return the provenance of an apply of the spec *file*; unknown parts are None."""
    commit, dirty = _commit(os.path.dirname(os.path.abspath(file)))
    name = _name(file, in_git=commit is not None)
    return Provenance(who(environment), commit, dirty, _page(environment), name)


def who(environment: Mapping[str, str] = os.environ) -> str:
    """Return the user of a command; in CI, the user who started it instead of the runner's."""
    variables = (*_ACTORS, "USER", "LOGNAME", "USERNAME")
    return next((environment[name] for name in variables if environment.get(name)), _account())


def _account() -> str:
    """Return the user of this process in the password database."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name or "unknown"
    except (ImportError, KeyError):  # a system without one, or a container's arbitrary user
        return "unknown"


def _name(file: str, *, in_git: bool) -> str | None:
    """Return *file* relative to its work tree, or unchanged outside git; None for stdin."""
    if not os.path.exists(file):
        return None
    path = os.path.realpath(file)
    top = os.path.dirname(path)
    while in_git and not os.path.exists(os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            in_git = False
        top = above
    return os.path.relpath(path, top).replace(os.sep, "/") if in_git else file


def _page(environment: Mapping[str, str]) -> str | None:
    """Return the URL of the CI job, without credentials."""
    url = next((environment[name] for name in _PAGES if environment.get(name)), None)
    for names, form in _COMPOSED:
        parts = [environment.get(name) for name in names]
        if all(parts):
            url = form.format(*(str(part).rstrip("/") for part in parts))
    return _CREDENTIALS.sub("", url) if url else None


def _commit(folder: str) -> tuple[str | None, bool]:
    """Return the commit of the work tree of *folder*, and whether *folder* has changes."""
    from paddlespec.git.repository import head

    try:
        return head(folder)
    except OperationFailed:
        return None, False
