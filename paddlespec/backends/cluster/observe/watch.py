"""Poll a run until it reaches the awaited state, or can no longer reach it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from paddlespec import workloads
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.observe import readiness
from paddlespec.backends.cluster.why import container, creation, ended
from paddlespec.backends.cluster.why.ask import Asking
from paddlespec.backends.cluster.why.blame import culprit
from paddlespec.backends.cluster.why.evidence import Evidence
from paddlespec.render.manifest import (
    JOB_LABEL,
    Identity,
    identity,
    role,
)
from paddlespec.runs.failures import JobFailed, OperationFailed
from paddlespec.runs.values import Progress, Until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.why.blame import Culprit
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.values import Run

_LOG_LINES = 10
_EVENTS = 5
_REASON = re.compile(r"[A-Za-z]{1,60}\Z")


class Live(NamedTuple):
    """The live objects of a run: those that run pods, and the pods."""

    workloads: Sequence[Manifest]
    pods: Sequence[Manifest]

    def of(self, manifest: Manifest) -> Manifest | None:
        """Return the live object of a rendered one."""
        key = manifest["kind"], manifest["metadata"]["name"]
        return next(
            (live for live in self.workloads if (live["kind"], live["metadata"]["name"]) == key),
            None,
        )

    def pods_of(self, workload: Manifest) -> list[Manifest]:
        """Return the pods of a workload, including those of its children."""
        creators = {
            live["metadata"]["uid"]
            for live in (workload, *workloads.children(workload, self.workloads))
        }
        return [
            pod
            for pod in self.pods
            if any(
                reference.get("uid") in creators
                for reference in pod["metadata"].get("ownerReferences") or ()
            )
        ]


def look(client: Client, run: Run, until: Until) -> Progress:
    """Return the progress of *run*; raises `JobFailed` once it can no longer proceed."""
    rendered = workloads.owner(run.work.manifests)
    if rendered is None:
        raise OperationFailed(f"no object of {run.work.name} runs its trainers to completion")
    live = _live(client, run)
    owner = live.of(rendered)
    if owner is None or owner["metadata"]["uid"] != run.uid:
        raise OperationFailed(
            f"{identity(rendered)} no longer exists: it was deleted, or its retention time is over",
            None,
        )
    progress = workloads.progress(owner)
    if not progress.ok:
        raise failure(client, run, live, owner, progress.message)
    if progress.done:
        stopped = _stop_others(client, run, live) if until is Until.complete else None
        return progress._replace(message=f"{progress.message}, {stopped}") if stopped else progress
    _check_others(client, run, live, owner)
    return _roles(client, run, live, until, owner, progress)


def _live(client: Client, run: Run) -> Live:
    selector = f"{JOB_LABEL}={run.work.name}"
    owners = [
        live
        for kind in sorted(workloads.kinds(run.work.manifests))
        for live in client.find(*kind, run.namespace, selector)
    ]
    return Live(owners, client.find("v1", "Pod", run.namespace, selector))


def _roles(
    client: Client, run: Run, live: Live, until: Until, owner: Manifest, progress: Progress
) -> Progress:
    """Report how many replicas of each role are running, and what keeps the others."""
    parts, here = [], True
    held = workloads.is_stopped(owner)
    for manifest, rendered in workloads.roles(run.work.manifests):
        if not rendered.role:
            continue
        pods = [
            pod for pod in live.pods if role(pod) == rendered.role and not workloads.is_going(pod)
        ]
        looks = [readiness.pod(pod) for pod in pods]
        ready = sum(look.done and look.ok for look in looks)
        here = here and ready >= rendered.replicas
        hindered = [look.message for look in looks if not look.done and not look.ok]
        workload = live.of(manifest)
        if not hindered and workload is not None and not held:
            creator = workloads.runner(workload, rendered.role, live.workloads)
            hindered = _refused_pods(client, run, rendered.role, creator, pods)
        why = f" ({hindered[0]})" if hindered else ""
        over = sum(look.message == "ended" for look in looks)
        also = f", {over} ended" if over else ""
        parts.append(f"{rendered.role} {ready - over}/{rendered.replicas} running{also}{why}")
    if held:
        return Progress(False, True, progress.message)
    if not here and not any("ended" in part for part in parts):
        parts += _waited_for(client, run)
    finishing = [progress.message] if progress.message == "finishing" else []
    message = ", ".join([*parts, *finishing])
    return Progress(here and until is Until.ready, True, message)


def _waited_for(client: Client, run: Run) -> list[str]:
    """List the claims and gangs that pods are waiting for; a claim may in turn wait for its pod."""
    selector = f"{JOB_LABEL}={run.work.name}"
    waiting = []
    for version, kind in sorted(
        {(manifest["apiVersion"], manifest["kind"]) for manifest in run.work.manifests}
    ):
        if kind not in ("PersistentVolumeClaim", "PodGroup"):
            continue
        try:
            there = client.find(version, kind, run.namespace, selector)
        except Refused:
            continue
        for live in there:
            if kind == "PodGroup":
                progress = readiness.pod_group(live)
            else:
                progress = readiness.claim(live)
                if not progress.done and progress.ok and _waits_for_consumer(client, live):
                    continue
            if not (progress.done and progress.ok):
                waiting.append(f"{identity(live)} {progress.message}")
    return waiting


def _waits_for_consumer(client: Client, claim: Manifest) -> bool:
    """Report whether a volume is provisioned only for a pod; if unknown, assume that it is."""
    name = claim["spec"].get("storageClassName")
    if not name:
        return False
    try:
        live = client.get(Identity("storage.k8s.io/v1", "StorageClass", None, name))
    except Refused:
        return True
    return live is None or live.get("volumeBindingMode") == "WaitForFirstConsumer"


def _refused_pods(
    client: Client, run: Run, name: str, creator: Manifest, pods: list[Manifest]
) -> list[str]:
    """Say why the role *name* has fewer pods than it should."""
    ask = Asking(client, run.namespace)
    looked = Evidence(run.namespace, name, creator, tuple(pods), ask)
    reason = creation.refused(looked)
    return [reason.sentence] if reason else []


def _check_others(client: Client, run: Run, live: Live, owner: Manifest) -> None:
    """Raise if a pserver or another role is lost: the trainers would not notice."""
    if workloads.is_stopped(owner):
        return
    for manifest, pods in workloads.roles(run.work.manifests):
        if not pods.role or workloads.is_owner(manifest):
            continue
        current = live.of(manifest)
        if current is None:
            raise JobFailed(f"{identity(manifest)} no longer exists while the trainers are running")
        if workloads.ends(current) and not (progress := workloads.progress(current)).ok:
            raise failure(client, run, live, current, progress.message)


def _stop_others(client: Client, run: Run, live: Live) -> str | None:
    """
    Stop all other roles of a complete run, and report it; their objects are kept for inspection.

    Some controllers stop them with the run. A user without the right to stop them still gets the
    verdict.
    """
    stopped = []
    for manifest, pods in workloads.roles(run.work.manifests):
        if not pods.role or workloads.is_owner(manifest):
            continue
        current = live.of(manifest)
        if current is None or workloads.is_going(current) or workloads.is_stopped(current):
            continue
        if workloads.ends(current) and workloads.progress(current).done:
            continue
        stop = workloads.of(current).KIND.stop
        target = identity(current)._replace(namespace=run.namespace)
        try:
            client.replace_value(current, target, stop.pointer, stop.stopped)
        except Refused as error:
            if error.refusal.status == 403:
                return f"its {pods.role} are still running: you may not stop them"
            # It no longer exists, or belongs to another run by now.
            if error.refusal.status not in (404, 422):
                raise
        stopped.append(pods.role)
    return f"{', '.join(stopped)} stopped" if stopped else None


def failure(
    client: Client, run: Run, live: Live, workload: Manifest, message: str
) -> OperationFailed:
    """Describe why a run failed: the reason, the replica that failed first, and its last lines."""
    name = identity(workload)
    if workloads.is_going(workload) and message == "is being deleted":
        return OperationFailed(f"{name} is being deleted")
    to_blame = culprit(live.pods_of(workload), lambda pod: _wrote(client, run, pod))
    lines = _last_words(client, run, to_blame) if to_blame else []
    return JobFailed(f"{name} {message}", evidence=lines)


def _last_words(client: Client, run: Run, to_blame: Culprit) -> list[str]:
    pod = to_blame.pod
    ending = f"  {pod['metadata']['name']}: {ended.ending(pod)}"
    return [ending, *_events(client, run, pod), *(f"  {line}" for line in to_blame.lines())]


def _wrote(client: Client, run: Run, pod: Manifest) -> list[str] | None:
    name = pod["metadata"]["name"]
    try:
        return client.logs(run.namespace, name, ended.container(pod), _LOG_LINES)
    except OperationFailed:
        return None


def _events(client: Client, run: Run, pod: Manifest) -> list[str]:
    """List the reasons of a pod's warnings; their messages may contain secrets, reasons do not."""
    fields = f"involvedObject.uid={pod['metadata']['uid']},type=Warning"
    try:
        events = client.find("v1", "Event", run.namespace, fields=fields)
    except OperationFailed:
        return []
    events.sort(key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""))
    reasons: dict[str, None] = {}
    for event in events[-_EVENTS:]:
        reason = str(event.get("reason") or "")
        if _REASON.match(reason):
            known = container.missing(event.get("message"))
            reasons[f"{reason} ({known})" if known else reason] = None
    return [f"  events: {', '.join(reasons)}"] if reasons else []
