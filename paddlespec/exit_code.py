"""What exit codes mean, in words; a signal counts as 128 and its number, as in a shell."""

from __future__ import annotations

_WORDS = {
    129: "hung up",
    130: "interrupted",
    134: "aborted",
    135: "bus error: /dev/shm may be full",
    137: "killed: out of memory, or by the system",
    139: "segmentation fault",
    143: "terminated",
}


def words(code: int) -> str:
    """What *code* usually means; empty where only the program knows."""
    return _WORDS.get(code, "")
