"""
The folder that the paths of a plan are relative to.

A plan may be applied from another folder than it was made in: its own paths are then looked for
where they are relative to the plan, and where they are in the repository.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LISTS, _STDIN = ("paths", "overlay"), "-"


def recorded(plan: str) -> dict[str, str | None]:
    """Return where a plan is made: this folder, relative to the plan and to the repository."""
    here, top = os.getcwd(), _repository(os.getcwd())
    return {
        "folder": _portable(here, os.path.dirname(os.path.abspath(plan))),
        "repositoryFolder": None if top is None else _portable(here, top),
    }


def here(plan: str, invocation: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return *invocation* with paths that are valid in this folder.

    Raise `Stop` if no folder has all files of the plan.
    """
    lists = {key: invocation.get(key) or [] for key in _LISTS}
    templates = invocation.get("templates") or None
    written = [*lists.values(), [] if templates is None else [templates]]
    if not all(isinstance(text, str) for part in written for text in part):
        raise Stop(
            Exit.usage, f"{plan} is not a plan", "write one with: paddlespec diff --out FILE"
        )
    own = [path for paths in lists.values() for path in paths if path != _STDIN]
    own += [templates] if templates else []
    tried = list(dict.fromkeys(_folders(plan, invocation)))
    for folder in tried:
        if all(os.path.exists(os.path.join(folder, path)) for path in own):
            rebased = {key: [_joined(folder, path) for path in lists[key]] for key in _LISTS}
            return {
                **invocation,
                **rebased,
                "templates": _joined(folder, templates) if templates else templates,
            }
    missing = next(path for path in own if not os.path.exists(os.path.join(tried[0], path)))
    message = f"{plan} is for {missing}, which does not exist in {' or '.join(tried)}"
    hint = "run apply in the folder where the plan was made, or make a new plan: diff --out FILE"
    raise Stop(Exit.usage, message, hint)


def _folders(plan: str, invocation: Mapping[str, Any]) -> Iterator[str]:
    """Yield the folders to look in, most specific first."""
    top, beside = _repository(os.getcwd()), invocation.get("folder")
    if isinstance(inside := invocation.get("repositoryFolder"), str) and top is not None:
        yield os.path.normpath(os.path.join(top, inside))
    if isinstance(beside, str):
        yield os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(plan)), beside))
    yield os.getcwd()


def _joined(folder: str, path: str) -> str:
    """Return *path* of *folder* relative to the current folder; unchanged if they are the same."""
    if path == _STDIN or os.path.isabs(path) or os.path.realpath(folder) == os.path.realpath("."):
        return path
    return os.path.relpath(os.path.join(folder, path))


def _portable(path: str, start: str) -> str:
    return os.path.relpath(path, start).replace(os.sep, "/")


def _repository(folder: str) -> str | None:
    """Return the top of the work tree around *folder*; None outside git."""
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder
