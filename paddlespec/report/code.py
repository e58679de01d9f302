"""Compare the files of two code archives that are delivered in ConfigMaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.render.manifest import Manifest

_MOST = 5


def changed_files(before: Sequence[Manifest], after: Sequence[Manifest]) -> list[str]:
    """List the changed files, added ones with `+` and removed ones with `-`; at most a few."""
    old, new = _files(before), _files(after)
    if old is None or new is None:
        return []
    names = [
        f"{'+' if name not in old else '-' if name not in new else ''}{name}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    more = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
    return names[:_MOST] + more


def _files(manifests: Sequence[Manifest]) -> dict[str, tuple[int, bytes]] | None:
    """Read the modes and contents of all files in the archives; None without an archive."""
    archives = [
        content
        for manifest in manifests
        if manifest["kind"] == "ConfigMap" and isinstance(manifest.get("binaryData"), dict)
        for name, content in manifest["binaryData"].items()
        if name.endswith(".tar")
    ]
    if not archives:
        return None
    import tarfile
    from base64 import b64decode
    from io import BytesIO

    files = {}
    for archive in archives:
        try:
            with tarfile.open(fileobj=BytesIO(b64decode(archive)), mode="r:") as tar:
                for member in tar:
                    file = tar.extractfile(member) if member.isfile() else None
                    files[member.name] = member.mode, file.read() if file else b""
        except (ValueError, tarfile.TarError):  # not created by paddlespec, or truncated
            return None
    return files
