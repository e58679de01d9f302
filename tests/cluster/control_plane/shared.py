"""
One control plane for all processes of a test run.

The first process that needs it starts a keeper, which runs the servers until the owner of the run
ends, however it ends. The others read where the servers are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import sleep

from control_plane.plane import ControlPlane
from control_plane.process import ServerFailedError, last_lines
from control_plane.run import locked

ADDRESS = "control-plane.json"
LOG = "control-plane.log"
# Kept until this process ends: the owner of the run waits for the keeper, not this process.
KEEPERS: list[subprocess.Popen[bytes]] = []


def shared(run: Path, binaries: Path) -> ControlPlane:
    """
    Attach to the control plane of the run, and start it first if necessary.

    A failed start is not retried: every worker would wait for it again.
    """
    address = run / ADDRESS
    with locked(run / "start"):
        if not (run / LOG).exists():
            _start(run, binaries)
    if not address.exists():
        raise ServerFailedError(f"the control plane did not start:\n{last_lines(run / LOG)}")
    return _read(address)


def _start(run: Path, binaries: Path) -> None:
    command = [sys.executable, "-m", "control_plane.keeper", str(run), str(binaries)]
    with (run / LOG).open("wb") as log:
        keeper = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=Path(__file__).parents[1],
            start_new_session=True,
        )
    KEEPERS.append(keeper)
    while keeper.poll() is None and not (run / ADDRESS).exists():
        sleep(0.05)


def publish(plane: ControlPlane, run: Path) -> None:
    """Record where the servers of the run are."""
    document = {
        "kubeconfig": str(plane.kubeconfig),
        "server": plane.server,
        "ca": str(plane.ca),
        "token": plane.token,
        "folder": str(plane.folder),
        "kubectl_binary": plane.kubectl_binary,
        "pod_port": plane.pod_port,
    }
    complete = run / f"{ADDRESS}.part"
    complete.write_text(json.dumps(document), encoding="utf-8")
    complete.rename(run / ADDRESS)


def _read(path: Path) -> ControlPlane:
    document = json.loads(path.read_text(encoding="utf-8"))
    paths = {key: Path(document[key]) for key in ("kubeconfig", "ca", "folder")}
    return ControlPlane(**{**document, **paths})
