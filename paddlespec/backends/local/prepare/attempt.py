"""Fresh folders for every attempt of a replica, as for a new pod."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddlespec.backends.local.store.launch import Fresh


def make(fresh: Fresh) -> None:
    """Create it anew, replacing what exists."""
    _remove(fresh.path)
    if fresh.text is not None:
        os.makedirs(os.path.dirname(fresh.path), exist_ok=True)
        with open(fresh.path, "w", encoding="utf-8") as file:
            file.write(fresh.text)
        return
    os.makedirs(fresh.path)
    if fresh.archive is not None:
        from paddlespec.backends.local.prepare.unpack import unpack

        with open(fresh.archive, "rb") as tar:
            unpack(tar.read(), fresh.path)


def _remove(path: str) -> None:
    """Remove what is at *path*, even from read-only folders."""
    if not os.path.isdir(path) or os.path.islink(path):
        if os.path.lexists(path):
            os.unlink(path)
        return
    for where, _, _ in os.walk(path):
        os.chmod(where, 0o700)
    shutil.rmtree(path)
