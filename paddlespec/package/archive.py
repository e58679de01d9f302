"""
The bytes of a package: a plain tar that depends on names, contents and the executable bit alone.

The headers are written here and not by tarfile, because they are part of a promise: the digest
stands in the names of objects, so another Python must not write another byte. Names are raw UTF-8,
as GNU tar stores them; only what is too long for USTAR gets a PAX header. There is no entry for the
top folder, whose mode an unprivileged container could not set.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.package.collect import Collection
    from paddlespec.package.walk import File

LARGEST = 1_048_576
"""What the API server takes in one ConfigMap, decoded."""

WARN_ABOVE = 190_000
"""What client-side `kubectl apply` takes, which repeats it all in an annotation."""

_BLOCK = 512
_END = bytes(2 * _BLOCK)
_NAME, _PREFIX = 100, 155


def archive(collection: Collection, into: str) -> bytes:
    """
    The files of *collection* below the folder *into*, `.` for the top.

    Raises `OSError` when a file vanished since it was collected.
    """
    parts = []
    for entry in _entries(collection, into):
        content = b""
        if entry.file:
            with open(entry.file.source, "rb") as file:
                content = file.read()
        parts += [*entry.headers(len(content)), content, bytes(-len(content) % _BLOCK)]
    return b"".join([*parts, _END])


def archive_size(collection: Collection, into: str) -> int:
    """The size of the archive, without reading a file."""
    size = len(_END)
    for entry in _entries(collection, into):
        content = entry.file.size if entry.file else 0
        size += sum(map(len, entry.headers(content))) + content + -content % _BLOCK
    return size


def digest(data: bytes) -> str:
    """A short name for *data*, as part of the names of objects."""
    from hashlib import sha256

    return sha256(data).hexdigest()[:10]


class _Entry(NamedTuple):
    """A file or, without one, a folder."""

    name: str
    file: File | None = None

    def headers(self, size: int) -> Iterator[bytes]:
        """The header blocks, where the content has *size* bytes."""
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
    """The files and the folders above them, in the order of their names."""
    top = posixpath.normpath(into.strip("/") or ".")
    entries: dict[str, _Entry] = {}
    for file in collection.files:
        name = posixpath.normpath(posixpath.join(top, file.path))
        entries[name] = _Entry(name, file)
        while (name := posixpath.dirname(name)) and name not in entries:
            entries[name] = _Entry(name)
    yield from (entries[name] for name in sorted(entries))


def _split(name: bytes) -> tuple[bytes, bytes] | None:
    """*name* as USTAR keeps it, cut at a slash; nothing when there is no place for that."""
    if len(name) <= _NAME:
        return b"", name
    cut = name.find(b"/", len(name) - _NAME - 1, min(_PREFIX + 1, len(name) - 1))
    return None if cut < 0 else (name[:cut], name[cut + 1 :])


def _record(key: bytes, value: bytes) -> bytes:
    """A PAX record, which begins with its own length."""
    rest = b" %s=%s\n" % (key, value)
    size = len(rest)
    while size != len(b"%d" % size) + len(rest):
        size = len(b"%d" % size) + len(rest)
    return b"%d%s" % (size, rest)


def _header(prefix: bytes, name: bytes, mode: int, size: int, kind: bytes) -> bytes:
    """A USTAR header of nobody, at the beginning of time."""
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
        raise OverflowError(f"a file of {size} bytes does not fit into a tar")
    return header
