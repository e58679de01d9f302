"""Build everything that the cluster tests run: `python -m control_plane`."""

from __future__ import annotations

import argparse
import subprocess
import sys

from control_plane.build import binaries_folder, ensure_built
from control_plane.controllers_build import SOURCES, build_folder, controller_build
from control_plane.toolchain import GoMissingError, say

GO_MISSING = 3


def main() -> int:
    """Build, or with --print only name the folders."""
    parser = argparse.ArgumentParser(
        prog="python -m control_plane",
        description="Build the control plane and the controllers that the cluster tests run.",
    )
    parser.add_argument(
        "--print", action="store_true", help="print the folders of the binaries, build nothing"
    )
    arguments = parser.parse_args()
    try:
        print(binaries_folder() if arguments.print else ensure_built())
        for name in SOURCES:
            print(build_folder(name) if arguments.print else controller_build(name).program.parent)
    except GoMissingError as error:
        say(f"error: {error}")
        return GO_MISSING
    except subprocess.CalledProcessError as error:
        say(f"error: go build ended with exit code {error.returncode}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
