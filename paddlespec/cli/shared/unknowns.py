"""Notes about what the user may not see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cli.shared.output import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.capacity.line import Unknown


def note_unknown(unknown: Sequence[Unknown]) -> None:
    """Print what is unknown, and why."""
    for one in dict.fromkeys(unknown):
        note(f"{one.what}: unknown: {one.reason}")
