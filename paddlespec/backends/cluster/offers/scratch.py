"""Scratch containers: Jobs with a deadline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.capabilities import ShellState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.engine import Engine
    from paddlespec.backends.cluster.streams import scratch_container
    from paddlespec.render.manifest import Manifest
    from paddlespec.targets.shell import Source


class ClusterScratch(NamedTuple):
    """Scratch containers: Jobs with a deadline."""

    engine: Engine

    def find(self, name: str) -> ScratchShell | None:
        """Return the scratch container *name*, if it exists."""
        from paddlespec.backends.cluster.streams import scratch_container

        shell = scratch_container.find(self.engine.client, name)
        return ScratchShell(self.engine.client, shell) if shell else None

    def source(self, job: str, role: str) -> Source:
        """Return the live object that runs *role*."""
        from paddlespec.backends.cluster.streams import scratch_container

        return scratch_container.source_of(self.engine.client, job, role)

    def check_claims(self, manifests: Sequence[Manifest]) -> None:
        """Raise `NotFound` for a claim that does not exist."""
        from paddlespec.backends.cluster.streams import scratch_container

        scratch_container.check_claims(self.engine.client, manifests)

    def create(self, manifests: Sequence[Manifest]) -> ScratchShell:
        """Create the Job and the objects that it owns."""
        from paddlespec.backends.cluster.streams import scratch_container

        client = self.engine.client
        return ScratchShell(client, scratch_container.create(client, manifests))


class ScratchShell(NamedTuple):
    """An existing scratch container."""

    client: Client
    shell: scratch_container.Shell

    @property
    def name(self) -> str:
        """The name of its Job."""
        return self.shell.name

    def look(self) -> ShellState:
        """Return its state."""
        from paddlespec.backends.cluster.streams import scratch_container

        current = scratch_container.look(self.client, self.shell)
        return ShellState(current.progress, current.place.pod if current.place else None)

    def remove(self) -> None:
        """Delete the Job with everything it owns."""
        from paddlespec.backends.cluster.streams import scratch_container

        scratch_container.remove(self.client, self.shell)
