"""What the user says about this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Options(NamedTuple):
    """
    How a job is to be run here.

    `mounts` maps paths of the job to folders here, `claims` the names of claims: the datacenter's
    local mapping. `environment` is the user's shell. Without `true_paths` paths are rewritten even
    where processes could see the true ones. `namespace` wins over the spec's own.
    """

    mounts: Mapping[str, str] = {}
    claims: Mapping[str, str] = {}
    python: str | None = None
    cpu_only: bool = False
    environment: Mapping[str, str] = {}
    true_paths: bool = True
    namespace: str | None = None

    @property
    def cache(self) -> str:
        """Where things are kept that other runs can use again."""
        shell = self.environment
        home = shell.get("HOME") or os.path.expanduser("~")
        return os.path.join(shell.get("XDG_CACHE_HOME") or f"{home}/.cache", "paddlespec")
