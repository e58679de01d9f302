"""Looking at a run until it is where it should be, or cannot get there any more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import JobFailed, OperationFailed, Progress, Until
from paddlespec.cluster import readiness
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.wanted import is_owner
from paddlespec.cluster.why import container, creation, ended
from paddlespec.cluster.why.ask import Asking
from paddlespec.cluster.why.blame import culprit
from paddlespec.cluster.why.evidence import Evidence
from paddlespec.manifest import JOB_LABEL, ROLE_LABEL, Identity, identity, role

if TYPE_CHECKING:
    from paddlespec.backend import Run
    from paddlespec.cluster.client import Client
    from paddlespec.cluster.why.blame import Culprit
    from paddlespec.manifest import Manifest

_LOG_LINES = 10
_EVENTS = 5
_REASON = re.compile(r"[A-Za-z]{1,60}\Z")


class Live(NamedTuple):
    """What there is of a run: Jobs and StatefulSets by name, pods by role."""

    workloads: dict[tuple[str, str], Manifest]
    pods: dict[str, list[Manifest]]


def look(client: Client, run: Run, until: Until) -> Progress:
    """How far *run* is; raises `JobFailed` as soon as it cannot get further."""
    owner = next((each for each in run.work.manifests if is_owner(each)), None)
    if owner is None:
        return Progress(True, True, "applied; what it becomes is not ours to tell")
    live = _live(client, run)
    trainers = live.workloads.get(("Job", owner["metadata"]["name"]))
    if trainers is None or trainers["metadata"]["uid"] != run.uid:
        raise OperationFailed(
            f"{identity(owner)} is gone: somebody deleted it, or its time to keep was over",
            None,
        )
    progress = readiness.job(trainers)
    if not progress.ok:
        raise failure(client, run, live, trainers, progress.message)
    if progress.done:
        told = _stop_pservers(client, run, live) if until is Until.complete else None
        return progress._replace(message=f"{progress.message}, {told}") if told else progress
    _check_pservers(client, run, live, trainers)
    return _roles(client, run, live, until, trainers, progress)


def _live(client: Client, run: Run) -> Live:
    selector = f"{JOB_LABEL}={run.work.name}"
    kinds = {
        (each["apiVersion"], each["kind"])
        for each in run.work.manifests
        if each["kind"] in ("Job", "StatefulSet")
    }
    found = {
        (kind, each["metadata"]["name"]): each
        for version, kind in sorted(kinds)
        for each in client.find(version, kind, run.namespace, selector)
    }
    pods: dict[str, list[Manifest]] = {}
    for each in client.find("v1", "Pod", run.namespace, selector):
        pods.setdefault(role(each) or "", []).append(each)
    return Live(found, pods)


def _roles(
    client: Client, run: Run, live: Live, until: Until, trainers: Manifest, progress: Progress
) -> Progress:
    """How many replicas of each role run, and what keeps the others."""
    told, here = [], True
    for manifest in run.work.manifests:
        name = role(manifest)
        if name is None or manifest["kind"] not in ("Job", "StatefulSet"):
            continue
        wanted = manifest["spec"].get("parallelism", manifest["spec"].get("replicas", 1))
        pods = [each for each in live.pods.get(name, ()) if not readiness.is_going(each)]
        looks = [readiness.pod(each) for each in pods]
        ready = sum(each.done and each.ok for each in looks)
        here = here and ready >= wanted
        hindered = [each.message for each in looks if not each.done and not each.ok]
        workload = live.workloads.get((manifest["kind"], manifest["metadata"]["name"]))
        if not hindered and workload is not None and not trainers["spec"].get("suspend"):
            hindered = _refused_pods(client, run, workload, pods)
        why = f" ({hindered[0]})" if hindered else ""
        over = sum(each.message == "ended" for each in looks)
        also = f", {over} ended" if over else ""
        told.append(f"{name} {ready - over}/{wanted} running{also}{why}")
    if trainers["spec"].get("suspend"):
        return Progress(False, True, progress.message)
    if not here and not any("ended" in each for each in told):
        told += _waited_for(client, run)
    finishing = [progress.message] if progress.message == "finishing" else []
    message = ", ".join([*told, *finishing])
    return Progress(here and until is Until.ready, True, message)


def _waited_for(client: Client, run: Run) -> list[str]:
    """Claims and gangs that keep pods from starting; a claim may wait for its pod as well."""
    selector = f"{JOB_LABEL}={run.work.name}"
    told = []
    for version, kind in sorted(
        {(each["apiVersion"], each["kind"]) for each in run.work.manifests}
    ):
        if kind not in ("PersistentVolumeClaim", "PodGroup"):
            continue
        try:
            there = client.find(version, kind, run.namespace, selector)
        except Refused:
            continue
        for live in there:
            if kind == "PodGroup":
                found = readiness.pod_group(live)
            else:
                found = readiness.claim(live)
                if not found.done and found.ok and _waits_for_consumer(client, live):
                    continue
            if not (found.done and found.ok):
                told.append(f"{identity(live)} {found.message}")
    return told


def _waits_for_consumer(client: Client, claim: Manifest) -> bool:
    """Whether a volume is provided only once a pod asks; where that cannot be known, it may be."""
    name = claim["spec"].get("storageClassName")
    if not name:
        return False
    try:
        live = client.get(Identity("storage.k8s.io/v1", "StorageClass", None, name))
    except Refused:
        return True
    return live is None or live.get("volumeBindingMode") == "WaitForFirstConsumer"


def _refused_pods(client: Client, run: Run, workload: Manifest, pods: list[Manifest]) -> list[str]:
    """Why a workload has fewer pods than it wants."""
    ask = Asking(client, run.namespace)
    looked = Evidence(run.namespace, role(workload) or "", workload, tuple(pods), ask)
    found = creation.refused(looked)
    return [found.sentence] if found else []


def _check_pservers(client: Client, run: Run, live: Live, trainers: Manifest) -> None:
    """A lost pserver loses the model, and the trainers would not tell."""
    if trainers["spec"].get("suspend"):
        return
    for manifest in run.work.manifests:
        if role(manifest) != "pservers" or manifest["kind"] not in ("Job", "StatefulSet"):
            continue
        found = live.workloads.get((manifest["kind"], manifest["metadata"]["name"]))
        if found is None:
            raise JobFailed(f"{identity(manifest)} is gone while the trainers run")
        if manifest["kind"] == "Job" and not (progress := readiness.job(found)).ok:
            raise failure(client, run, live, found, progress.message)


def _stop_pservers(client: Client, run: Run, live: Live) -> str | None:
    """
    End the pservers of a complete run, and say so; their objects stay, to be looked at.

    Whoever may only look learns the verdict all the same.
    """
    rendered = {(each["kind"], each["metadata"]["name"]) for each in run.work.manifests}
    told = None
    for (kind, name), found in live.workloads.items():
        field, value = ("suspend", True) if kind == "Job" else ("replicas", 0)
        over = kind == "Job" and readiness.job(found).done
        own = role(found) == "pservers" and (kind, name) in rendered
        if not own or over or found["spec"].get(field) == value or readiness.is_going(found):
            continue
        target = identity(found)._replace(namespace=run.namespace)
        try:
            client.replace_value(found, target, f"/spec/{field}", value)
        except Refused as error:
            if error.refusal.status == 403:
                return "its pservers run on: you may not stop them"
            # Gone already, or another run's by now.
            if error.refusal.status not in (404, 422):
                raise
        told = "pservers stopped"
    return told


def failure(
    client: Client, run: Run, live: Live, workload: Manifest, message: str
) -> OperationFailed:
    """The end of a run: why, the replica that failed first, and what it wrote last."""
    name = identity(workload)
    if readiness.is_going(workload) and message == "is being deleted":
        return OperationFailed(f"{name} is being deleted by somebody")
    uid = workload["metadata"]["uid"]
    own = [
        pod
        for pod in live.pods.get(workload["metadata"]["labels"].get(ROLE_LABEL, ""), ())
        if any(each.get("uid") == uid for each in pod["metadata"].get("ownerReferences") or ())
    ]
    to_blame = culprit(own, lambda each: _wrote(client, run, each))
    words = _last_words(client, run, to_blame) if to_blame else []
    return JobFailed("\n".join([f"{name} {message}", *words]))


def _last_words(client: Client, run: Run, to_blame: Culprit) -> list[str]:
    pod = to_blame.pod
    ending = f"  {pod['metadata']['name']}: {ended.ending(pod)}"
    return [ending, *_events(client, run, pod), *(f"  {each}" for each in to_blame.lines())]


def _wrote(client: Client, run: Run, pod: Manifest) -> list[str] | None:
    name = pod["metadata"]["name"]
    try:
        return client.logs(run.namespace, name, ended.container(pod), _LOG_LINES)
    except OperationFailed:
        return None


def _events(client: Client, run: Run, pod: Manifest) -> list[str]:
    """What the cluster had to complain of about a pod: its texts may quote it, its reasons not."""
    fields = f"involvedObject.uid={pod['metadata']['uid']},type=Warning"
    try:
        events = client.find("v1", "Event", run.namespace, fields=fields)
    except OperationFailed:
        return []
    events.sort(key=lambda each: str(each.get("lastTimestamp") or each.get("eventTime") or ""))
    told: dict[str, None] = {}
    for each in events[-_EVENTS:]:
        reason = str(each.get("reason") or "")
        if _REASON.match(reason):
            known = container.missing(each.get("message"))
            told[f"{reason} ({known})" if known else reason] = None
    return [f"  events: {', '.join(told)}"] if told else []
