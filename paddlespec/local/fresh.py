"""What every attempt of a replica finds new, as a new pod would: its code, and folders of its own."""

from __future__ import annotations

import os
import shutil
from typing import NamedTuple


class Fresh(NamedTuple):
    """A folder, with the files of an archive where there is one; or a file with a text."""

    path: str
    archive: str | None = None
    text: str | None = None


def make(fresh: Fresh) -> None:
    """Make it as it should be, whatever is there."""
    _remove(fresh.path)
    if fresh.text is not None:
        os.makedirs(os.path.dirname(fresh.path), exist_ok=True)
        with open(fresh.path, "w", encoding="utf-8") as file:
            file.write(fresh.text)
        return
    os.makedirs(fresh.path)
    if fresh.archive is not None:
        from paddlespec.local.code import unpack

        with open(fresh.archive, "rb") as tar:
            unpack(tar.read(), fresh.path)


def _remove(path: str) -> None:
    """Remove what is at *path*, also from folders that a program closed to writers."""
    if not os.path.isdir(path) or os.path.islink(path):
        if os.path.lexists(path):
            os.unlink(path)
        return
    for where, _, _ in os.walk(path):
        os.chmod(where, 0o700)
    shutil.rmtree(path)
