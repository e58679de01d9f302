"""A real Kubernetes control plane on this machine, with fake nodes, for the cluster tests."""

from control_plane.build import ensure_built
from control_plane.credentials import USERS
from control_plane.plane import ControlPlane
from control_plane.shared import shared
from control_plane.start import existing, started
from control_plane.toolchain import GoMissingError

__all__ = [
    "USERS",
    "ControlPlane",
    "GoMissingError",
    "ensure_built",
    "existing",
    "shared",
    "started",
]
