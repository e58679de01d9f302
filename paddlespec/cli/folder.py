"""`render --out`: a folder that holds one file per object and nothing else of ours."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from paddlespec.cli.exits import Exit, Stop
from paddlespec.emit import dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.manifest import Manifest
    from paddlespec.pipeline import Built

# The first line of every file that we write: what does not carry it is never removed.
MARK = "# Rendered by paddlespec; changes are lost. Edit the spec instead.\n"


class FileChange(NamedTuple):
    """One file that differs from what is rendered; no content means that it is stale."""

    path: str
    content: str | None

    @property
    def verb(self) -> Literal["missing", "outdated", "stale"]:
        """What is wrong with the file as it is."""
        if self.content is None:
            return "stale"
        return "outdated" if os.path.lexists(self.path) else "missing"


def changes(built: Sequence[Built], out: str) -> list[FileChange]:
    """What has to be written or removed so that *out* holds exactly the manifests of *built*."""
    wanted: dict[str, str] = {}
    for job in built:
        for manifest in job.manifests:
            path = os.path.join(out, *_file_name(manifest))
            if path in wanted:
                name = f"{manifest['kind']}/{manifest['metadata']['name']}"
                raise Stop(Exit.usage, f"two specs render {name}", "give the jobs different names")
            wanted[path] = MARK + dump(manifest)
    found = [FileChange(path, text) for path, text in wanted.items() if _read(path) != text]
    found += [FileChange(path, None) for path in _ours(out) if path not in wanted]
    return sorted(found)


def write(wanted: Sequence[FileChange]) -> None:
    """Make the changes; each file is whole at every moment, and nobody else's is touched."""
    for each in wanted:
        content = _read(each.path)
        if os.path.lexists(each.path) and not (content or "").startswith(MARK):
            hint = "move it away, or choose another folder"
            raise Stop(Exit.refused, f"{each.path} was not written by paddlespec", hint)
    for each in wanted:
        try:
            if each.content is None:
                os.remove(each.path)
                continue
            os.makedirs(os.path.dirname(each.path), exist_ok=True)
            draft = f"{each.path}.part"
            with open(draft, "w", encoding="utf-8", newline="\n") as file:
                file.write(each.content)
            os.replace(draft, each.path)
        except OSError as error:
            raise Stop(Exit.refused, f"cannot write {each.path}: {error.strerror}") from None


def _file_name(manifest: Manifest) -> tuple[str, ...]:
    metadata = manifest["metadata"]
    file = (
        f"{metadata['labels']['paddlespec.io/job']}",
        f"{manifest['kind'].lower()}-{metadata['name']}.yaml",
    )
    return (metadata["namespace"], *file) if "namespace" in metadata else file


def _ours(out: str) -> list[str]:
    found = []
    for where, _, names in os.walk(out):
        for name in names:
            path = os.path.join(where, name)
            if name.endswith(".yaml") and (_read(path) or "").startswith(MARK):
                found.append(path)
    return found


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
