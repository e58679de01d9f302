"""
Bound what a server may answer: its time, size, encoding and nesting.

The timeouts of urllib3 hold for single reads, and it reads headers, lines and bodies of any length.
Connections of `bounded` pools count every byte instead, from the first one of the headers on.
"""

from __future__ import annotations

import http.client
import io
import json
import time
import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import urllib3

MIB = 1024 * 1024
# Slower than any link that people work over.
_BYTES_PER_SECOND = 64 * 1024
_BLOCK = 64 * 1024
_LONGEST_LINE = 64 * 1024
# Objects of Kubernetes are about 20 levels deep.
_DEEPEST = 100
_GZIP = 16 + zlib.MAX_WBITS
Pool = TypeVar("Pool", bound="urllib3.PoolManager")


class Limits(NamedTuple):
    """
    What one answer may take.

    It must arrive within `seconds`, plus the time that its bytes need over a slow link, and never
    after `latest`, a time of the monotonic clock. It has at most `most` bytes, before and after
    decoding. If `lasting`, the body of a successful answer has no end: any number of bytes, and
    `seconds` between two of them. After `patience` seconds without a byte, `notice` is called once.
    """

    server: str
    seconds: float
    most: int
    latest: float | None = None
    lasting: bool = False
    patience: float | None = None
    notice: Callable[[], None] | None = None


class UnusableAnswer(OperationFailed):
    """A server answered, but not as it may."""


_limits: ContextVar[Limits | None] = ContextVar("limits", default=None)


def bounded(pool: Pool) -> Pool:
    """Make every connection of *pool* obey the limits of its request."""
    pool.pool_classes_by_scheme = {
        scheme: _bounded(kind) for scheme, kind in pool.pool_classes_by_scheme.items()
    }
    return pool


def _bounded(kind: Any) -> Any:
    """Derive a class of connection pools, which may be that of a proxy."""
    connection = type("Connection", (kind.ConnectionCls,), {"response_class": _Answer})
    return type("Pool", (kind,), {"ConnectionCls": connection})


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Apply *limits* to answers that begin in this context, of `bounded` pools."""
    before = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(before)


def content(response: urllib3.BaseHTTPResponse, limits: Limits) -> bytes:
    """Read the body of a response that is not preloaded; raises `UnusableAnswer`."""
    try:
        text = b"".join(_decoded(response, limits))
    except zlib.error:
        response.close()
        raise UnusableAnswer(f"{limits.server} answers in a broken encoding") from None
    except BaseException:  # an interrupt must not leave a half-read connection in the pool
        response.close()
        raise
    response.release_conn()
    return text


def _decoded(response: urllib3.BaseHTTPResponse, limits: Limits) -> Iterator[bytes]:
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise UnusableAnswer(f"{limits.server} answers in an unknown encoding")
    decoder = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
    size = 0
    for block in response.stream(_BLOCK, decode_content=False):
        if decoder is not None:
            block = decoder.decompress(block, limits.most - size + 1)
        size += len(block)
        if size > limits.most:
            raise _too_large(limits)
        yield block


def parsed(text: bytes | str) -> Any:
    """Parse JSON as servers may send it: of bounded depth, without NaN; raises `ValueError`."""
    try:
        data = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    nodes = [data]
    for _ in range(_DEEPEST):
        nodes = [child for node in nodes for child in _children(node)]
        if not nodes:
            return data
    raise ValueError("nested too deeply")


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [child for child in node.values() if isinstance(child, (dict, list))]
    if isinstance(node, list):
        return [child for child in node if isinstance(child, (dict, list))]
    return []


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _too_large(limits: Limits) -> UnusableAnswer:
    return UnusableAnswer(
        f"{limits.server} sends more than {limits.most // MIB} MiB in one answer",
        "check whether a proxy or a login page answers instead",
    )


class _Answer(http.client.HTTPResponse):
    """A response that reads its connection within the limits of the context."""

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        limits = _limits.get()
        self._source = None if limits is None else _Source(sock, limits)
        source: Any = self._source or sock
        super().__init__(source, *args, **kwargs)

    def begin(self) -> None:
        super().begin()
        if self._source is not None and 200 <= self.status < 300:
            self._source.raw.opened()


class _Source:
    """What a response needs of a socket: a file to read from."""

    def __init__(self, sock: Any, limits: Limits) -> None:
        self.raw = _Raw(sock, limits)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return _Lines(self.raw)


class _Lines(io.BufferedReader):
    """Lines of bounded length: that of a chunk's size has no bound in urllib3."""

    def readline(self, size: int | None = -1, /) -> bytes:
        return super().readline(_LONGEST_LINE + 1 if size is None or size < 0 else size)


class _Raw(io.RawIOBase):
    """The bytes of one answer, counted and timed."""

    def __init__(self, sock: Any, limits: Limits) -> None:
        super().__init__()
        # A socket stays open as long as a file of it does.
        self._file = sock.makefile("rb", buffering=0)
        self._sock, self._limits = sock, limits
        self._usual = sock.gettimeout()
        self._begun = self._heard = time.monotonic()
        self._received, self._flows, self._noticed = 0, False, limits.notice is None

    def opened(self) -> None:
        """Note that the headers of a successful answer are complete."""
        self._flows = self._limits.lasting

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while True:
            wait = self._left()
            if not self._noticed and self._limits.patience is not None:
                wait = min(wait, max(0.001, self._heard + self._limits.patience - time.monotonic()))
            try:
                self._sock.settimeout(wait)
                count: int = self._sock.recv_into(buffer)
            except TimeoutError:
                self._left()
                self._notice()
                continue
            break
        if count:
            # What is sent next over this connection has its own time.
            self._sock.settimeout(self._usual)
        self._heard = time.monotonic()
        self._received += count
        if self._received > self._limits.most + MIB and not self._flows:
            raise _too_large(self._limits)
        return count

    def _left(self) -> float:
        """How long the next bytes may take; raises `TimeoutError` once they are late."""
        limits, now = self._limits, time.monotonic()
        if self._flows:
            end = self._heard + limits.seconds
        else:
            end = self._begun + limits.seconds + self._received / _BYTES_PER_SECOND
            if limits.latest is not None:
                end = min(end, max(limits.latest, self._begun + 0.5))
        if now >= end:
            raise TimeoutError("the answer takes too long")
        return end - now

    def _notice(self) -> None:
        silence = time.monotonic() - self._heard
        if self._noticed or self._limits.notice is None or self._limits.patience is None:
            return
        if silence >= self._limits.patience:
            self._noticed = True
            self._limits.notice()

    def close(self) -> None:
        self._file.close()
        super().close()
