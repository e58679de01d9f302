"""Colors of states, on terminals."""

from __future__ import annotations

_RED, _GREEN, _YELLOW, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
_COLORS = {
    **dict.fromkeys(("failing", "failed", "lost", "unknown"), _RED),
    **dict.fromkeys(("running", "succeeded"), _GREEN),
    **dict.fromkeys(("suspended", "queued", "pending", "waiting", "stopping"), _YELLOW),
}


def painted(cell: str) -> str:
    """Return *cell* in the color of the state it begins with; other cells unchanged."""
    word = cell.split(maxsplit=1)[0].rstrip(":") if cell.strip() else ""
    color = _COLORS.get(word)
    return cell.replace(word, f"{color}{word}{_OFF}", 1) if color else cell
