"""
Kubernetes as a backend: the operations on one cluster.

A comparison or an apply needs most of what is imported here; what only other operations need is
imported by them.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from paddlespec.backends.capabilities import Capabilities
from paddlespec.backends.cluster.api.client import Client
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.api.server_warnings import ServerWarnings
from paddlespec.backends.cluster.api.transport import AT_ONCE
from paddlespec.backends.cluster.change import apply, history_sync
from paddlespec.backends.cluster.change.desired import namespace_of
from paddlespec.backends.cluster.change.preview import outlook
from paddlespec.backends.cluster.observe import histories
from paddlespec.backends.cluster.observe.batch_read import Survey
from paddlespec.backends.cluster.offers.place import (
    ClusterCapacity,
    ClusterFeatures,
    ClusterPullSecrets,
)
from paddlespec.backends.cluster.offers.replicas import (
    ClusterExecutes,
    ClusterLogs,
    ClusterRanks,
    ClusterTunnels,
)
from paddlespec.backends.cluster.offers.retires import ClusterRetires
from paddlespec.backends.cluster.offers.scratch import ClusterScratch
from paddlespec.runs.failures import JobFailed, OperationFailed
from paddlespec.runs.history import State
from paddlespec.runs.values import Until

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backends.cluster.api.connection import Connection
    from paddlespec.runs.history import Recorded
    from paddlespec.runs.state import JobState, Status
    from paddlespec.runs.values import (
        Compared,
        Consent,
        Contents,
        Event,
        Mode,
        Progress,
        Run,
        Unread,
        Work,
    )

    # A client that answers from prefetched objects, or the reason why there are none.
    Fetched = dict[tuple[str, str], Client | OperationFailed]


class Engine:
    """
    The operations on one cluster.

    *connection* is called once, by the first operation, in the thread of that operation. *report*
    gets the warnings of the server, one line each.
    """

    def __init__(
        self,
        connection: Callable[[], Connection],
        deadline: float | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._warnings = ServerWarnings(report) if report else None
        self._connection, self._deadline, self._at_once = connection, deadline, AT_ONCE
        self._report = report
        self._client: Client | None = None
        self._connecting, self._cancelled = threading.Lock(), False
        self._before_compare: Fetched = {}
        self._before_look: Fetched = {}
        capacity = ClusterCapacity(self)
        self.capabilities = Capabilities(
            logs=ClusterLogs(self),
            ranks=ClusterRanks(self),
            executes=ClusterExecutes(self),
            tunnels=ClusterTunnels(self),
            scratch=ClusterScratch(self),
            holdings=capacity,
            capacity=capacity,
            pull_secrets=ClusterPullSecrets(self),
            features=ClusterFeatures(self),
            retires=ClusterRetires(self),
            prefetch=self,
            plans=True,
        )

    @property
    def client(self) -> Client:
        """The connection; raises `OperationFailed` if the kubeconfig names none."""
        with self._connecting:
            if self._client is None:
                self._client = Client(
                    self._connection(), self._deadline, self._at_once, self._report, self._warnings
                )
                if self._cancelled:
                    self._client.cancel()
            return self._client

    @property
    def namespace(self) -> str:
        """The namespace for objects that name none."""
        return self.client.namespace

    def until(self, deadline: float | None) -> None:
        """Give up when the monotonic clock shows *deadline*."""
        self._deadline = deadline
        for client in self._clients():
            client.until(deadline)

    def pause(self, seconds: float) -> None:
        """Wait; raises `TimeRanOut` at the deadline."""
        self.client.pause(seconds)

    def share(self, jobs: int) -> None:
        """Divide the concurrent requests among *jobs* operations."""
        self._at_once = max(1, AT_ONCE // jobs)
        for client in self._clients():
            client.share(self._at_once)

    def cancel(self) -> None:
        """Make every request of every thread raise `Interrupted`."""
        self._cancelled = True
        for client in self._clients():
            client.cancel()

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()

    def before_compare(self, works: Sequence[Work]) -> None:
        """Fetch the objects of many jobs with few requests."""
        spaces: dict[str, list[Work]] = {}
        for work in works:
            spaces.setdefault(namespace_of(self.client, work), []).append(work)
        for namespace, own in spaces.items():
            survey = Survey(namespace, frozenset(work.name for work in own))
            fetched: Client | OperationFailed = self.client.surveyed(survey)
            try:
                survey.take(self.client, own)
            except Refused as error:
                # A missing right or kind is reported by each comparison, object by object.
                fetched = error if error.refusal.is_no_answer else self.client
            except OperationFailed as error:
                fetched = error
            self._before_compare.update({(namespace, work.name): fetched for work in own})

    def compare(self, work: Work, consent: Consent) -> Compared:
        """Say what an apply would change; nothing is written."""
        key = (namespace_of(self.client, work), work.name)
        client = self._before_compare.get(key, self.client)
        if isinstance(client, OperationFailed):
            raise client
        return outlook(client, work, consent)

    def apply(
        self, work: Work, mode: Mode, report: Callable[[Event], None], consent: Consent
    ) -> Run:
        """Make the job run as rendered."""
        return apply.apply(self.client, work, mode, report, consent)

    def before_look(self, runs: Sequence[Run]) -> None:
        """Fetch the workloads and pods of many runs with few requests."""
        self._before_look.clear()
        spaces: dict[str, list[Run]] = {}
        for run in runs:
            if run.ended is None:
                spaces.setdefault(run.namespace, []).append(run)
        for namespace, own in spaces.items():
            if len(own) < 2:
                continue
            survey = Survey(namespace, frozenset(run.work.name for run in own))
            fetched: Client | OperationFailed = self.client.surveyed(survey)
            try:
                survey.watch(self.client, [run.work for run in own])
            except OperationFailed as error:
                fetched = error
            self._before_look.update({(namespace, run.work.name): fetched for run in own})

    def look(self, run: Run, until: Until) -> Progress:
        """Return the progress of *run*; its end is recorded."""
        from paddlespec.backends.cluster.observe import watch

        if run.ended is not None:
            return history_sync.outcome(run)
        try:
            client = self._before_look.pop((run.namespace, run.work.name), self.client)
            if isinstance(client, OperationFailed):
                raise client
            progress = watch.look(client, run, until)
        except JobFailed:
            history_sync.record_end(self.client, run, State.failed)
            raise
        if progress.done and until is Until.complete:
            history_sync.record_end(self.client, run, State.succeeded)
        return progress

    def contents(self, name: str, *, claims: bool) -> Contents:
        """Return what the job *name* consists of."""
        from paddlespec.backends.cluster.change import remove

        return remove.contents(self.client, name, claims=claims)

    def remove(
        self,
        name: str,
        report: Callable[[Event], None],
        *,
        claims: bool,
        force_unlock: bool = False,
    ) -> None:
        """Delete the objects of a job."""
        from paddlespec.backends.cluster.change import remove

        remove.remove(self.client, name, report, claims=claims, force_unlock=force_unlock)

    def remaining(self, name: str, *, claims: bool) -> Progress:
        """Return what is left of a removed job."""
        from paddlespec.backends.cluster.change import remove

        return remove.remaining(self.client, name, claims=claims)

    def job_states(self, *, everywhere: bool, over: bool) -> tuple[list[JobState], list[Unread]]:
        """Return the jobs; finished ones only with *over*."""
        from paddlespec.backends.cluster.observe import job_states

        return job_states.job_states(self.client, everywhere=everywhere, over=over)

    def status(self, name: str) -> Status:
        """Return everything known about one job."""
        from paddlespec.backends.cluster.observe import job_status

        return job_status.status(self.client, name)

    def glance(self, name: str) -> Status:
        """Return a job and its replicas."""
        from paddlespec.backends.cluster.observe import job_states

        return job_states.glance(self.client, name)

    def run_of(self, name: str) -> Run | None:
        """Return the run that `look` can follow."""
        from paddlespec.backends.cluster.observe import job_states

        return job_states.run_of(self.client, name)

    def record(self, name: str) -> Recorded:
        """Return the history of one job."""
        return histories.record(self.client, name)

    def records(self, *, everywhere: bool) -> tuple[list[Recorded], list[Unread]]:
        """Return the histories of all jobs."""
        return histories.records(self.client, everywhere=everywhere)

    def _clients(self) -> list[Client]:
        """Yield the connection, if it exists, and its copies."""
        fetched = [*self._before_compare.values(), *self._before_look.values()]
        known = (self._client, *fetched)
        return [client for client in known if isinstance(client, Client)]
