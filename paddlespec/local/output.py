"""
What becomes of results that are there already: the rule of `templates/scripts/output-*.sh`.

A run leaves its mark in the folder, so that it takes what it wrote itself for no surprise.
"""

from __future__ import annotations

import os

_MARKS = ".paddlespec"
_OURS = frozenset((_MARKS, "lost+found"))


def fault(folder: str, shown: str, policy: str) -> str | None:
    """Why a job must not write to *folder*, which it calls *shown*."""
    if policy != "refuse":
        return None
    try:
        found = sorted(set(os.listdir(folder)) - _OURS)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"the output {shown} cannot be read: {(error.strerror or str(error)).lower()}"
    if not found:
        return None
    return (
        f"the output {shown} is {folder} here, and holds {found[0]}: choose another output, or "
        "outputPolicy reuse or clear"
    )


def claim(folder: str, policy: str, run: str) -> None:
    """Make *folder* what *policy* promises, for *run*."""
    if policy == "reuse":
        return
    os.makedirs(os.path.join(folder, _MARKS), exist_ok=True)
    if policy == "clear":
        from shutil import rmtree

        for entry in list(os.scandir(folder)):
            if entry.name in _OURS:
                continue
            if entry.is_dir(follow_symlinks=False):
                rmtree(entry.path)
            else:
                os.unlink(entry.path)
    os.makedirs(os.path.join(folder, _MARKS, run), exist_ok=True)
