"""Raise the limit on open files and connections, which is 256 on some systems."""

from __future__ import annotations

_OWN = 100


def allow_files(count: int) -> None:
    """Allow this process to open *count* more files and connections."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = count + _OWN
    if soft != resource.RLIM_INFINITY and soft < needed:
        allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
