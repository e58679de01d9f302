"""Which files of the user's code differ between two archives that travel in ConfigMaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.manifest import Manifest

_MOST = 5


def changed_files(before: Sequence[Manifest], after: Sequence[Manifest]) -> list[str]:
    """The files by name, with `+` what comes and with `-` what goes; at most a few of them."""
    old, new = _files(before), _files(after)
    if old is None or new is None:
        return []
    found = [
        f"{'+' if name not in old else '-' if name not in new else ''}{name}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    more = [f"{len(found) - _MOST} more"] if len(found) > _MOST else []
    return found[:_MOST] + more


def _files(manifests: Sequence[Manifest]) -> dict[str, tuple[int, bytes]] | None:
    """The modes and contents of all files in the archives; nothing without an archive."""
    archives = [
        content
        for each in manifests
        if each["kind"] == "ConfigMap" and isinstance(each.get("binaryData"), dict)
        for name, content in each["binaryData"].items()
        if name.endswith(".tar")
    ]
    if not archives:
        return None
    import tarfile
    from base64 import b64decode
    from io import BytesIO

    found = {}
    for each in archives:
        try:
            with tarfile.open(fileobj=BytesIO(b64decode(each)), mode="r:") as tar:
                for member in tar:
                    file = tar.extractfile(member) if member.isfile() else None
                    found[member.name] = member.mode, file.read() if file else b""
        except (ValueError, tarfile.TarError):  # someone else's, or cut off
            return None
    return found
