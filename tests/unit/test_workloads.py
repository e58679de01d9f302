"""The kinds that run pods: what each says of its objects, and the laws that all of them obey."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml

import paddlespec
from paddlespec import workloads
from paddlespec.change.diff import Effect, effect
from paddlespec.workloads.roles import without

ROLE = "labels: {paddlespec.io/role: trainers}"
SAMPLES = {
    "Job.batch": f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: fit-trainer, uid: own, {ROLE}}}
spec:
  completions: 4
  parallelism: 4
  activeDeadlineSeconds: 60
  ttlSecondsAfterFinished: 600
  template: {{spec: {{containers: [{{name: paddle, image: a}}]}}}}
""",
    "StatefulSet.apps": """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: fit-pserver, uid: own, labels: {paddlespec.io/role: pservers}}
spec:
  replicas: 2
  template: {spec: {containers: [{name: paddle, image: a}]}}
""",
    "JobSet.jobset.x-k8s.io": """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: fit, uid: own}
spec:
  ttlSecondsAfterFinished: 600
  replicatedJobs:
  - name: pservers
    template:
      spec:
        parallelism: 2
        template: {spec: {containers: [{name: paddle, image: a}]}}
  - name: trainers
    template:
      spec:
        parallelism: 4
        activeDeadlineSeconds: 60
        template: {spec: {containers: [{name: paddle, image: a}]}}
""",
}


def sample(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(SAMPLES[name])
    return found


def live(kind: str, text: str) -> dict[str, Any]:
    """An object of *kind*, a built-in one, by what matters of it."""
    known = workloads.named(kind)
    assert known is not None
    own: dict[str, Any] = yaml.safe_load(text)
    whole = {"metadata": {}, "spec": {}, "status": {}, **own}
    return {"apiVersion": known.KIND.api_version, "kind": kind, **whole}


def held(*conditions: str) -> str:
    """Conditions as `Type`, `Type=False` or `Type/Reason`."""
    listed = []
    for condition in conditions:
        name, _, reason = condition.partition("/")
        kind, _, value = name.partition("=")
        listed.append({"type": kind, "status": value or "True", "reason": reason})
    return repr(listed)


def test_every_built_in_workload_has_a_sample() -> None:
    built_in = {f"{known.KIND.kind}.{known.KIND.group}" for known in workloads.every()}
    assert built_in == SAMPLES.keys()


@pytest.mark.parametrize("name", SAMPLES)
class TestEveryWorkload:
    """What holds of every kind."""

    def test_is_found_by_its_objects(self, name: str) -> None:
        own = sample(name)
        known = workloads.find(own)
        assert known is not None
        assert known.KIND.type == (own["apiVersion"], own["kind"])
        assert workloads.is_workload(own)

    def test_its_roles_lie_where_their_paths_lead(self, name: str) -> None:
        own = sample(name)
        listed = [pods for _, pods in workloads.roles([own])]
        assert listed
        for pods in listed:
            assert pods.replicas > 1
            assert pods.pod["containers"]
            less = without(own, (*pods.path, "spec", "containers"))
            assert workloads.pods_of(less, pods.role) == pods._replace(template={"spec": {}})

    def test_it_counts_what_it_is_to_run(self, name: str) -> None:
        own = sample(name)
        counted = workloads.of(own).counts(own)
        rendered = [pods for _, pods in workloads.roles([own])]
        assert [(state.name, state.desired) for state in counted] == [
            (pods.role, pods.replicas) for pods in rendered
        ]

    def test_it_is_stopped_and_started_by_one_field(self, name: str) -> None:
        own = sample(name)
        kind = workloads.of(own).KIND
        for switch in filter(None, (kind.hold, kind.stop)):
            assert not switch.is_stopped(own)
            stopped = without(own, switch.path)
            stopped = switch.stop(stopped)
            assert switch.is_stopped(stopped)
            assert effect(kind.kind, switch.path) is Effect.in_place
        if kind.hold:
            assert not kind.hold.is_stopped(kind.hold.start(kind.hold.stop(own)))

    def test_it_is_not_well_while_it_is_being_deleted(self, name: str) -> None:
        own = sample(name)
        own["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        assert workloads.progress(own) == (False, False, "is being deleted")

    def test_its_template_cannot_change_under_its_pods(self, name: str) -> None:
        own = sample(name)
        kind = workloads.of(own).KIND
        for _, pods in workloads.roles([own]):
            path = (*pods.path, "spec", "containers", "paddle", "image")
            restarts = workloads.covers(kind.restarting, path)
            assert restarts or effect(kind.kind, path) is Effect.replacement


JOBS = {
    "complete": (held("SuccessCriteriaMet", "Complete"), (True, True, "complete")),
    "failed": (
        held("FailureTarget/BackoffLimitExceeded", "Failed/BackoffLimitExceeded"),
        (True, False, "failed: a replica failed"),
    ),
    "failing": (
        held("FailureTarget/BackoffLimitExceeded"),
        (False, False, "failing: a replica failed"),
    ),
    "too-late": (
        held("Failed/DeadlineExceeded"),
        (True, False, "failed: exceeded its timeout"),
    ),
    "unknown-reason": (held("Failed/Quux"), (True, False, "failed: Quux")),
    "finishing": (held("SuccessCriteriaMet/CompletionsReached"), (False, True, "finishing")),
    "not-failed": (held("Failed=False"), (False, True, "no pods yet")),
    "fresh": ("[]", (False, True, "no pods yet")),
}


@pytest.mark.parametrize("case", JOBS)
def test_a_job_by_its_conditions(case: str) -> None:
    conditions, expected = JOBS[case]
    assert workloads.progress(live("Job", f"status: {{conditions: {conditions}}}")) == expected


def test_a_job_counts_its_pods() -> None:
    counted = live("Job", "status: {active: 2, succeeded: 1, failed: 0}")
    assert workloads.progress(counted).message == "2 active, 1 succeeded"


@pytest.mark.parametrize("kind", ["Job", "JobSet"])
@pytest.mark.parametrize(
    ("labels", "word"), [("{}", "suspended"), ("{kueue.x-k8s.io/queue-name: q}", "queued")]
)
def test_a_run_that_is_held_back_is_no_failure(kind: str, labels: str, word: str) -> None:
    found = live(kind, f"{{metadata: {{labels: {labels}}}, spec: {{suspend: true}}}}")
    assert workloads.progress(found) == (False, True, word)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("status: {active: 1}", "is running"),
        ("spec: {suspend: true}", "is suspended"),
        (f"status: {{conditions: {held('Complete')}}}", "is complete"),
        (f"status: {{conditions: {held('Failed/Quux')}}}", "failed: Quux"),
    ],
)
def test_the_state_of_a_job_is_a_verb(text: str, state: str) -> None:
    assert workloads.state(live("Job", text)) == state


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("{spec: {replicas: 2}, status: {readyReplicas: 2, replicas: 2}}", True),
        ("{spec: {replicas: 2}, status: {readyReplicas: 1, replicas: 2}}", False),
        ("{spec: {replicas: 1}, status: {readyReplicas: 2, replicas: 2}}", False),
        ("{spec: {replicas: 0}}", True),
        (
            (
                "{metadata: {generation: 2}, spec: {replicas: 1},"
                " status: {readyReplicas: 1, replicas: 1, observedGeneration: 1}}"
            ),
            False,
        ),
    ],
    ids=["ready", "starting", "shrinking", "none", "not-seen-yet"],
)
def test_a_stateful_set(text: str, done: bool) -> None:
    assert workloads.progress(live("StatefulSet", text)).done is done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", (False, True, "no jobs yet")),
        (
            "status: {restarts: 2, replicatedJobsStatus: [{name: trainers, ready: 1}]}",
            (False, True, "trainers 1 ready, 2 restarts"),
        ),
        (f"status: {{conditions: {held('Completed')}}}", (True, True, "complete")),
        (
            f"status: {{conditions: {held('Failed/FailedJobs')}}}",
            (True, False, "failed: a role failed"),
        ),
    ],
    ids=["new", "running", "complete", "failed"],
)
def test_a_job_set(text: str, expected: tuple[bool, bool, str]) -> None:
    assert workloads.progress(live("JobSet", text)) == expected


