"""Read the logs of a run on this machine: files that grow, are renamed and are deleted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paddlespec.backends.local.logs.log_files import (
    identity,
    identity_of,
    later,
    opened,
    since,
    tail,
)
from paddlespec.logs.line import Splitter
from paddlespec.logs.merge import Batch
from paddlespec.logs.start import Start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from paddlespec.logs.line import Line, Source

_BLOCK = 64 * 1024
# After this many reads without data, an incomplete line is shown: a prompt or a progress bar.
_STANDS = 4


class LocalLogs:
    """The logs of one run; implements `Logs`."""

    def __init__(self, readers: Sequence[FileReader], is_over: Callable[[], bool]) -> None:
        self._readers, self._is_over = readers, is_over

    def readers(self) -> Sequence[FileReader]:
        """Return a reader for each process, even if it has not started and has no file yet."""
        return self._readers

    def is_over(self) -> bool:
        """Report whether the supervisor has finished, or has died."""
        return self._is_over()


class FileReader:
    """
    The log of one process; implements `Reader`.

    *report* receives notes about lines that can no longer be read. With *pieces*, an incomplete
    line is returned as far as it was written.
    """

    def __init__(
        self,
        source: Source,
        path: str,
        report: Callable[[str], None],
        start: Start | None = None,
        *,
        pieces: bool = True,
    ) -> None:
        self.source = source
        self._path, self._report, self._pieces = path, report, pieces
        self._splitter = Splitter(source)
        self._file: BinaryIO | None = None
        self._in_vain = 0
        self._begin(start or Start())

    def read(self) -> Batch:
        """Return the next lines; a renamed file is read to its end first."""
        if self._file is None:
            if not (files := opened(self._path)):
                return Batch([], more=False)
            self._take(files, files[0])
        assert self._file is not None
        if block := self._file.read(_BLOCK):
            return self._split(block)
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            return self._again()
        now = identity(self._path)
        if now is not None and now != identity_of(self._file):
            # Data may be written between reaching the end and checking the name.
            block = self._file.read(_BLOCK)
            return self._split(block) if block else self._next()
        self._in_vain += 1
        if self._pieces and self._in_vain == _STANDS:
            return Batch(self._splitter.piece(), more=False)
        return Batch([], more=False)

    def rest(self) -> list[Line]:
        """Return the incomplete last line."""
        return self._splitter.piece()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _split(self, block: bytes) -> Batch:
        self._in_vain = 0
        lines = self._splitter.feed(block)
        return Batch(lines, more=len(block) == _BLOCK or not lines)

    def _ended(self) -> list[Line]:
        """Return the incomplete last line: no line continues in the next file."""
        return self._splitter.feed(b"\n") if self._splitter.is_partial else []

    def _again(self) -> Batch:
        """Start again at the beginning of a file that was truncated."""
        assert self._file is not None
        self._report(f"{self.source.label}: its log was truncated; lines may be missing here")
        self._file.seek(0)
        return Batch(self._ended(), more=True)

    def _next(self) -> Batch:
        """Continue with the next file."""
        assert self._file is not None
        lines = self._ended()
        here = identity_of(self._file)
        files = opened(self._path)
        known = [identity_of(file) for file in files]
        if here in known:
            following = files[known.index(here) + 1 :]
        else:
            following = files
            self._report(f"{self.source.label}: its log was rotated; lines may be missing here")
        if following:
            self._file.close()
            self._take(files, following[0])
        else:
            _close(files)
        return Batch(lines, more=bool(following))

    def _begin(self, start: Start) -> None:
        files = opened(self._path)
        if not files or (start.lines is None and start.time is None):
            _close(files)
            return
        places = []
        if start.time is not None:
            places.append(since(files, start.time))
        if start.lines is not None:
            places.append(tail(files, start.lines, start.matches))
        place = later(files, places[0], places[-1])
        self._take(files, place.file)
        place.file.seek(place.offset)

    def _take(self, files: list[BinaryIO], file: BinaryIO) -> None:
        """Keep *file* open, and close the others."""
        _close([other for other in files if other is not file])
        file.seek(0)
        self._file = file


def _close(files: Sequence[BinaryIO]) -> None:
    for file in files:
        file.close()
