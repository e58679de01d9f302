"""
What an ended run left behind: results, and files that a pod would have lost.

Each replica has its own copy of the code, in which a pod starts too. What a program writes there is
deleted with the pod.
"""

from __future__ import annotations

import os
import re
import tarfile
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.local.store.job_folder import seconds
from paddlespec.quantity import as_size
from paddlespec.runs.history import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.backends.local.store.job_folder import JobFolder
    from paddlespec.backends.local.store.launch import Launch
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.history import RunRecord

_MAX_FILES = 20_000
_OURS = frozenset((".paddlespec", "lost+found", "__pycache__"))
# Files that Paddle's parameter server writes to the folder where it starts.
_OF_PADDLE = re.compile(r"\d+_train_desc\.prototxt\Z|http\.log\Z|core(\.\d+)?\Z")


class Lost(NamedTuple):
    """Files outside of the output: how many, their size, and one of them."""

    files: int
    size: int
    example: str

    def described(self, workdir: str, *, has_output: bool) -> str:
        """Say how many files a pod would lose, and where to write instead."""
        count = f"{self.files:,} file{'' if self.files == 1 else 's'} ({as_size(self.size)})"
        verb, they = ("was", "it is") if self.files == 1 else ("were", "they are")
        remedy = "write results to $PADDLESPEC_OUTPUT"
        if not has_output:
            remedy = f"set `output` to a folder on a volume, and {remedy}"
        return (
            f"{count} {verb} written to {workdir}, such as {self.example}; "
            f"{they} deleted with a pod: {remedy}"
        )


def described(folder: JobFolder, run: RunRecord, manifests: Sequence[Manifest]) -> list[str]:
    """Describe the results of *run*, and what it wrote elsewhere."""
    launch = folder.launch(run.number)
    if launch is None:
        return []
    lines = []
    if launch.output and run.state is State.succeeded:
        if has_results(launch.output, seconds(run.started or "")):
            lines.append(f"results are in {launch.output}")
        else:
            where = f"its output, $PADDLESPEC_OUTPUT ({launch.output} on this machine)"
            lines.append(f"nothing was written to {where}")
    if elsewhere := lost(folder.run(run.number), launch):
        workdir = next(one["spec"]["workdir"] for one in manifests if one["kind"] == "Process")
        lines.append(elsewhere.described(workdir, has_output=launch.output is not None))
    return lines


def lost(folder: str, launch: Launch) -> Lost | None:
    """Return what the processes of *launch* wrote beside their code, in the run *folder*."""
    delivered = _delivered(os.path.join(folder, "code.tar"))
    files = size = 0
    example = ""
    for process in launch.processes:
        top = os.path.join(folder, "code", process.name)
        for path, status in _files(top):
            name = os.path.relpath(path, top)
            # Unpacked files have the time of the archive, which is 0.
            if (name in delivered and status.st_mtime == 0) or _OF_PADDLE.match(name):
                continue
            files, size = files + 1, size + status.st_size
            example = example or name
    return Lost(files, size, example) if files else None


def has_results(output: str, since: float) -> bool:
    """Report whether any file below *output* was written after *since*, in seconds."""
    return any(status.st_ctime >= since for _, status in _files(output))


def _files(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files below *top*, except those of tools; no link is followed."""
    left = _MAX_FILES
    waiting = [top]
    while waiting and left > 0:
        try:
            entries = sorted(os.scandir(waiting.pop()), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            left -= 1
            if entry.name in _OURS or entry.name.endswith(".pyc"):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
                continue
            try:
                yield entry.path, entry.stat(follow_symlinks=False)
            except OSError:
                continue


def _delivered(archive: str) -> frozenset[str]:
    """Return the names of the files in the archive of the code."""
    try:
        with tarfile.open(archive) as tar:
            return frozenset(os.path.normpath(name) for name in tar.getnames())
    except (OSError, tarfile.TarError):
        return frozenset()
