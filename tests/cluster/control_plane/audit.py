"""The audit log of the control plane, of which only what is new is read each time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class AuditLog:
    """The requests that were made, oldest first; a session writes a hundred megabytes of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._lines: list[tuple[str | None, str | None, bytes]] = []

    def events(self, user: str | None, namespace: str | None) -> list[dict[str, Any]]:
        """The events so far, of a user and in a namespace where these are named."""
        self._go_on()
        return [
            json.loads(line)
            for who, where, line in self._lines
            if user in (None, who) and namespace in (None, where)
        ]

    def _go_on(self) -> None:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read)
            complete, end, _ = file.read().rpartition(b"\n")
        self._read += len(complete) + len(end)
        for line in complete.splitlines():
            event = json.loads(line)
            where = event.get("objectRef", {}).get("namespace")
            self._lines.append((event["user"].get("username"), where, line))
