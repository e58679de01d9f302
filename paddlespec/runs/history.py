"""
The history of a job: its runs, oldest first, and how they are stored.

A run is recorded before any object of it exists, as an intent without a UID. The UID is added once
the run exists, and its end as soon as a command observes it.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.shapes.runs import Run

# A ConfigMap is limited to 1 MiB and holds more than the history.
LARGEST = 512 * 1024
_RUNS = "runs.json"
_SPEC = "spec-{}.yaml"


class State(str, Enum):
    """The state of a run, as recorded."""

    intended = "intended"  # no object of it exists yet
    running = "running"
    succeeded = "succeeded"
    failed = "failed"
    killed = "killed"
    replaced = "replaced"  # while it ran
    lost = "lost"  # it no longer exists, and no command observed its end


class Provenance(NamedTuple):
    """
    Where a run comes from: who applied it, the commit, the URL of the CI job, the spec file.

    The file is relative to the root of its repository.
    """

    who: str
    commit: str | None = None
    dirty: bool = False
    ci: str | None = None
    file: str | None = None


class RunRecord(NamedTuple):
    """
    One run. Times are RFC 3339 in UTC; `spec` is the effective spec as YAML, secrets masked.

    `fingerprint` identifies the spec of the pods, `rendered` the manifests.
    """

    number: int
    state: State
    provenance: Provenance
    fingerprint: str | None = None
    rendered: str | None = None
    uid: str | None = None
    started: str | None = None
    finished: str | None = None
    spec: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether it ran and has ended."""
        return self.state not in (State.intended, State.running)


class History(NamedTuple):
    """The runs of one job, oldest first; numbers grow by one and are never reused."""

    runs: tuple[RunRecord, ...] = ()

    @property
    def latest(self) -> RunRecord | None:
        """The run that was recorded last, including an intent."""
        return self.runs[-1] if self.runs else None

    @property
    def ran(self) -> RunRecord | None:
        """The last run that existed."""
        return next((run for run in reversed(self.runs) if run.uid), None)

    def intend(self, run: RunRecord) -> History:
        """Add *run* as the next run; it reuses the number of an intent that never started."""
        intent = run._replace(number=self._next, state=State.intended, uid=None, started=None)
        return History((*self._kept, intent))

    def begin(self, uid: str, at: str) -> History:
        """Turn the intent into a run that exists."""
        latest = self.latest
        if latest is None or latest.uid is not None:
            return self
        return self._with(latest._replace(uid=uid, state=State.running, started=at))

    def end(self, uid: str, state: State, at: str | None) -> History:
        """Record the end of the run *uid*, unless it is already recorded."""
        run = next((run for run in self.runs if run.uid == uid), None)
        if run is None or run.state is not State.running:
            return self
        return self._with(run._replace(state=state, finished=at))

    def adopt(self, run: RunRecord) -> History:
        """Add a run that exists but was never recorded."""
        return History((*self._kept, run._replace(number=self._next)))

    def drop_intent(self) -> History:
        """Remove the intent."""
        return History(self._kept) if self._kept else self

    @property
    def _kept(self) -> tuple[RunRecord, ...]:
        return tuple(run for run in self.runs if run.uid)

    @property
    def _next(self) -> int:
        """The number of the next run; the oldest runs may have been dropped."""
        if self._kept:
            return self._kept[-1].number + 1
        return self.runs[-1].number if self.runs else 1

    def _with(self, changed: RunRecord) -> History:
        return History(tuple(changed if run.number == changed.number else run for run in self.runs))


class Recorded(NamedTuple):
    """The history of one job."""

    namespace: str
    job: str
    history: History


def encode(history: History, largest: int = LARGEST) -> dict[str, str]:
    """
    Write *history* as named texts of at most *largest* bytes in total.

    The oldest specs are dropped first, then the oldest runs.
    """
    runs = list(history.runs)
    while _size(texts := _texts(runs)) > largest:
        oldest = next((index for index, run in enumerate(runs) if run.spec), None)
        if oldest is not None:
            runs[oldest] = runs[oldest]._replace(spec=None)
        elif len(runs) > 1:
            del runs[0]
        else:
            break
    return texts


def decode(texts: Mapping[str, str]) -> History:
    """
    Read what `encode` wrote; fields of other versions are ignored.

    Raises `ValueError` for anything else.
    """
    try:
        return History(tuple(_run(data, texts) for data in json.loads(texts.get(_RUNS, "[]"))))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("not a history") from error


def as_data(run: RunRecord) -> Run:
    """Return a run as plain data, without its spec, which may be long."""
    return {
        "run": run.number,
        "state": run.state.value,
        "specHash": run.fingerprint,
        "renderedHash": run.rendered,
        "uid": run.uid,
        "started": run.started,
        "finished": run.finished,
        "who": run.provenance.who,
        "commit": run.provenance.commit,
        "dirty": run.provenance.dirty,
        "ci": run.provenance.ci,
        "file": run.provenance.file,
    }


def _texts(runs: list[RunRecord]) -> dict[str, str]:
    lines = [json.dumps(_stored(run), ensure_ascii=False) for run in runs]
    specs = {_SPEC.format(run.number): run.spec for run in runs if run.spec}
    return {_RUNS: _clean("[\n" + ",\n".join(lines) + "\n]\n"), **specs}


def _stored(run: RunRecord) -> dict[str, Any]:
    """Return the stored form of a run: null fields are omitted."""
    return {key: value for key, value in as_data(run).items() if value is not None}


def _clean(text: str) -> str:
    """Replace what UTF-8 cannot encode: names come from variables, which may hold any bytes."""
    return text.encode("utf-8", "replace").decode()


def _run(data: dict[str, Any], texts: Mapping[str, str]) -> RunRecord:
    number, state = data["run"], State(data["state"])
    if type(number) is not int or number < 1:
        raise TypeError("a run has a number")
    provenance = Provenance(
        _text(data["who"]),
        _known(data, "commit"),
        bool(data.get("dirty")),
        _known(data, "ci"),
        _known(data, "file"),
    )
    return RunRecord(
        number,
        state,
        provenance,
        _known(data, "specHash"),
        _known(data, "renderedHash"),
        _known(data, "uid"),
        _known(data, "started"),
        _known(data, "finished"),
        texts.get(_SPEC.format(number)),
    )


def _known(data: dict[str, Any], key: str) -> str | None:
    value = data.get(key)
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value


def _size(texts: Mapping[str, str]) -> int:
    return sum(len(key) + len(value.encode()) for key, value in texts.items())
