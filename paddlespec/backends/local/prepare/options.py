"""The user's options for running a job on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.user_dirs import user_dir

if TYPE_CHECKING:
    from collections.abc import Mapping


class Options(NamedTuple):
    """
    How to run a job on this machine.

    `mounts` maps paths of the job to folders; `claims` maps names of claims, as configured for the
    datacenter. `environment` is the user's shell. Without `true_paths`, paths are rewritten even if
    processes could see the true ones. `namespace` overrides the spec's. With `in_image`, replicas run
    in containers of their image.
    """

    mounts: Mapping[str, str] = {}
    claims: Mapping[str, str] = {}
    python: str | None = None
    cpu_only: bool = False
    environment: Mapping[str, str] = {}
    true_paths: bool = True
    namespace: str | None = None
    in_image: bool = False

    @property
    def cache(self) -> str:
        """Return the folder of files that later runs reuse."""
        return user_dir("cache", self.environment)
