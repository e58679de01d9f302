"""
Read the logs of a job on a cluster: a stream for each pod, including pods that start later.

Polling takes two requests for any number of pods.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads
from paddlespec.backends.cluster.api.pods import is_sidecar, rank
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.observe import members
from paddlespec.backends.cluster.observe.job_states import find, state
from paddlespec.backends.cluster.streams.tail import ChosenLines
from paddlespec.backends.cluster.why import ended
from paddlespec.logs.descriptors import allow_files
from paddlespec.logs.line import Source
from paddlespec.render.manifest import JOB_LABEL, Identity, role
from paddlespec.runs.failures import NotFound, OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.observe.job_states import JobObjects
    from paddlespec.logs.start import Start
    from paddlespec.render.manifest import Manifest

_LOOK_SECONDS = 2.0
# Following ends if the cluster is unreachable for longer than this.
_PATIENCE_SECONDS = 300.0
# Every pod takes a connection and a thread.
_MOST = 1000
_MAIN = "paddle"
_DEFAULT = "kubectl.kubernetes.io/default-container"


class Reading(NamedTuple):
    """What to read: which replicas, from which position, and whether to follow."""

    replicas: Sequence[Source]
    start: Start
    follow: bool = False
    previous: bool = False
    container: str | None = None


def run_of(client: Client, name: str, number: int | None) -> JobObjects:
    """Return the job with the run *number*, or with its current run. Raises `NotFound`."""
    job = find(client, name)
    own = job.record.number if job.record else None
    if number is not None and number != own:
        known = [run.number for run in job.history.runs]
        if number in known:
            current = f"; the logs of run {own} are available" if job.pods and own else ""
            raise NotFound(
                f"the logs of run {number} of {name} were deleted with its pods{current}"
            )
        hint = f"use one of its runs: {', '.join(map(str, known))}" if known else None
        raise NotFound(f"{name} has no run {number}", hint)
    stage = state(job).stage
    if not job.pods and stage.is_over:
        raise NotFound(
            f"{name} is {stage.value}, and its logs were deleted with its pods",
            f"list its runs with: paddlespec get history {name}",
        )
    return job


def sources(job: JobObjects) -> list[Source]:
    """List the replicas of a job, trainers first; replicas without a pod have no name."""
    known = {
        (role.name, index): Source(role.name, index, "")
        for role in state(job).roles
        for index in range(role.desired)
    }
    for pod in job.pods or ():
        source = _source(pod)
        known[source.role, source.replica] = source
    return sorted(known.values(), key=lambda source: (source.role != "trainers", source[:2]))


def waits(job: JobObjects) -> str:
    """Say why there are no logs yet."""
    current = state(job)
    why = f": {current.why}" if current.why else ""
    return f"no logs yet: {job.name} is {current.stage.value}{why}"


def verdict(client: Client, name: str) -> str | None:
    """Say why a job failed, and which replica failed first; None if it did not fail."""
    try:
        job = find(client, name)
    except OperationFailed:
        return None
    current = state(job)
    if not current.stage.is_failure:
        return None
    run = f"run {current.run} of {name}" if current.run is not None else name
    pod = ended.first(job.pods or ())
    if pod is None:
        return f"{run} failed" + (f": {current.why}" if current.why else "")
    return f"{run} failed; first failure: {pod['metadata']['name']}, {ended.ending(pod)}"


class Kept:
    """The logs of an existing run, for the command that shows them."""

    def __init__(
        self,
        client: Client,
        name: str,
        number: int | None,
        *,
        previous: bool,
        container: str | None = None,
    ) -> None:
        self._client, self._previous, self._container = client, previous, container
        self._job = run_of(client, name, number)
        if container is not None:
            _must_exist(container, self._job.pods or ())
        self.sources = sources(self._job)

    def logs(
        self,
        chosen: Sequence[Source],
        start: Start,
        report: Callable[[str], None],
        *,
        follow: bool,
        pieces: bool,  # noqa: ARG002 - a server sends complete lines
    ) -> PodLogs:
        """Return the logs of the *chosen* replicas."""
        reading = Reading(chosen, start, follow, self._previous, self._container)
        logs = PodLogs(self._client, self._job, reading, report)
        if not logs.readers():
            if self._previous:
                message = f"no container of {self._job.name} was restarted"
                raise NotFound(
                    message, f"list earlier runs with: paddlespec get history {self._job.name}"
                )
            if not follow:
                report(waits(self._job))
        return logs

    def verdict(self) -> str | None:
        """Say why the run failed; None if it did not fail."""
        return None if self._previous else verdict(self._client, self._job.name)


class PodLogs:
    """The logs of one run on a cluster; implements `Logs`."""

    def __init__(
        self, client: Client, job: JobObjects, reading: Reading, report: Callable[[str], None]
    ) -> None:
        self._client, self._name, self._space = client, job.name, job.namespace
        self._owner = job.owner
        self._replicas = {source[:2] for source in reading.replicas}
        self._reading, self._to = reading, report
        self._reported: set[str] = set()
        self._readers: dict[str, ChosenLines] = {}
        self._settled: set[str] = set()
        self._over = False
        if len(self._replicas) > _MOST:
            message = (
                f"cannot read the logs of {len(self._replicas)} replicas at once, at most {_MOST}"
            )
            raise OperationFailed(message, "select replicas with --role or --index")
        allow_files(len(self._replicas))
        self._answered = self._looked = time.monotonic()
        self._take(job.pods or ())

    def readers(self) -> Sequence[ChosenLines]:
        """Return a reader for each container that has started."""
        return list(self._readers.values())

    def is_over(self) -> bool:
        """Report whether the run has finished or was deleted."""
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
        """Poll the pods and the owner of the run."""
        selector = f"{JOB_LABEL}={self._name}"
        pods = self._client.find("v1", "Pod", self._space, selector)
        # After the pods: while their owner is there, they cannot be another run's.
        owner = workloads.owner(self._workloads(selector))
        known = self._owner["metadata"]["uid"] if self._owner else None
        ours = owner is not None and owner["metadata"]["uid"] == known
        if ours or owner is None:
            self._take(pods)
        for name in self._readers.keys() - {pod["metadata"]["name"] for pod in pods}:
            self._settle(name)
        if owner is not None and ours:
            self._over = workloads.progress(owner).done
        else:
            self._over = owner is not None or all(map(_has_ended, pods))
        if self._over:
            for name in self._readers:
                self._settle(name)

    def _workloads(self, selector: str) -> list[Manifest]:
        """Return the workloads of the job: of the known kind, or of any kind."""
        if self._owner is None:
            return members.find(self._client, self._space, selector).workloads
        kind = workloads.of(self._owner).KIND
        return self._client.find(*kind.type, self._space, selector)

    def _take(self, pods: Iterable[Manifest]) -> None:
        """Start to read new pods, and finish with pods that have ended."""
        for pod in pods:
            name = pod["metadata"]["name"]
            if name not in self._readers:
                source = _source(pod)
                reading = self._reading
                container = _container(pod, reading.container, previous=reading.previous)
                if container is None or source[:2] not in self._replicas:
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
        return ChosenLines(source, ask, self._report, self._reading.start, follow=follow)

    def _report(self, text: str) -> None:
        """Report a message; one that is the same for every pod is reported once."""
        what = text.partition(": ")[2]
        if "cannot read" not in text or what not in self._reported:
            self._reported.add(what)
            self._to(text)


def _source(pod: Manifest) -> Source:
    return Source(role(pod) or "pods", rank(pod) or 0, pod["metadata"]["name"])


def _has_ended(pod: Manifest) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _container(pod: Manifest, chosen: str | None, *, previous: bool) -> str | None:
    """
    Return the container whose log is shown, once it has started.

    This is the *chosen* one, or else the main container, or an init container that failed.
    """
    status = pod.get("status") or {}
    steps, beside = (status.get(f"{kind}Statuses") or () for kind in ("initContainer", "container"))
    for container in steps if chosen is None else ():
        ended = (container.get("state") or {}).get("terminated") or {}
        if ended.get("exitCode") and not previous and not is_sidecar(pod, container["name"]):
            return str(container["name"])
    name = chosen or main_container(pod)
    for container in (*steps, *beside):
        if container["name"] == name and _has_log(container, previous=previous):
            return name
    return None


def _must_exist(name: str, pods: Iterable[Manifest]) -> None:
    """Raise `NotFound` unless a container of one of *pods* has this name."""
    known = {
        str(container["name"])
        for pod in pods
        for kind in ("initContainers", "containers")
        for container in pod["spec"].get(kind) or ()
    }
    if known and name not in known:
        raise NotFound(f'no container is called "{name}"', f"use one of {', '.join(sorted(known))}")


def container_of(client: Client, pod: str) -> str:
    """Return the main container of an existing pod."""
    live = client.get(Identity("v1", "Pod", client.namespace, pod))
    if live is None:
        raise NotFound(f"Pod/{pod} does not exist")
    return main_container(live)


def _has_log(status: dict[str, Any], *, previous: bool) -> bool:
    if previous:
        return bool((status.get("lastState") or {}).get("terminated"))
    now = status.get("state") or {}
    return bool(now.get("running") or now.get("terminated") or status.get("restartCount"))


def main_container(pod: Manifest) -> str:
    """Return the container that runs the command of the job."""
    names = [str(container["name"]) for container in pod["spec"]["containers"]]
    named = (pod["metadata"].get("annotations") or {}).get(_DEFAULT)
    return next((name for name in (_MAIN, named) if name in names), names[0])
