"""Writing files whole or not at all, and showing what would change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paddlespec.boundary import boundary
from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Mapping

# Names have at most 255 bytes.
_MAX_NAME = 40


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
            draft = write_draft(target, content, sync=True)
            drafts[draft] = target
            if os.path.exists(target):
                os.chmod(draft, os.stat(target).st_mode & 0o7777)
        for draft, target in drafts.items():
            os.replace(draft, target)
    except OSError as error:
        for draft in drafts:
            if os.path.exists(draft):
                os.remove(draft)
        raise Stop(Exit.refused, f"cannot write {path}: {error.strerror}") from None


def replace(path: str, content: bytes) -> None:
    """Write one file whole or not at all; a link is replaced. Raises `OSError`."""
    draft = write_draft(path, content)
    try:
        os.replace(draft, path)
    except OSError:
        os.remove(draft)
        raise


def write_draft(path: str, content: bytes, *, sync: bool = False) -> str:
    """
    Write *content* to a new file beside *path* and return its name; raises `OSError`.

    The name is random, and this call creates the file, so a link cannot take its place.
    """
    from secrets import token_hex

    folder, name = os.path.split(path)
    draft = os.path.join(folder, f".{name[:_MAX_NAME]}.{token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(draft, flags, 0o666)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
    except BaseException:
        os.remove(draft)
        raise
    return draft


def refuse_outside(folder: str, allowed: tuple[str, ...]) -> None:
    """Raise `Stop` if links lead from *folder* out of the repository that contains it."""
    limit = boundary(os.path.dirname(os.path.abspath(folder)), allowed)
    if limit.is_repository and not limit.holds(folder):
        hint = "remove the link, or allow its target: --allow-outside DIR"
        raise Stop(Exit.refused, f"{folder} is a link that leads out of {limit}", hint)


def refuse_links(path: str, folder: str) -> None:
    """Raise `Stop` for a link below *folder* on the way to *path*, which is in it."""
    part, folder = os.path.normpath(path), os.path.normpath(folder)
    while part not in (folder, "", os.path.dirname(part)):
        if os.path.islink(part):
            raise Stop(Exit.refused, f"{part} is a link", "remove it, or choose another folder")
        part = os.path.dirname(part)


def difference(name: str, before: str, after: str) -> str:
    """An edit as a unified diff."""
    import difflib

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    note = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + note for line in lines)
