"""The user's code as in a pod: unpacked from the archive that would be delivered."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Code(NamedTuple):
    """The package: its archive, its folder in the job, and its Python requirements."""

    content: bytes | None = None
    folder: str = ""
    python: str = "python"
    requirements: str | None = None
    packages: tuple[str, ...] = ()
    digest: str | None = None


def read(rehearsal: Mapping[str, Any]) -> Code:
    """Return the code of a rehearsal; without content if it is on a mount."""
    code = rehearsal.get("code")
    if code is None:
        return Code()
    return Code(
        _archive(code),
        code["folder"],
        code["python"],
        code.get("requirements"),
        tuple(code.get("pip", ())),
        code.get("digest"),
    )


def unpack(content: bytes, folder: str) -> None:
    """Unpack an archive into *folder*, the writable copy of one replica."""
    import tarfile
    from io import BytesIO

    os.makedirs(folder, exist_ok=True)
    with tarfile.open(fileobj=BytesIO(content), mode="r:") as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:  # Python before 3.11.4
            tar.extractall(folder)  # noqa: S202 - made by this tool


def text_of(content: bytes, name: str) -> str | None:
    """Return the text of the file *name* in an archive."""
    import tarfile
    from io import BytesIO

    with tarfile.open(fileobj=BytesIO(content), mode="r:") as tar:
        try:
            file = tar.extractfile(name)
        except KeyError:
            return None
        return file.read().decode("utf-8", "replace") if file else None


def _archive(code: Mapping[str, Any]) -> bytes | None:
    """Return the archive that is delivered with the job."""
    from base64 import b64decode

    packed = code.get("binaryData", {}).get("code.tar")
    return b64decode(packed) if packed else None
