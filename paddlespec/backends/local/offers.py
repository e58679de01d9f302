"""What this machine offers to commands; each class imports what it needs on first use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.capabilities import Lack
from paddlespec.runs.values import Until

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from paddlespec.backends.capabilities import RunLogs, Streams
    from paddlespec.backends.local.engine import Engine
    from paddlespec.capacity.holding import Holding
    from paddlespec.capacity.line import Unknown
    from paddlespec.logs.line import Source
    from paddlespec.runs.state import Worker
    from paddlespec.runs.values import Run

LACKS = {
    "shell": Lack("`shell` needs a cluster", "for a rehearsal use: paddlespec exec {job} -- bash"),
    "get quota": Lack("`get quota` needs a cluster: a rehearsal has no quota"),
    "render --feasibility": Lack("--feasibility needs a cluster: a rehearsal has no quota"),
    "diff --out": Lack(
        "a plan needs a cluster", "to rehearse now: paddlespec apply --target local"
    ),
}


class LocalLogs(NamedTuple):
    """Read the log files of runs; `namespace` is None if the user names none."""

    namespace: str | None

    def of_run(
        self, job: str, number: int | None, *, previous: bool, container: str | None = None
    ) -> RunLogs:
        """Open the files of a run."""
        from paddlespec.backends.local.logs.log_places import Kept
        from paddlespec.runs.failures import NotFound

        if container is not None:
            raise NotFound("a rehearsal has processes, not containers", "remove --container")

        return Kept(job, self.namespace, number, int(previous))


class LocalRanks(NamedTuple):
    """Read the files of launchers."""

    namespace: str | None

    def copy(
        self,
        job: str,
        run: int | None,
        replica: Source,
        rank: int,
        lines: int | None,
        write: Callable[[bytes], None],
        *,
        follow: bool,
    ) -> None:
        """Write the log of one process, also after its end."""
        from paddlespec.backends.local.logs import rank_log
        from paddlespec.backends.local.logs.log_places import run_of

        place = run_of(job, self.namespace, run, 0)
        rank_log.copy(place, replica.name, rank, lines, write, follow=follow)


class LocalExecutes(NamedTuple):
    """Run commands beside a process, with its variables, folder and mounts."""

    engine: Engine

    def execute(
        self,
        job: str,
        replica: str,
        command: Sequence[str],
        streams: Callable[[], AbstractContextManager[Streams]],  # noqa: ARG002 - inherited as they are
        report: Callable[[str], None],
    ) -> int:
        """Run *command* as the process of *replica* was run."""
        from paddlespec.backends.local import enter
        from paddlespec.backends.local.observe.job_states import process_of

        engine = self.engine
        process = process_of(engine.namespace, job, replica, engine.environment)
        sys.stdout.flush()
        return enter.execute(process, command, report)


class LocalAddresses(NamedTuple):
    """Return addresses of this machine, on which processes listen."""

    def address(self, worker: Worker) -> str:
        """Return the loopback address of a replica; replicas that do not communicate share one."""
        return worker.address or "127.0.0.1"


class LocalHoldings(NamedTuple):
    """Return cores, memory and devices of this machine."""

    def holdings(self) -> tuple[list[Holding], list[Unknown]]:
        """Return one row for each resource; none is hidden from the user."""
        from paddlespec.backends.local.machine import resources

        return list(resources.holdings()), []


class LocalAdvice(NamedTuple):
    """Advise what to do with a started rehearsal."""

    engine: Engine

    def after_apply(self, run: Run, until: Until) -> str | None:
        """Say what a complete run left behind, or how to follow a running one."""
        name = run.work.name
        if until is Until.complete:
            left = self.engine.leavings(run)
            return "\n".join(f"{name}: {line}" for line in left) or None
        if self.engine.is_running(run):
            return f"next: paddlespec logs {name} -f, paddlespec kill {name}"
        return None
