"""Run the control plane of a test run until the owner of the run ends."""

from __future__ import annotations

import sys
from pathlib import Path

from control_plane.run import locked, wait_for_owner
from control_plane.shared import publish
from control_plane.start import started


def main() -> None:
    """Take the folder of the run and that of the binaries."""
    run, binaries = map(Path, sys.argv[1:])
    with locked(run / "shared"), started(binaries) as plane:
        publish(plane, run)
        wait_for_owner(run)


if __name__ == "__main__":
    main()
