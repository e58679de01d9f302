"""
What becomes of results that are there already: the rule of `templates/scripts/output-*.sh`.

A run leaves its mark in the folder, so that it takes what it wrote itself for no surprise.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backend import OperationFailed
from paddlespec.local import mounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlespec.local.mounts import Place

_MARKS = ".paddlespec"
_OURS = frozenset((_MARKS, "lost+found"))


class Output(NamedTuple):
    """
    The results of a job that calls their place *path*.

    `first`: where those of the first trainer are here. `lasting`: the folder that is not new for
    each run, if there is one.
    """

    path: str | None = None
    policy: str = ""
    first: str | None = None
    lasting: str | None = None

    def faults(self) -> Iterator[str]:
        """Why the job must not write there."""
        if self.lasting is None or self.policy != "refuse":
            return
        try:
            found = sorted(set(os.listdir(self.lasting)) - _OURS)
        except FileNotFoundError:
            return
        except OSError as error:
            yield f"the output {self.path} cannot be read: {(error.strerror or str(error)).lower()}"
            return
        if found:
            yield (
                f"the output {self.path} is {self.lasting} here, and holds {found[0]}: choose "
                "another output, or outputPolicy reuse or clear"
            )

    def claim(self, run: str) -> None:
        """Make the folder what the policy promises, for *run*; raises `OperationFailed`."""
        if self.lasting is None or self.policy == "reuse":
            return
        marks = os.path.join(self.lasting, _MARKS)
        try:
            os.makedirs(marks, exist_ok=True)
            if self.policy == "clear":
                _clear(self.lasting)
            os.makedirs(os.path.join(marks, run), exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise OperationFailed(
                f"the output {self.path}, which is {self.lasting} here, cannot be made ready: {reason}"
            ) from None


def read(rehearsal: Mapping[str, Any], places: Sequence[Sequence[Place]]) -> Output:
    """The output of a rehearsal whose processes have these *places*, trainers first."""
    path = rehearsal.get("output")
    if not path:
        return Output()
    first = mounts.here_of(places[0], path)
    for own in places:
        place = mounts.place_of(own, path)
        if place and not place.scratch:
            return Output(path, rehearsal["outputPolicy"], first, mounts.here_of(own, path))
    return Output(path, rehearsal["outputPolicy"], first)


def _clear(folder: str) -> None:
    from shutil import rmtree

    for entry in list(os.scandir(folder)):
        if entry.name in _OURS:
            continue
        if entry.is_dir(follow_symlinks=False):
            rmtree(entry.path)
        else:
            os.unlink(entry.path)
