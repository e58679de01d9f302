"""Delete jobs that have an inventory but no spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.runs.values import Orphan

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.cluster.engine import Engine
    from paddlespec.runs.values import Compared, Event, Mode


class ClusterRetires(NamedTuple):
    """Delete jobs that have an inventory but no spec."""

    engine: Engine

    def recorded(self, project: str) -> list[Orphan]:
        """Return the jobs whose inventories name a spec."""
        from paddlespec.backends.cluster.change import retire

        return [Orphan(*job) for job in retire.recorded(self.engine.client, project)]

    def compare_orphan(self, job: Orphan) -> Compared:
        """Return what `retire` would delete."""
        from paddlespec.backends.cluster.change import retire

        return retire.compare(self.engine.client, retire.Recorded(*job))

    def retire(
        self, job: Orphan, mode: Mode, report: Callable[[Event], None], *, force_unlock: bool
    ) -> None:
        """Delete what is left of a job that is not running."""
        from paddlespec.backends.cluster.change import retire

        recorded = retire.Recorded(*job)
        retire.retire(self.engine.client, recorded, mode, report, force_unlock=force_unlock)
