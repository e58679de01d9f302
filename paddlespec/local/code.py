"""The user's code as pods get it: unpacked from the very archive that would travel."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def archive(code: Mapping[str, Any]) -> bytes | None:
    """The tar that travels with the job; nothing where the code is on a mount."""
    from base64 import b64decode

    packed = code.get("binaryData", {}).get("code.tar")
    return b64decode(packed) if packed else None


def unpack(content: bytes, folder: str) -> None:
    """Put the files of an archive into *folder*: a copy of one replica, which may write to it."""
    import tarfile
    from io import BytesIO

    os.makedirs(folder, exist_ok=True)
    with tarfile.open(fileobj=BytesIO(content), mode="r:") as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:  # Python before 3.10.12; the archive is our own
            tar.extractall(folder)  # noqa: S202


def text_of(content: bytes, name: str) -> str | None:
    """The text of the file *name* in an archive."""
    import tarfile
    from io import BytesIO

    with tarfile.open(fileobj=BytesIO(content), mode="r:") as tar:
        try:
            file = tar.extractfile(name)
        except KeyError:
            return None
        return file.read().decode("utf-8", "replace") if file else None
