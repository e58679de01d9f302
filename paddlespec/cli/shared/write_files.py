"""Writing files whole or not at all, and showing what would change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Mapping


def write_all(contents: Mapping[str, bytes]) -> None:
    """
    Write every file or none, as far as a file system can: drafts first, then renames.

    Permissions are kept, and a link still points to the file it names. Raises `Stop`.
    """
    drafts: dict[str, str] = {}
    path = ""
    try:
        for path, content in contents.items():
            target = os.path.realpath(path)
            draft = os.path.join(
                os.path.dirname(target), f".{os.path.basename(target)}.{os.getpid()}.part"
            )
            drafts[draft] = target
            with open(draft, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(target):
                os.chmod(draft, os.stat(target).st_mode & 0o7777)
        for draft, target in drafts.items():
            os.replace(draft, target)
    except OSError as error:
        for draft in drafts:
            if os.path.exists(draft):
                os.remove(draft)
        raise Stop(Exit.refused, f"cannot write {path}: {error.strerror}") from None


def difference(name: str, before: str, after: str) -> str:
    """An edit as a unified diff."""
    import difflib

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    note = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + note for line in lines)
