"""Kubernetes as a backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import JobFailed, Until
from paddlespec.cluster import past, remove, retire, watch
from paddlespec.cluster.apply import Apply
from paddlespec.cluster.client import Client
from paddlespec.cluster.connection import resolve
from paddlespec.cluster.outlook import outlook
from paddlespec.history import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backend import Compared, Consent, Contents, Event, Mode, Progress, Run, Work
    from paddlespec.cluster.retire import Recorded
    from paddlespec.manifest import Manifest


class Engine:
    """
    The operations on one cluster; made by `open_engine`.

    `force_unlock`: a removal takes the lock from whoever holds it.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.sent: list[Manifest] = []
        self.force_unlock = False

    @property
    def namespace(self) -> str:
        """The namespace of objects that name none."""
        return self.client.namespace

    def until(self, deadline: float | None) -> None:
        """From now on, give up when the monotonic clock shows *deadline*."""
        self.client.deadline = deadline

    def pause(self, seconds: float) -> None:
        """Wait a moment; raises `TimeRanOut` at the deadline."""
        self.client.pause(seconds)

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    def compare(self, work: Work, consent: Consent) -> Compared:
        """What an apply would change; nothing is written."""
        return outlook(self.client, work, consent)

    def apply(self, work: Work, mode: Mode, tell: Callable[[Event], None], consent: Consent) -> Run:
        """Make it so; what is already so is not disturbed."""
        applying = Apply(self.client, work, mode, tell, consent)
        run = applying()
        self.sent = applying.start.sent
        return run

    def recorded(self, project: str) -> list[Recorded]:
        """The jobs of a project that say where their specs were."""
        return retire.recorded(self.client, project)

    def compare_retired(self, job: Recorded) -> Compared:
        """What `retire` would delete."""
        return retire.compare(self.client, job)

    def retire(
        self, job: Recorded, mode: Mode, tell: Callable[[Event], None], *, force_unlock: bool
    ) -> None:
        """Delete what is left of a job whose spec is gone, unless it runs."""
        retire.retire(self.client, job, mode, tell, force_unlock=force_unlock)

    def look(self, run: Run, until: Until) -> Progress:
        """How far *run* is on its way; its end is recorded."""
        if run.ended is not None:
            return past.outcome(run)
        try:
            progress = watch.look(self.client, run, until)
        except JobFailed:
            past.record_end(self.client, run, State.failed)
            raise
        if progress.done and until is Until.complete:
            past.record_end(self.client, run, State.succeeded)
        return progress

    def contents(self, name: str, *, claims: bool) -> Contents:
        """What there is of the job *name*."""
        return remove.contents(self.client, name, claims=claims)

    def remove(self, name: str, tell: Callable[[Event], None], *, claims: bool) -> None:
        """Ask for the end of everything of a job."""
        remove.remove(self.client, name, tell, claims=claims, force_unlock=self.force_unlock)

    def remaining(self, name: str, *, claims: bool) -> Progress:
        """Whether anything is left of it."""
        return remove.remaining(self.client, name, claims=claims)


def open_engine(
    kubeconfig: str | None = None,
    context: str | None = None,
    namespace: str | None = None,
    preferred: str | None = None,
) -> Engine:
    """The backend on the cluster that kubectl would talk to; nothing is sent yet."""
    return Engine(Client(resolve(kubeconfig, context, namespace, preferred)))
