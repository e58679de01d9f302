"""
What to do with existing results: the same rules as `templates/scripts/output-*.sh`.

A run marks the folder, so that a retry accepts what the run itself wrote.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backends.local.prepare import mounts
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlespec.backends.local.prepare.mounts import Place

_MARKS = ".paddlespec"
_OURS = frozenset((_MARKS, "lost+found"))


class Output(NamedTuple):
    """
    The results of a job, at *path* in its pods.

    `first`: the results of the first trainer on this machine. `lasting`: their folder, if it outlives
    the run.
    """

    path: str | None = None
    policy: str = ""
    first: str | None = None
    lasting: str | None = None

    def faults(self) -> Iterator[str]:
        """Say why the job must not write there."""
        if self.lasting is None or self.policy != "refuse":
            return
        try:
            present = sorted(set(os.listdir(self.lasting)) - _OURS)
        except FileNotFoundError:
            return
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            yield f"cannot read output {self.path} ({self.lasting} on this machine): {reason}"
            return
        if present:
            yield (
                f"output {self.path} ({self.lasting} on this machine) is not empty: it contains "
                f"{present[0]}; use another output, or set outputPolicy to reuse or clear"
            )

    def claim(self, run: str) -> None:
        """Prepare the folder for *run* as its policy requires; raise `OperationFailed`."""
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
                f"cannot prepare output {self.path} ({self.lasting} on this machine): {reason}"
            ) from None


def read(rehearsal: Mapping[str, Any], places: Sequence[Sequence[Place]]) -> Output:
    """Return the output of a rehearsal whose processes have *places*, trainers first."""
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
