"""
The logs of a job on a cluster: one stream for each pod, also of those that start later.

However many pods there are, a look at them takes the same two requests.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backend import NotFound, OperationFailed
from paddlespec.cluster import readiness
from paddlespec.cluster.chosen_lines import ChosenLines
from paddlespec.cluster.jobs import find, state
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.replicas import rank
from paddlespec.cluster.wanted import is_owner
from paddlespec.cluster.why import ended
from paddlespec.logs.descriptors import allow_files
from paddlespec.logs.line import Source
from paddlespec.manifest import JOB_LABEL, Identity, role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from paddlespec.cluster.client import Client
    from paddlespec.cluster.jobs import Found
    from paddlespec.logs.start import Start
    from paddlespec.manifest import Manifest

_LOOK_SECONDS = 2.0
# As long as this a cluster may be out of reach before following ends.
_PATIENCE_SECONDS = 300.0
# Each has a connection and a thread of its own: their lines are merged as they come.
_MOST = 1000
_MAIN = "paddle"
_DEFAULT = "kubectl.kubernetes.io/default-container"


class Reading(NamedTuple):
    """What is to be read: of which replicas, from where on, and how long."""

    replicas: Sequence[Source]
    start: Start
    follow: bool = False
    previous: bool = False


def run_of(client: Client, name: str, number: int | None) -> Found:
    """The job with the run *number*, or the one that is there. Raises `NotFound`."""
    found = find(client, name)
    own = found.record.number if found.record else None
    if number is not None and number != own:
        known = [each.number for each in found.history.runs]
        if number in known:
            there = f"; run {own} is there" if found.pods and own else ""
            raise NotFound(f"the logs of run {number} of {name} went with its pods{there}")
        hint = f"its runs: {', '.join(map(str, known))}" if known else None
        raise NotFound(f"{name} has no run {number}", hint)
    stage = state(found).stage
    if not found.pods and stage.is_over:
        raise NotFound(
            f"{name} is {stage.value}, and its logs went with its pods",
            f"its runs: paddlespec get history {name}",
        )
    return found


def sources(found: Found) -> list[Source]:
    """The replicas of a job, trainers first; those that have no pod yet have no name."""
    known = {
        (each.name, index): Source(each.name, index, "")
        for each in state(found).roles
        for index in range(each.desired)
    }
    for pod in found.pods or ():
        source = _source(pod)
        known[source.role, source.replica] = source
    return sorted(known.values(), key=lambda each: (each.role != "trainers", each[:2]))


def waits(found: Found) -> str:
    """Why there is nothing to read yet."""
    told = state(found)
    why = f": {told.why}" if told.why else ""
    return f"no replica has begun to write: {found.name} is {told.stage.value}{why}"


def verdict(client: Client, name: str) -> str | None:
    """Why a job failed, and which replica failed first, if it did."""
    try:
        found = find(client, name)
    except OperationFailed:
        return None
    told = state(found)
    if not told.stage.is_failure:
        return None
    run = f"run {told.run} of {name}" if told.run is not None else name
    pod = ended.first(found.pods or ())
    if pod is None:
        return f"{run} failed" + (f": {told.why}" if told.why else "")
    return f"{run} failed; {pod['metadata']['name']} was the first: {ended.ending(pod)}"


class Kept:
    """The logs of the run that is there, for the command that shows them."""

    def __init__(self, client: Client, name: str, number: int | None, *, previous: bool) -> None:
        self._client, self._previous = client, previous
        self._found = run_of(client, name, number)
        self.sources = sources(self._found)

    def logs(
        self,
        chosen: Sequence[Source],
        start: Start,
        tell: Callable[[str], None],
        *,
        follow: bool,
        pieces: bool,  # noqa: ARG002 - a server sends whole lines
    ) -> PodLogs:
        """The logs of *chosen* replicas."""
        reading = Reading(chosen, start, follow, self._previous)
        found = PodLogs(self._client, self._found, reading, tell)
        if not found.readers():
            if self._previous:
                told = f"no container of {self._found.name} was restarted"
                raise NotFound(told, f"its earlier runs: paddlespec get history {self._found.name}")
            if not follow:
                tell(waits(self._found))
        return found

    def verdict(self) -> str | None:
        """Why the run failed, if it did."""
        return None if self._previous else verdict(self._client, self._found.name)


class PodLogs:
    """The logs of one run on a cluster; satisfies `Logs`."""

    def __init__(
        self, client: Client, found: Found, reading: Reading, tell: Callable[[str], None]
    ) -> None:
        self._client, self._name, self._space = client, found.name, found.namespace
        self._uid = found.owner["metadata"]["uid"] if found.owner else None
        self._wanted = {each[:2] for each in reading.replicas}
        self._reading, self._to = reading, tell
        self._told: set[str] = set()
        self._readers: dict[str, ChosenLines] = {}
        self._settled: set[str] = set()
        self._over = False
        if len(self._wanted) > _MOST:
            told = f"{len(self._wanted)} replicas are more than can be read at once"
            raise OperationFailed(told, "choose some: --role, --index")
        allow_files(len(self._wanted))
        self._answered = self._looked = time.monotonic()
        self._take(found.pods or ())

    def readers(self) -> Sequence[ChosenLines]:
        """One for each container that has begun to run."""
        return list(self._readers.values())

    def is_over(self) -> bool:
        """Whether the run has ended, or nothing of it is left."""
        if self._reading.previous:
            return True
        if not self._over and time.monotonic() - self._looked >= _LOOK_SECONDS:
            try:
                self._look()
                self._answered = time.monotonic()
            except OperationFailed as error:
                lasts = isinstance(error, Refused) and not error.refusal.is_no_answer
                if lasts or time.monotonic() - self._answered > _PATIENCE_SECONDS:
                    raise
            self._looked = time.monotonic()
        return self._over

    def _look(self) -> None:
        """Take in what has changed."""
        selector = f"{JOB_LABEL}={self._name}"
        pods = self._client.find("v1", "Pod", self._space, selector)
        # After the pods: while their owner is there, they cannot be another run's.
        jobs = self._client.find("batch/v1", "Job", self._space, selector)
        owner = next((each for each in jobs if is_owner(each)), None)
        ours = owner is not None and owner["metadata"]["uid"] == self._uid
        if ours or owner is None:
            self._take(pods)
        for name in self._readers.keys() - {each["metadata"]["name"] for each in pods}:
            self._settle(name)
        if owner is not None and ours:
            self._over = readiness.job(owner).done
        else:
            self._over = owner is not None or all(map(_has_ended, pods))
        if self._over:
            for name in self._readers:
                self._settle(name)

    def _take(self, pods: Iterable[Manifest]) -> None:
        """Begin to read what has started, and finish with what has ended."""
        for pod in pods:
            name = pod["metadata"]["name"]
            if name not in self._readers:
                source = _source(pod)
                container = _container(pod, previous=self._reading.previous)
                if container is None or source[:2] not in self._wanted:
                    continue
                self._readers[name] = self._reader(source, container, ended=_has_ended(pod))
            if _has_ended(pod):
                self._settle(name)

    def _settle(self, name: str) -> None:
        if name not in self._settled:
            self._settled.add(name)
            self._readers[name].settle()

    def _reader(self, source: Source, container: str, *, ended: bool) -> ChosenLines:
        def ask(since: str | None, follow: bool, lines: int | None) -> Iterator[bytes]:
            query = {"container": container, "timestamps": "true"}
            if follow:
                query["follow"] = "true"
            if self._reading.previous:
                query["previous"] = "true"
            if since is not None:
                query["sinceTime"] = since
            if lines is not None:
                query["tailLines"] = str(lines)
            return self._client.log(self._space, source.name, query)

        follow = self._reading.follow and not ended and not self._reading.previous
        return ChosenLines(source, ask, self._tell, self._reading.start, follow=follow)

    def _tell(self, text: str) -> None:
        """What is the same with every pod is told once."""
        what = text.partition(": ")[2]
        if "cannot be read" not in text or what not in self._told:
            self._told.add(what)
            self._to(text)


def _source(pod: Manifest) -> Source:
    return Source(role(pod) or "pods", rank(pod) or 0, pod["metadata"]["name"])


def _has_ended(pod: Manifest) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _container(pod: Manifest, *, previous: bool) -> str | None:
    """
    The container that speaks for a pod, once it has begun.

    That is the one that trains; where a step before it has failed, that step.
    """
    status = pod.get("status") or {}
    for each in status.get("initContainerStatuses") or ():
        ended = (each.get("state") or {}).get("terminated") or {}
        if ended.get("exitCode") and not previous:
            return str(each["name"])
    wanted = main_container(pod)
    for each in status.get("containerStatuses") or ():
        if each["name"] == wanted and _has_log(each, previous=previous):
            return wanted
    return None


def container_of(client: Client, pod: str) -> str:
    """The container that trains, of a pod that is there."""
    live = client.get(Identity("v1", "Pod", client.namespace, pod))
    if live is None:
        raise NotFound(f"Pod/{pod} is gone")
    return main_container(live)


def _has_log(status: dict[str, Any], *, previous: bool) -> bool:
    if previous:
        return bool((status.get("lastState") or {}).get("terminated"))
    now = status.get("state") or {}
    return bool(now.get("running") or now.get("terminated") or status.get("restartCount"))


def main_container(pod: Manifest) -> str:
    """The container that trains."""
    names = [str(each["name"]) for each in pod["spec"]["containers"]]
    named = (pod["metadata"].get("annotations") or {}).get(_DEFAULT)
    return next((each for each in (_MAIN, named) if each in names), names[0])
