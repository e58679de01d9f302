"""
The backend `memory`: jobs that exist in this process alone.

It satisfies the protocols as an installed backend would, and offers one capability. A command that
contains `exit N` fails, one with `sleep` runs until it is stopped, every other succeeds; what
`echo` is given is the log.
"""

from __future__ import annotations

import re
import time
import uuid
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.capabilities import Capabilities, Lack
from paddlespec.backends.protocols import Knowledge
from paddlespec.change.decide import decide
from paddlespec.change.diff import Row, diff
from paddlespec.change.live import Leftovers, Member, Part, Presence
from paddlespec.change.steps import Begin, Create, End, Record, Replace, Update
from paddlespec.logs.line import Line, Source
from paddlespec.logs.merge import Batch
from paddlespec.runs.failures import JobFailed, NotFound, OperationFailed, TimeRanOut
from paddlespec.runs.history import History, Recorded, State
from paddlespec.runs.state import JobState, RoleState, Stage, Status, Worker, WorkerState
from paddlespec.runs.values import Compared, Contents, Event, Mode, Progress, Run, Until, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backends.protocols import Place, Request
    from paddlespec.change.steps import Step
    from paddlespec.logs.start import Start
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.history import RunRecord
    from paddlespec.runs.values import Consent, Unread

name = "memory"
target = "memory"
where = "the memory of this process"
options: frozenset[str] = frozenset()
has_datacenters = False
is_foreground = False

AT = "2026-01-31T11:00:00Z"
LACKS = {"shell": Lack("`shell` needs containers", "read the logs instead: paddlespec logs {job}")}


class Job(NamedTuple):
    """A job: its runs, and what they were made of by UID."""

    history: History = History()
    works: dict[str, Work] = {}


JOBS: dict[str, Job] = {}


def check(request: Request) -> None:
    """Take no options."""


def open_engine(request: Request, place: Place) -> Engine:
    """Return an engine; every one sees the same jobs."""
    return Engine(request.namespace or place.namespace or "default", request.deadline)


def is_available() -> bool:
    """Always."""
    return True


def knowledge(name: str, namespace: str | None) -> Knowledge:
    """Return what is known of a job."""
    if name not in JOBS:
        return Knowledge.other_jobs if JOBS else Knowledge.nothing
    last = JOBS[name].history.ran
    is_running = last is not None and last.state is State.running
    return Knowledge.running if is_running else Knowledge.finished


class Engine:
    """The operations on the jobs in memory."""

    def __init__(self, namespace: str, deadline: float | None) -> None:
        self.namespace, self._deadline = namespace, deadline
        self.capabilities = Capabilities(logs=MemoryLogs(), lacks=LACKS)

    def until(self, deadline: float | None) -> None:
        self._deadline = deadline

    def pause(self, seconds: float) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise TimeRanOut("time ran out")
        time.sleep(0.01)

    def share(self, jobs: int) -> None:
        pass

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass

    def compare(self, work: Work, consent: Consent) -> Compared:
        job = JOBS.get(work.name, Job())
        live = Live(job, work)
        decision = decide(job.history, live, work, consent)
        rows = [Row(change) for change in diff(live.before, work.manifests)]
        refusal = decision.refusal.message if decision.refusal else None
        return Compared(rows, decision.notes, refusal)

    def apply(
        self, work: Work, mode: Mode, report: Callable[[Event], None], consent: Consent
    ) -> Run:
        job = JOBS.get(work.name, Job())
        decision = decide(job.history, Live(job, work), work, consent)
        if decision.refusal is not None:
            raise decision.refusal
        for note in decision.notes:
            report(Event(note))
        for step in decision.steps:
            if mode is Mode.none:
                job = _taken(step, job, work)
                JOBS[work.name] = job
            if isinstance(step, Create | Replace | Update) and mode is not Mode.client:
                verb = "unchanged" if isinstance(step, Update) else "created"
                report(Event(verb, f"Pretended/{step.manifest['metadata']['name']}"))
        last = job.history.ran
        if last is None:
            return Run(work, self.namespace, None)
        return Run(work, self.namespace, last.uid, last.state if last.is_over else None)

    def look(self, run: Run, until: Until) -> Progress:
        record = next(one for one in _seen(run.work.name).history.runs if one.uid == run.uid)
        match record.state:
            case State.succeeded:
                return Progress(True, True, "complete")
            case State.failed:
                raise JobFailed(f"failed: {run.work.name}-0 ended with exit code {_code(run)}")
            case State.running:
                return Progress(until is Until.ready, True, "trainers running")
            case _:
                raise OperationFailed(f"{run.work.name} was {record.state.value}")

    def contents(self, name: str, *, claims: bool) -> Contents:
        workers = self.glance(name).workers
        running = sum(worker.state is WorkerState.running for worker in workers)
        return Contents(len(workers), {"trainers": running} if running else {}, AT)

    def remove(
        self,
        name: str,
        report: Callable[[Event], None],
        *,
        claims: bool,
        force_unlock: bool = False,
    ) -> None:
        job = _seen(name)
        last = job.history.ran
        if last is not None and last.state is State.running:
            JOBS[name] = job._replace(history=job.history.end(last.uid or "", State.killed, AT))
            report(Event("deleted", f"Pretended/{name}-0"))
        if claims:
            del JOBS[name]

    def remaining(self, name: str, *, claims: bool) -> Progress:
        return Progress(True, True, "nothing is left")

    def job_states(self, *, everywhere: bool, over: bool) -> tuple[list[JobState], list[Unread]]:
        states = [self.glance(name).job for name in sorted(JOBS)]
        return [state for state in states if over or not state.stage.is_over], []

    def status(self, name: str) -> Status:
        return self.glance(name)

    def glance(self, name: str) -> Status:
        job = _seen(name)
        record = job.history.ran
        assert record is not None
        doing = {State.running: WorkerState.running, State.failed: WorkerState.failed}
        state = doing.get(record.state, WorkerState.succeeded)
        workers = tuple(
            Worker(manifest["metadata"]["name"], "trainers", index, state)
            for index, manifest in enumerate(job.works[record.uid or ""].manifests)
        )
        stage = Stage(record.state.value)
        role = RoleState(
            "trainers", len(workers), sum(w.state is WorkerState.running for w in workers)
        )
        return Status(
            JobState(name, self.namespace, target, stage, "parallel", (role,), run=record.number),
            record,
            workers,
        )

    def run_of(self, name: str) -> Run | None:
        record = _seen(name).history.ran
        return Run(Work(name, []), self.namespace, record.uid) if record else None

    def record(self, name: str) -> Recorded:
        return Recorded(self.namespace, name, _seen(name).history)

    def records(self, *, everywhere: bool) -> tuple[list[Recorded], list[Unread]]:
        return [self.record(name) for name in sorted(JOBS)], []


