"""
Run a server that dies with the test session, even when the session is killed.

A killed pytest runs no teardown and would leave half a gigabyte of servers behind. Linux can signal
a process when its parent dies. The setting survives exec, so this small program enables it and then
becomes the server.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Enable the signal, and exit at once if the parent is already dead."""
    parent, *command = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):
        sys.exit("the test session has ended")
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
