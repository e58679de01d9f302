"""Where an apply comes from: the person, the commit of the spec, the CI job."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from paddlespec.backend import OperationFailed
from paddlespec.history import Provenance

if TYPE_CHECKING:
    from collections.abc import Mapping

# GitHub, GitLab, Jenkins, Buildkite, CircleCI, Azure, Drone and Woodpecker, in the words of each.
_ACTORS = (
    *("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_USER_ID", "BUILDKITE_BUILD_CREATOR"),
    *("CIRCLE_USERNAME", "BUILD_REQUESTEDFOR", "DRONE_COMMIT_AUTHOR", "CI_COMMIT_AUTHOR"),
)
_PAGES = (
    *("CI_JOB_URL", "BUILD_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL"),
    *("DRONE_BUILD_LINK", "CI_PIPELINE_URL"),
)
# Those who give only the parts of the address.
_COMPOSED = (
    (("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"), "{}/{}/actions/runs/{}"),
    (
        ("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI", "SYSTEM_TEAMPROJECT", "BUILD_BUILDID"),
        "{}/{}/_build/results?buildId={}",
    ),
)
_CREDENTIALS = re.compile(r"(?<=://)[^/?#]*@")


def provenance(file: str, environment: Mapping[str, str] = os.environ) -> Provenance:
    """Where an apply of the spec *file* comes from; what cannot be known is left out."""
    commit, dirty = _commit(os.path.dirname(os.path.abspath(file)))
    named = _named(file, in_git=commit is not None)
    return Provenance(who(environment), commit, dirty, _page(environment), named)


def who(environment: Mapping[str, str] = os.environ) -> str:
    """The person behind a command: CI knows better than the account that its runner uses."""
    own = next((environment[each] for each in _ACTORS if environment.get(each)), None)
    if own is None:
        own = next(
            (
                environment[each]
                for each in ("USER", "LOGNAME", "USERNAME")
                if environment.get(each)
            ),
            None,
        )
    return own or "unknown"


def _named(file: str, *, in_git: bool) -> str | None:
    """*file* from the top of its work tree, or else as it was given; stdin has no name."""
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
    """The page of the CI job, without credentials that its address may hold."""
    found = next((environment[each] for each in _PAGES if environment.get(each)), None)
    for names, form in _COMPOSED:
        parts = [environment.get(each) for each in names]
        if all(parts):
            found = form.format(*(str(each).rstrip("/") for each in parts))
    return _CREDENTIALS.sub("", found) if found else None


def _commit(folder: str) -> tuple[str | None, bool]:
    """The commit of the work tree around *folder*, and whether *folder* differs from it."""
    from paddlespec.repository import head

    try:
        return head(folder)
    except OperationFailed:
        return None, False
