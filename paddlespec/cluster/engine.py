"""Kubernetes as a backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import JobFailed, OperationFailed, Until
from paddlespec.cluster import jobs, past, records, remove, retire, status, watch
from paddlespec.cluster.apply import Apply
from paddlespec.cluster.client import Client
from paddlespec.cluster.connection import resolve
from paddlespec.cluster.outlook import outlook
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.survey import Survey
from paddlespec.cluster.transport import AT_ONCE
from paddlespec.cluster.wanted import namespace_of
from paddlespec.history import State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backend import (
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
    from paddlespec.cluster.retire import Recorded as Retired
    from paddlespec.history import Recorded
    from paddlespec.picture import JobState, Status


class Engine:
    """
    The operations on one cluster; made by `open_engine`.

    `force_unlock`: a removal takes the lock from whoever holds it.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.force_unlock = False
        self._surveyed: dict[tuple[str, str], Client | OperationFailed] = {}
        self._seen: dict[tuple[str, str], Client | OperationFailed] = {}

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

    def share(self, jobs: int) -> None:
        """This many jobs at the same time send requests."""
        for each in (self.client, *self._surveyed.values()):
            if isinstance(each, Client):
                each.at_once = max(1, AT_ONCE // jobs)

    def cancel(self) -> None:
        """From now on every operation, in any thread, ends with `Interrupted`."""
        self.client.cancel()

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    def survey(self, works: Sequence[Work]) -> None:
        """Look at many jobs that are about to be compared: that takes fewer requests."""
        spaces: dict[str, list[Work]] = {}
        for each in works:
            spaces.setdefault(namespace_of(self.client, each), []).append(each)
        for namespace, own in spaces.items():
            survey = Survey(namespace, frozenset(each.name for each in own))
            found: Client | OperationFailed = self.client.surveyed(survey)
            try:
                survey.take(self.client, own)
            except Refused as error:
                # Not to be allowed to list, or no such kind: that is told object by object.
                found = error if error.refusal.is_no_answer else self.client
            except OperationFailed as error:
                found = error
            self._surveyed.update({(namespace, each.name): found for each in own})

    def compare(self, work: Work, consent: Consent) -> Compared:
        """What an apply would change; nothing is written."""
        key = (namespace_of(self.client, work), work.name)
        client = self._surveyed.get(key, self.client)
        if isinstance(client, OperationFailed):
            raise client
        return outlook(client, work, consent)

    def apply(self, work: Work, mode: Mode, tell: Callable[[Event], None], consent: Consent) -> Run:
        """Make it so; what is already so is not disturbed."""
        applying = Apply(self.client, work, mode, tell, consent)
        return applying()._replace(sent=tuple(applying.start.sent))

    def recorded(self, project: str) -> list[Retired]:
        """The jobs of a project that say where their specs were."""
        return retire.recorded(self.client, project)

    def compare_retired(self, job: Retired) -> Compared:
        """What `retire` would delete."""
        return retire.compare(self.client, job)

    def retire(
        self, job: Retired, mode: Mode, tell: Callable[[Event], None], *, force_unlock: bool
    ) -> None:
        """Delete what is left of a job whose spec is gone, unless it runs."""
        retire.retire(self.client, job, mode, tell, force_unlock=force_unlock)

    def ahead(self, runs: Sequence[Run]) -> None:
        """Ask at once for what the next look at each of *runs* needs; their number costs nothing."""
        self._seen.clear()
        spaces: dict[str, list[Run]] = {}
        for each in runs:
            if each.ended is None:
                spaces.setdefault(each.namespace, []).append(each)
        for namespace, own in spaces.items():
            if len(own) < 2:
                continue
            survey = Survey(namespace, frozenset(each.work.name for each in own))
            found: Client | OperationFailed = self.client.surveyed(survey)
            try:
                survey.watch(self.client, [each.work for each in own])
            except OperationFailed as error:
                found = error
            self._seen.update({(namespace, each.work.name): found for each in own})

    def look(self, run: Run, until: Until) -> Progress:
        """How far *run* is on its way; its end is recorded."""
        if run.ended is not None:
            return past.outcome(run)
        try:
            client = self._seen.pop((run.namespace, run.work.name), self.client)
            if isinstance(client, OperationFailed):
                raise client
            progress = watch.look(client, run, until)
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

    def job_states(self, *, everywhere: bool, over: bool) -> tuple[list[JobState], list[Unread]]:
        """All jobs, with those that are *over*, and what could not be read."""
        return jobs.job_states(self.client, everywhere=everywhere, over=over)

    def status(self, name: str) -> Status:
        """Everything about one job."""
        return status.status(self.client, name)

    def glance(self, name: str) -> Status:
        """The job and its replicas alone."""
        return jobs.glance(self.client, name)

    def run_of(self, name: str) -> Run | None:
        """The run of a job that can be looked at; nothing before it is there."""
        return jobs.run_of(self.client, name)

    def record(self, name: str) -> Recorded:
        """The history of one job."""
        return records.record(self.client, name)

    def records(self, *, everywhere: bool) -> tuple[list[Recorded], list[Unread]]:
        """The histories of all jobs, and what could not be read."""
        return records.records(self.client, everywhere=everywhere)


def open_engine(
    kubeconfig: str | None = None,
    context: str | None = None,
    namespace: str | None = None,
    preferred: str | None = None,
) -> Engine:
    """The backend on the cluster that kubectl would talk to; nothing is sent yet."""
    return Engine(Client(resolve(kubeconfig, context, namespace, preferred)))
