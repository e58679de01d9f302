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
_SIGNALS = 31


def words(code: int) -> str:
    """What *code* usually means; empty where only the program knows."""
    own = signalled(code)
    if own != code:
        return f"a process below it: {_WORDS[own]}" if own in _WORDS else ""
    return _WORDS.get(code, "")


def signalled(code: int) -> int:
    """
    *code* as a shell counts a signal.

    Launchers pass on what Python says of a child, which is the signal's number below zero; but 255
    is what a program says that ends with -1.
    """
    return 128 + 256 - code if 256 - _SIGNALS <= code < 255 else code
