"""
Write a package as a tar that depends only on names, contents and the executable bit.

The headers are written here instead of by tarfile: the names of objects contain the digest, so the
bytes must not depend on the Python version. Names are raw UTF-8, as in GNU tar; only names that are
too long for USTAR get a PAX header. The top folder has no entry, because an unprivileged container
could not set its mode.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.package.collect import Collection
    from paddlespec.package.walk import File

MAX_CONFIG_MAP_BYTES = 1_048_576
"""The size limit of one ConfigMap, decoded."""

MAX_CLIENT_SIDE_BYTES = 190_000
"""The limit of client-side `kubectl apply`, which copies the object into an annotation."""

_BLOCK = 512
_END = bytes(2 * _BLOCK)
_NAME, _PREFIX = 100, 155


def archive(collection: Collection, into: str) -> bytes:
    """
    Write the files of *collection* below the folder *into*, or `.` for the top.

    Raises `OSError` if a file was deleted after it was collected. A file that grew is cut off.
    """
    parts = []
    for entry in _entries(collection, into):
        content = b""
        if entry.file:
            with open(entry.file.source, "rb") as file:
                content = file.read(entry.file.size)
        parts += [*entry.headers(len(content)), content, bytes(-len(content) % _BLOCK)]
    return b"".join([*parts, _END])


def archive_size(collection: Collection, into: str) -> int:
    """Compute the size of the archive without reading a file."""
    size = len(_END)
    for entry in _entries(collection, into):
        content = entry.file.size if entry.file else 0
        size += sum(map(len, entry.headers(content))) + content + -content % _BLOCK
    return size


def digest(data: bytes) -> str:
    """Return a short hash of *data* for the names of objects."""
    from hashlib import sha256

    return sha256(data).hexdigest()[:10]


class _Entry(NamedTuple):
    """A file or, without one, a folder."""

    name: str
    file: File | None = None

    def headers(self, size: int) -> Iterator[bytes]:
        """Yield the header blocks for a content of *size* bytes."""
        name = self.name.encode() + (b"" if self.file else b"/")
        kind = b"0" if self.file else b"5"
        mode = 0o644 if self.file and not self.file.executable else 0o755
        parts = _split(name)
        if parts is None:
            record = _record(b"path", name)
            yield _header(b"", b"././@PaxHeader", 0o644, len(record), b"x")
            yield record + bytes(-len(record) % _BLOCK)
            parts = b"", name[:_NAME]
        yield _header(*parts, mode, size, kind)


def _entries(collection: Collection, into: str) -> Iterator[_Entry]:
    """Yield the files and the folders above them, sorted by name."""
    top = posixpath.normpath(into.strip("/") or ".")
    entries: dict[str, _Entry] = {}
    for file in collection.files:
        name = posixpath.normpath(posixpath.join(top, file.path))
        entries[name] = _Entry(name, file)
        while (name := posixpath.dirname(name)) and name not in entries:
            entries[name] = _Entry(name)
    yield from (entries[name] for name in sorted(entries))


def _split(name: bytes) -> tuple[bytes, bytes] | None:
    """Split *name* at a slash into USTAR prefix and name; None if it is too long."""
    if len(name) <= _NAME:
        return b"", name
    cut = name.find(b"/", len(name) - _NAME - 1, min(_PREFIX + 1, len(name) - 1))
    return None if cut < 0 else (name[:cut], name[cut + 1 :])


def _record(key: bytes, value: bytes) -> bytes:
    """Format a PAX record, which starts with its own length."""
    rest = b" %s=%s\n" % (key, value)
    size = len(rest)
    while size != len(b"%d" % size) + len(rest):
        size = len(b"%d" % size) + len(rest)
    return b"%d%s" % (size, rest)


def _header(prefix: bytes, name: bytes, mode: int, size: int, kind: bytes) -> bytes:
    """Format a USTAR header without owner, group and time."""
    fields = [
        name.ljust(_NAME, b"\0"),
        b"%07o\0" % mode,
        b"0000000\0" * 2,  # owner and group
        b"%011o\0" % size,
        b"00000000000\0",  # time
        b" " * 8,  # the checksum counts itself as spaces
        kind,
        bytes(100),  # the target of a link
        b"ustar\x0000",
        bytes(64),  # names of owner and group
        b"0000000\0" * 2,  # device
        prefix.ljust(_PREFIX, b"\0"),
        bytes(12),
    ]
    fields[5] = b"%06o\0 " % sum(b"".join(fields))
    header = b"".join(fields)
    if len(header) != _BLOCK:
        raise OverflowError(f"a file of {size} bytes is too large for a tar archive")
    return header