class Live:
    """A job as a decision sees it; satisfies `paddlespec.change.live.Live`."""

    owner = None
    leftovers = Leftovers()

    def __init__(self, job: Job, work: Work) -> None:
        self._job, self._work, self._last = job, work, job.history.ran

    @property
    def presence(self) -> Presence:
        if self._last is None or self._last.state not in (State.running, *_ENDED):
            return Presence.absent
        return Presence.running if self._last.state is State.running else Presence.finished

    @property
    def state(self) -> str:
        verb = "is running" if self.presence is Presence.running else "has ended"
        return f"{self._work.name} {verb}"

    @property
    def fingerprint(self) -> str | None:
        return self._last.fingerprint if self._last else None

    @property
    def uid(self) -> str | None:
        return self._last.uid if self._last else None

    @property
    def is_stuck(self) -> bool:
        return self.fingerprint != self._work.fingerprint

    @property
    def before(self) -> list[Manifest]:
        if self.presence is Presence.absent:
            return []
        return self._job.works[self.uid or ""].manifests

    @property
    def members(self) -> list[Member]:
        known = {manifest["metadata"]["name"]: manifest for manifest in self.before}
        return [
            Member(manifest, Part.owned, known.get(manifest["metadata"]["name"]))
            for manifest in self._work.manifests
        ]


class MemoryLogs:
    """What the commands of runs echo."""

    def of_run(
        self, job: str, number: int | None, *, previous: bool, container: str | None = None
    ) -> RunLogs:
        assert container is None
        runs = [record for record in _seen(job).history.runs if record.uid]
        chosen = [record for record in runs if number in (None, record.number)]
        if not chosen:
            raise NotFound(f"{job} has no run {number}")
        return RunLogs(job, chosen[-1], JOBS[job].works[chosen[-1].uid or ""])


class RunLogs:
    """The logs of one run."""

    def __init__(self, job: str, record: RunRecord, work: Work) -> None:
        self._job, self._record, self._work = job, record, work
        self.sources = [
            Source("trainers", index, manifest["metadata"]["name"])
            for index, manifest in enumerate(work.manifests)
        ]

    def logs(
        self,
        chosen: Sequence[Source],
        start: Start,
        report: Callable[[str], None],
        *,
        follow: bool,
        pieces: bool,
    ) -> Lines:
        text = re.findall(r"echo (\w+)", _command(self._work))
        return Lines([LinesOfOne(source, text) for source in chosen])

    def verdict(self) -> str | None:
        if self._record.state is not State.failed:
            return None
        return f"run {self._record.number} of {self._job} failed; {self._job}-0 was the first"


class Lines(NamedTuple):
    """The logs of some replicas, which are complete."""

    of_replicas: list[LinesOfOne]

    def readers(self) -> Sequence[LinesOfOne]:
        return self.of_replicas

    def is_over(self) -> bool:
        return True


class LinesOfOne:
    """The log of one replica."""

    def __init__(self, source: Source, text: list[str]) -> None:
        self.source, self._text = source, text

    def read(self) -> Batch:
        time = b"2026-01-31T11:00:00.000000000Z"
        lines = [Line(time, self.source, line.encode(), time) for line in self._text]
        self._text = []
        return Batch(lines, more=False)

    def rest(self) -> list[Line]:
        return []

    def close(self) -> None:
        pass


_ENDED = (State.succeeded, State.failed)
_numbers = count()


def _seen(name: str) -> Job:
    """A job, after what ends by itself has ended."""
    if name not in JOBS:
        raise NotFound(f"{name} does not exist in memory")
    job = JOBS[name]
    last = job.history.ran
    if last is None or not last.uid:
        return job
    command = _command(job.works[last.uid])
    failed = "exit" in command
    if failed or "sleep" not in command:
        state = State.failed if failed else State.succeeded
        JOBS[name] = job._replace(history=job.history.end(last.uid, state, AT))
    return JOBS[name]


def _taken(step: Step, job: Job, work: Work) -> Job:
    """A job after one step of an apply."""
    history = job.history
    match step:
        case Record(intent) if intent is not None:
            return job._replace(history=history.intend(intent))
        case End(uid):
            return job._replace(history=history.end(uid, State.replaced, AT))
        case Begin():
            uid = str(uuid.uuid4())
            return Job(history.begin(uid, AT), {**job.works, uid: work})
        case _:
            return job


def _command(work: Work) -> str:
    return str(work.manifests[0]["spec"]["command"])


def _code(run: Run) -> str:
    work = JOBS[run.work.name].works[run.uid or ""]
    return _command(work).rpartition("exit ")[2].split("'")[0]
