"""Describe exit codes; a signal counts as 128 plus its number, as in a shell."""

from __future__ import annotations

_MEANINGS = {
    129: "hung up",
    130: "interrupted",
    134: "aborted",
    135: "bus error: /dev/shm may be full",
    137: "killed: out of memory, or by the system",
    139: "segmentation fault",
    143: "terminated",
}
_SIGNALS = 31
_TERMINATED = 143


def meaning(code: int) -> str:
    """Describe the usual meaning of *code*; empty if only the program defines it."""
    own = signalled(code)
    if own != code and own == _TERMINATED:
        return "the launcher stopped its processes, usually after another one failed"
    if own != code:
        return f"a child process: {_MEANINGS[own]}" if own in _MEANINGS else ""
    return _MEANINGS.get(code, "")


def signalled(code: int) -> int:
    """
    Convert *code* to the code of a shell if it stands for a signal.

    Launchers pass on Python's return code of a child, which is the negative number of the signal.
    255 is not converted, because it is the code of a program that exits with -1.
    """
    return 128 + 256 - code if 256 - _SIGNALS <= code < 255 else code
