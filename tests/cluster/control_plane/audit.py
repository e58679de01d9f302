"""The audit log of the control plane, read incrementally."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

# In an event, user and object come before the bodies.
HEAD = re.compile(
    rb'\{.*?"user":\{(?:"username":"(?P<user>[^"]*)")?'
    rb'(?:.*?"objectRef":\{(?:[^}]*?"namespace":"(?P<namespace>[^"]*)")?)?'
)


class Entry(NamedTuple):
    """The position of a line of the log, and its user and namespace."""

    user: str | None
    namespace: str | None
    begin: int
    length: int


class AuditLog:
    """
    The requests so far, oldest first.

    A run writes a hundred megabytes of them, so only their positions are kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._entries: list[Entry] = []

    def holds(self, mark: str) -> bool:
        """Read new entries, and report whether one has this mark in its path."""
        with self._path.open("rb") as file:
            file.seek(self._read)
            complete, end, _ = file.read().rpartition(b"\n")
        lines = (complete + end).splitlines(keepends=True)
        for line in lines:
            self._note(line)
        return any(mark.encode() in line for line in lines)

    def events(self, user: str | None, namespace: str | None) -> list[dict[str, Any]]:
        """Return the events read so far, optionally of one user or namespace."""
        events = []
        with self._path.open("rb") as file:
            for entry in self._entries:
                if user in (None, entry.user) and namespace in (None, entry.namespace):
                    file.seek(entry.begin)
                    events.append(json.loads(file.read(entry.length)))
        return events

    def _note(self, line: bytes) -> None:
        head = HEAD.match(line)
        assert head is not None, line
        user, namespace = (None if part is None else part.decode() for part in head.groups())
        self._entries.append(Entry(user, namespace, self._read, len(line)))
        self._read += len(line)
