"""`render --out`: a folder with one file per object."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal, NamedTuple

from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.write_files import refuse_links, refuse_outside, replace
from paddlespec.spec.emit import dump
from paddlespec.spec.source import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.pipeline import Built
    from paddlespec.render.manifest import Manifest

# The first line of every rendered file: a file without it is never overwritten or removed.
MARK = "# Rendered by paddlespec; changes are lost. Edit the spec instead.\n"


class FileChange(NamedTuple):
    """A file that differs from what is rendered; without content it is stale."""

    path: str
    content: str | None

    @property
    def verb(self) -> Literal["missing", "outdated", "stale"]:
        """What is wrong with the file."""
        if self.content is None:
            return "stale"
        return "outdated" if os.path.lexists(self.path) else "missing"


def changes(built: Sequence[Built], out: str, allowed: tuple[str, ...] = ()) -> list[FileChange]:
    """
    What to write or remove so that *out* holds exactly the manifests of *built*.

    Raises `Stop` for links on the way, except in folders *allowed*.
    """
    refuse_outside(out, allowed)
    contents: dict[str, str] = {}
    for job in built:
        for manifest in job.manifests:
            path = os.path.join(out, *_file_name(manifest))
            if path in contents:
                name = f"{manifest['kind']}/{manifest['metadata']['name']}"
                raise Stop(Exit.usage, f"two specs render {name}", "give the jobs different names")
            refuse_links(path, out)
            contents[path] = MARK + dump(manifest)
    found = [FileChange(path, text) for path, text in contents.items() if _read(path) != text]
    found += [FileChange(path, None) for path in _rendered_files(out) if path not in contents]
    return sorted(found)


def write(files: Sequence[FileChange]) -> None:
    """Make the changes; each file is whole at every moment. Raises `Stop` for foreign files."""
    for file in files:
        content = _read(file.path)
        if os.path.lexists(file.path) and not (content or "").startswith(MARK):
            hint = "move it away, or choose another folder"
            raise Stop(Exit.refused, f"{file.path} was not written by paddlespec", hint)
    for file in files:
        try:
            if file.content is None:
                os.remove(file.path)
                continue
            os.makedirs(os.path.dirname(file.path), exist_ok=True)
            replace(file.path, file.content.encode())
        except OSError as error:
            raise Stop(Exit.refused, f"cannot write {file.path}: {error.strerror}") from None


def _file_name(manifest: Manifest) -> tuple[str, ...]:
    metadata = manifest["metadata"]
    file = (
        f"{metadata['labels']['paddlespec.io/job']}",
        f"{manifest['kind'].lower()}-{metadata['name']}.yaml",
    )
    return (metadata["namespace"], *file) if "namespace" in metadata else file


def _rendered_files(out: str) -> list[str]:
    found = []
    for folder, _, names in os.walk(out):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".yaml") and (_read(path) or "").startswith(MARK):
                found.append(path)
    return found


def _read(path: str) -> str | None:
    """Return the text of a file; None for links, special files and what we cannot have written."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
        return None if len(content) > MAX_BYTES else content.decode()
    except (OSError, UnicodeDecodeError):
        return None
