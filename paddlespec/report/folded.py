"""Fold the objects of a rehearsal: its processes differ by index, and hold what their pods hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.change.diff import Operation
from paddlespec.render.manifest import role
from paddlespec.report.objects import lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.change.diff import Row
    from paddlespec.report.hidden import Hidden
    from paddlespec.report.objects import Line

_API_VERSION = "paddlespec.io/v1"
# The summary names the changed files.
_INTERNAL = ("metadata.uid:", "spec.code.digest:", "spec.code.binaryData")


def rows_of_lines(rows: Sequence[Row], hidden: Hidden) -> Iterator[list[Line]]:
    """
    Yield the lines of every object.

    Of a rehearsal, the fields of one process of each role are enough, and new objects are only named:
    the preview shows them.
    """
    shown: set[tuple[str, str]] = set()
    for row in rows:
        own = list(lines(row, hidden))
        if row.change.identity.api_version == _API_VERSION:
            manifest = row.change.after or row.change.before or {}
            kind = (row.change.identity.kind, role(manifest) or "")
            is_first = kind not in shown and row.change.operation is not Operation.create
            shown.add(kind)
            own = [line for line in own if line.depth == 0 or (is_first and not _is_internal(line))]
        yield own


def _is_internal(line: Line) -> bool:
    return line.text.startswith(_INTERNAL)
