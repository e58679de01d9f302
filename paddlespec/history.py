"""
The history of a job: its runs, oldest first, and the form in which they are kept.

A run is recorded before anything of it exists: an intent without a UID never ran. Its UID comes
next, and its end when somebody sees it.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.shapes.runs import Run

# A ConfigMap takes 1 MiB at most; what else is written beside the history needs room too.
LARGEST = 512 * 1024
_RUNS = "runs.json"
_SPEC = "spec-{}.yaml"


class State(str, Enum):
    """How far a run is, as far as somebody wrote it down."""

    intended = "intended"  # nothing of it was there yet
    running = "running"
    succeeded = "succeeded"
    failed = "failed"
    killed = "killed"
    replaced = "replaced"  # while it ran
    lost = "lost"  # it is gone, and nobody saw its end


class Provenance(NamedTuple):
    """
    Where a run comes from: who applied it, which commit, the page of the CI job, the spec's file.

    The file is named from the top of its repository.
    """

    who: str
    commit: str | None = None
    dirty: bool = False
    ci: str | None = None
    file: str | None = None


class RunRecord(NamedTuple):
    """
    One run. Times are RFC 3339 in UTC; `spec` is the effective spec as YAML, secrets masked.

    `fingerprint` tells what shaped the pods, `rendered` which bytes were sent.
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
        """Whether it ran, and runs no more."""
        return self.state not in (State.intended, State.running)


class History(NamedTuple):
    """The runs of one job, oldest first; numbers grow by one and are never given twice."""

    runs: tuple[RunRecord, ...] = ()

    @property
    def latest(self) -> RunRecord | None:
        """The run that was recorded last, an intent included."""
        return self.runs[-1] if self.runs else None

    @property
    def ran(self) -> RunRecord | None:
        """The last run of which something was there."""
        return next((each for each in reversed(self.runs) if each.uid), None)

    def intend(self, run: RunRecord) -> History:
        """With *run* as what is to come; an intent that came to nothing gives its number."""
        intent = run._replace(number=self._next, state=State.intended, uid=None, started=None)
        return History((*self._kept, intent))

    def begin(self, uid: str, at: str) -> History:
        """With the intent as a run that is there."""
        latest = self.latest
        if latest is None or latest.uid is not None:
            return self
        return self._with(latest._replace(uid=uid, state=State.running, started=at))

    def end(self, uid: str, state: State, at: str | None) -> History:
        """With the end of the run *uid*, unless it is known already."""
        found = next((each for each in self.runs if each.uid == uid), None)
        if found is None or found.state is not State.running:
            return self
        return self._with(found._replace(state=state, finished=at))

    def adopt(self, run: RunRecord) -> History:
        """With a run that is there and was never recorded."""
        return History((*self._kept, run._replace(number=self._next)))

    def drop_intent(self) -> History:
        """Without what was to come."""
        return History(self._kept) if self._kept else self

    @property
    def _kept(self) -> tuple[RunRecord, ...]:
        return tuple(each for each in self.runs if each.uid)

    @property
    def _next(self) -> int:
        """The number of the next run; the oldest runs may have been left out."""
        if self._kept:
            return self._kept[-1].number + 1
        return self.runs[-1].number if self.runs else 1

    def _with(self, changed: RunRecord) -> History:
        return History(
            tuple(changed if each.number == changed.number else each for each in self.runs)
        )


class Recorded(NamedTuple):
    """The history of one job, wherever it is kept."""

    namespace: str
    job: str
    history: History


def encode(history: History, largest: int = LARGEST) -> dict[str, str]:
    """
    *history* as named texts, of *largest* bytes in all.

    Where they would be more, the oldest specs are left out, and then the oldest runs.
    """
    runs = list(history.runs)
    while _size(found := _texts(runs)) > largest:
        oldest = next((i for i, each in enumerate(runs) if each.spec), None)
        if oldest is not None:
            runs[oldest] = runs[oldest]._replace(spec=None)
        elif len(runs) > 1:
            del runs[0]
        else:
            break
    return found


def decode(texts: Mapping[str, str]) -> History:
    """
    What `encode` wrote; fields that it does not know are another version's and are let be.

    Raises `ValueError` for what is no history.
    """
    try:
        listed = json.loads(texts.get(_RUNS, "[]"))
        return History(tuple(_run(each, texts) for each in listed))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not a history") from error


def as_data(run: RunRecord) -> Run:
    """A run as plain data; its spec, which may be long, is no part of it."""
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
    lines = [json.dumps(_kept(each), ensure_ascii=False) for each in runs]
    specs = {_SPEC.format(each.number): each.spec for each in runs if each.spec}
    return {_RUNS: _clean("[\n" + ",\n".join(lines) + "\n]\n"), **specs}


def _kept(run: RunRecord) -> dict[str, Any]:
    """What is written of a run: what is not known takes no room."""
    return {key: value for key, value in as_data(run).items() if value is not None}


def _clean(text: str) -> str:
    """Without what no encoding takes: names come from variables, which may hold any bytes."""
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
    found = data.get(key)
    return None if found is None else _text(found)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value


def _size(texts: Mapping[str, str]) -> int:
    return sum(len(key) + len(value.encode()) for key, value in texts.items())