def test_a_job_set_counts_the_pods_of_its_jobs() -> None:
    own = sample("JobSet.jobset.x-k8s.io")
    child = sample("Job.batch")
    child["status"] = {"ready": 3, "failed": 1}
    reference = {"kind": own["kind"], "name": "fit", "uid": "own", "controller": True}
    child["metadata"] |= {"uid": "child", "ownerReferences": [reference]}
    (servers, trainers) = workloads.of(own).counts(own, workloads.children(own, [child]))
    assert (servers.desired, servers.ready) == (2, 0)
    assert (trainers.desired, trainers.ready, trainers.failed) == (4, 3, 1)
    assert workloads.runner(own, "trainers", [child]) is child
    assert workloads.runner(own, "pservers", [child]) is own
    assert workloads.owner([child, own]) is own


def test_a_set_of_jobs_that_ended_says_when() -> None:
    own = sample("JobSet.jobset.x-k8s.io")
    moment = "2026-01-31T12:00:00Z"
    ended = {"type": "Completed", "status": "True", "lastTransitionTime": moment}
    resumed = {"type": "Suspended", "status": "False", "lastTransitionTime": "2026-01-31T11:00:00Z"}
    own["status"] = {"conditions": [ended, resumed]}
    known = workloads.of(own)
    assert (known.started(own), known.finished(own)) == ("2026-01-31T11:00:00Z", moment)


# Words of the spec itself: the type `Job`, and what `pservers.workload` may be.
SPEC = ("model", "spec")


# A filter of Jinja2 has the name of an API group.
FILTER = "render/bounds.py", "batch"


def test_kinds_are_named_nowhere_else() -> None:
    names = {known.KIND.kind for known in workloads.every()}
    names |= {known.KIND.api_version for known in workloads.every()}
    names |= {known.KIND.group for known in workloads.every()}
    root = Path(paddlespec.__file__).parent
    spelt = [
        f"{path.relative_to(root)}:{node.lineno} {node.value}"
        for path in sorted(root.rglob("*.py"))
        if path.relative_to(root).parts[0] not in ("workloads", *SPEC)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in names
        if (str(path.relative_to(root)), node.value) != FILTER
    ]
    assert spelt == []
