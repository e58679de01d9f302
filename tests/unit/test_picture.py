"""What runs, as it is read from objects of a cluster and shown to people."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
import yaml

from paddlespec.backends.cluster.observe.job_states import gathered, state
from paddlespec.backends.cluster.observe.job_status import object_event
from paddlespec.backends.cluster.observe.replicas import worker, workers
from paddlespec.report.jobs import job_data, jobs
from paddlespec.report.jobs import workers as workers_table
from paddlespec.report.moments import ago, duration
from paddlespec.report.status import brief, next_commands
from paddlespec.report.status import status as screen
from paddlespec.report.width import cells
from paddlespec.runs.history import (
    History,
    Provenance,
    RunRecord,
    State,
)
from paddlespec.runs.state import (
    JobState,
    ObjectEvent,
    RoleState,
    Stage,
    Status,
    Worker,
    WorkerState,
)
from paddlespec.selector import parse

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=timezone.utc)
HOUR_AGO = "2026-01-31T11:00:00Z"

POD = """
apiVersion: v1
kind: Pod
metadata:
  name: fit-trainer-1-x7k2p
  labels: {paddlespec.io/role: trainers, batch.kubernetes.io/job-completion-index: "1"}
spec: {nodeName: node-3}
"""
PODS: dict[str, tuple[str, dict[str, Any]]] = {
    "running": (
        """
        phase: Running
        podIP: 10.0.0.7
        startTime: 2026-01-31T11:00:00Z
        conditions: [{type: Ready, status: "True"}]
        containerStatuses: [{name: paddle, restartCount: 2, state: {running: {}}}]
        """,
        {"state": WorkerState.running, "ready": True, "restarts": 2, "address": "10.0.0.7"},
    ),
    "not-ready": ("phase: Running", {"state": WorkerState.running, "reason": "NotReady"}),
    "done": (
        """
        phase: Succeeded
        containerStatuses: [{name: paddle, state: {terminated: {exitCode: 0, finishedAt: t}}}]
        """,
        {"state": WorkerState.succeeded, "code": 0, "finished": "t", "reason": None},
    ),
    "out-of-memory": (
        """
        phase: Failed
        containerStatuses:
        - {name: paddle, state: {terminated: {exitCode: 137, reason: OOMKilled}}}
        """,
        {
            "state": WorkerState.failed,
            "reason": "OOMKilled",
            "code": 137,
            "message": "exit code 137 (out of memory)",
        },
    ),
    "the-first-that-failed": (
        """
        phase: Failed
        containerStatuses:
        - {name: a, state: {terminated: {exitCode: 143, reason: Late, finishedAt: "2"}}}
        - {name: b, state: {terminated: {exitCode: 3, reason: Early, finishedAt: "1"}}}
        """,
        {"code": 3, "reason": "Early"},
    ),
    "evicted": (
        "{phase: Failed, reason: Evicted, message: 'canary'}",
        {"reason": "Evicted", "code": None, "message": "evicted by node-3"},
    ),
    "unschedulable": (
        """
        phase: Pending
        conditions:
        - {type: PodScheduled, status: "False", reason: Unschedulable, message: 0/4 nodes are available}
        """,
        {
            "state": WorkerState.pending,
            "reason": "Unschedulable",
            "message": "fits on no node: 0/4 nodes are available",
        },
    ),
    "no-image": (
        """
        phase: Pending
        containerStatuses:
        - {name: paddle, image: r/p:1, state: {waiting: {reason: ErrImagePull, message: canary}}}
        """,
        {"reason": "ErrImagePull", "message": "cannot pull image r/p:1 (ErrImagePull)"},
    ),
    "starting": (
        "{phase: Pending, containerStatuses: [{name: p, state: {waiting: {reason: PodInitializing}}}]}",
        {"state": WorkerState.pending, "reason": "PodInitializing", "message": None},
    ),
    "a-reason-that-is-a-sentence": (
        "{phase: Failed, reason: 'the canary sang'}",
        {"state": WorkerState.failed, "reason": None},
    ),
    "nobody-knows": ("phase: Unknown", {"state": WorkerState.unknown}),
}


def pod(status: str = "{}", **metadata: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(POD, yaml.BaseLoader)
    found["metadata"].update(metadata)
    loaded = yaml.safe_load(status)
    text = yaml.load(status, yaml.BaseLoader)
    for key in ("startTime",):
        if key in loaded:
            loaded[key] = text[key]
    return {**found, "status": loaded}


@pytest.mark.parametrize("case", PODS)
def test_a_pod_is_a_replica(case: str) -> None:
    status, expected = PODS[case]
    found = worker(pod(status))
    assert {key: getattr(found, key) for key in expected} == expected
    assert (found.role, found.rank, found.node) == ("trainers", 1, "node-3")
    assert "canary" not in repr(found)


def test_a_pod_that_is_being_deleted_stops() -> None:
    assert worker(pod("phase: Running", deletionTimestamp=HOUR_AGO)).state is WorkerState.stopping
    assert worker(pod("phase: Failed", deletionTimestamp=HOUR_AGO)).state is WorkerState.failed


def test_trainers_stand_first_and_by_rank() -> None:
    def named(name: str, role: str, rank: str) -> dict[str, Any]:
        labels = {"paddlespec.io/role": role, "apps.kubernetes.io/pod-index": rank}
        return pod(name=name, labels=labels)

    listed = [
        named("p", "pservers", "0"),
        named("t10", "trainers", "10"),
        named("t2", "trainers", "2"),
    ]
    assert [each.name for each in workers(listed)] == ["t2", "t10", "p"]


def test_the_only_pod_of_a_job_has_rank_0() -> None:
    assert worker(pod(labels={"paddlespec.io/role": "trainers"})).rank == 0


def live(
    role: str = "trainers", status: str = "{}", env: str = "PADDLESPEC_INDEX", **spec: Any
) -> dict[str, Any]:
    container = {"name": "paddle", "env": [{"name": env, "value": "x"}]}
    labels = {"paddlespec.io/job": "fit", "paddlespec.io/role": role, "team": "ads"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"fit-{role[:-1]}", "namespace": "ads", "uid": role, "labels": labels},
        "spec": {
            "completions": 2,
            "template": {"spec": {"containers": [container]}},
            **spec,
        },
        "status": yaml.load(status, yaml.BaseLoader) | yaml.safe_load(status),
    }


def record(found: State = State.running, **fields: Any) -> RunRecord:
    source = Provenance(
        "alice", "0123456789abcdef", dirty=True, ci="https://ci.test/7", file="a/j.yaml"
    )
    known = {"uid": "trainers", "started": HOUR_AGO, **fields}
    return RunRecord(3, found, source)._replace(**known)


def look(*workloads: dict[str, Any], history: tuple[RunRecord, ...] = (), **more: Any) -> JobState:
    return state(gathered(("ads", "fit"), list(workloads), History(history), **more))


def held(condition: str, reason: str = "") -> str:
    return f'conditions: [{{type: {condition}, status: "True", reason: "{reason}"}}]'


STAGES: dict[str, tuple[str, Stage, str | None]] = {
    "fresh": ("{}", Stage.pending, None),
    "running": ("{active: 2, ready: 1}", Stage.running, None),
    "half-done": ("{active: 1, ready: 0, succeeded: 1}", Stage.running, None),
    "complete": (held("Complete"), Stage.succeeded, None),
    "failed": (held("Failed", "BackoffLimitExceeded"), Stage.failed, "a replica failed"),
    "failing": (held("FailureTarget", "DeadlineExceeded"), Stage.failing, "exceeded its timeout"),
}


@pytest.mark.parametrize(
    ("end", "counts"),
    [(State.succeeded, ["0/4", "0/1", "4", "0"]), (State.failed, ["0/4", "0/1", "-", "-"])],
)
def test_counts_of_a_run_whose_objects_are_gone(end: State, counts: list[str]) -> None:
    spec = "spec: {mode: ps, trainers: {replicas: 4}, pservers: {replicas: 1}}"
    job = look(history=(record(end, spec=spec, finished=HOUR_AGO),))
    assert job.stage.value == end.value
    assert jobs([job], NOW).splitlines()[1].split()[3:7] == counts
    reason = job_data(job)["roles"]["trainers"]["reason"]
    assert (reason is None) is (end is State.succeeded)


@pytest.mark.parametrize("case", STAGES)
def test_a_job_by_the_status_of_its_trainers(case: str) -> None:
    status, stage, why = STAGES[case]
    found = look(live(status=status))
    assert (found.stage, found.why) == (stage, why)


def test_a_job_that_is_held_back() -> None:
    assert look(live(suspend=True)).stage is Stage.suspended
    queued = live(suspend=True)
    queued["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "ads"
    found = look(queued)
    assert (found.stage, found.queue) == (Stage.queued, "ads")


def test_a_job_that_is_being_deleted_is_stopping() -> None:
    going = live(status="{active: 2, ready: 2}")
    going["metadata"]["deletionTimestamp"] = HOUR_AGO
    assert look(going).stage is Stage.stopping
    assert look(live(), history=(record(State.killed),)).stage is Stage.stopping
    assert look(live("pservers"), history=(record(State.killed),)).stage is Stage.stopping


def test_a_lost_pserver_fails_the_job() -> None:
    trainers = live(status="{active: 2, ready: 2}", env="PADDLE_PSERVERS_IP_PORT_LIST")
    found = look(trainers)
    assert (found.mode, found.stage) == ("ps", Stage.failing)
    failed = live("pservers", held("Failed", "BackoffLimitExceeded"))
    assert look(trainers, failed).why == "pservers: a replica failed"
    assert look(trainers, live("pservers")).stage is Stage.running


def test_the_replicas_are_counted() -> None:
    counted = live(status="{active: 1, ready: 1, succeeded: 1, failed: 3}")
    stateful = {**live("pservers", "{readyReplicas: 1}", replicas=4), "kind": "StatefulSet"}
    stateful["apiVersion"] = "apps/v1"
    assert look(counted, stateful).roles == (
        RoleState("trainers", 2, ready=1, succeeded=1, failed=3),
        RoleState("pservers", 4, ready=1),
    )


SPEC = """\
metadata: {name: fit, labels: {team: ads}}
spec:
  mode: ps
  scheduling: {queue: night}
  trainers: {replicas: 4}
  pservers: {replicas: 2}
"""


@pytest.mark.parametrize("end", [each for each in State if each is not State.intended])
def test_what_is_gone_is_known_by_its_record(end: State) -> None:
    found = look(history=(record(end, spec=SPEC, finished=HOUR_AGO),))
    assert found.stage.value == ("lost" if end is State.running else end.value)
    assert (found.mode, found.queue, found.run, found.user) == ("ps", "night", 3, "alice")
    assert [(each.name, each.desired) for each in found.roles] == [("trainers", 4), ("pservers", 2)]
    assert found.labels["team"] == "ads"


def test_what_was_agreed_to_and_never_came() -> None:
    assert look(history=(record(State.intended, uid=None),)).stage is Stage.intended


def test_a_spec_that_is_not_kept_hides_nothing_else() -> None:
    for text in (None, "{", "- a", "[" * 200_000, ""):
        assert look(history=(record(State.failed, spec=text),)).stage is Stage.failed


@pytest.mark.parametrize(
    "text",
    [
        "spec: [1]",
        "spec: {mode: [1]}",
        "spec: {scheduling: night}",
        "spec: {scheduling: {queue: [1]}}",
        "spec: {trainers: 1}",
        "spec: {trainers: {replicas: many}}",
        "metadata: fit",
        "metadata: {labels: [a]}",
        "metadata: {labels: {a: 1}}",
    ],
)
def test_a_recorded_spec_of_wrong_types_is_ignored(text: str) -> None:
    found = look(history=(record(State.failed, spec=text),))
    assert (found.stage, found.mode, found.queue, found.roles) == (Stage.failed, None, None, ())
    assert found.labels == {"paddlespec.io/job": "fit"}


# Events.


def event(message: str, reason: str = "FailedCreate", **fields: Any) -> ObjectEvent:
    involved = {"kind": "Job", "name": "fit-trainer"}
    return object_event(
        {"involvedObject": involved, "reason": reason, "message": message, **fields}
    )


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            'pods "x" is forbidden: exceeded quota: small, requested: canary=1',
            "exceeds quota small",
        ),
        ("no PriorityClass with name high was found", "priority class high does not exist"),
        ("Successfully assigned ads/fit-trainer-0-abc to node-3", "to node node-3"),
        ("Created pod: fit-trainer-0-abc", "pod fit-trainer-0-abc"),
        ("0/4 nodes are available: canary", "0/4 nodes are available"),
        ("Created pod: canary, or so", None),
        ("canary", None),
    ],
)
def test_an_event_is_told_in_our_own_words(message: str, text: str | None) -> None:
    found = event(message)
    assert found.text == text
    assert "canary" not in repr(found)


def test_an_event_has_a_time_and_a_number() -> None:
    found = event("", lastTimestamp=HOUR_AGO, count=4, type="Warning")
    assert (found.at, found.times, found.warning) == (HOUR_AGO, 4, True)
    recent = event("", eventTime="2026-01-31T11:00:00.123456Z", lastTimestamp=None)
    assert (recent.at, recent.times, recent.warning) == (HOUR_AGO, 1, False)
    assert event("", reason="canary sings").reason == "Unknown"


# What people see.

JOB = JobState(
    "word2vec",
    "ads",
    "kubernetes",
    Stage.running,
    "collective",
    (RoleState("trainers", 64, 63, failed=1, why="fits on no node"), RoleState("pservers", 2, 2)),
    started=HOUR_AGO,
    run=3,
    user="alice",
)


def test_a_job_is_a_line_of_80_columns() -> None:
    assert jobs([JOB], NOW).splitlines() == [
        "NAME      MODE        STATE    TRAINERS  PSERVERS  DONE  FAIL  AGE",
        "word2vec  collective  running     63/64       2/2     0     1   1h",
    ]
    longest = JOB._replace(name="n" * 63, stage=Stage.succeeded)
    assert all(cells(line) <= 80 for line in jobs([longest], NOW, width=80).splitlines())
    assert "n" * 63 in jobs([longest], NOW)
    assert "alice" in jobs([JOB], NOW, wide=True)


def test_a_replica_is_a_line_of_80_columns() -> None:
    name = "word2vec-of-the-ads-team-trainer-12-abcde"
    found = Worker(
        name,
        "trainers",
        12,
        WorkerState.pending,
        reason="ImagePullBackOff",
        node="node-of-a-long-name",
    )
    shown = workers_table([found], NOW, width=80).splitlines()
    assert all(cells(line) <= 80 for line in shown)
    assert "…" in shown[1]
    assert name in workers_table([found], NOW)


def test_every_key_is_always_there() -> None:
    bare = JobState("a", "b", "local", Stage.lost)
    assert job_data(bare).keys() == job_data(JOB).keys()


def test_one_screen() -> None:
    found = Status(
        JOB,
        record(),
        events=(ObjectEvent(HOUR_AGO, "Job/x", "FailedCreate", "exceeds the quota q", 4, True),),
        evidence=("n1: 1 of 8 cpu free, 1 short", "n2: is cordoned"),
    )
    assert screen(found, NOW, ["paddlespec logs word2vec -f"]).splitlines() == [
        "job:        word2vec in namespace ads (target kubernetes)",
        "mode:       collective",
        "run:        3",
        "state:      running",
        "evidence:   n1: 1 of 8 cpu free, 1 short",
        "evidence:   n2: is cordoned",
        "time:       started 2026-01-31T11:00:00Z, running for 1h",
        "spec:       a/j.yaml",
        "commit:     0123456789ab, with uncommitted changes",
        "applied by: alice",
        "CI:         https://ci.test/7",
        "trainers:   63/64 ready, 1 failed (fits on no node)",
        "pservers:   2/2 ready",
        "",
        "event:      1h ago warning Job/x FailedCreate (x4): exceeds the quota q",
        "",
        "next:       paddlespec logs word2vec -f",
    ]
    assert brief(found).startswith("running, trainers 63/64 ready")


def test_nothing_on_the_screen_can_do_anything_to_a_terminal() -> None:
    found = Status(JOB._replace(why="\x1b[31mred"), failure="a\x1b]0;title\x07b")
    assert "\x1b" not in screen(found, NOW, [])


@pytest.mark.parametrize("stage", Stage)
def test_there_is_always_something_to_do_next(stage: Stage) -> None:
    found = next_commands(Status(JOB._replace(stage=stage), record()))
    assert found
    assert all(each.startswith("paddlespec ") for each in found)
    again = any("apply a/j.yaml" in each for each in found)
    assert again == ((stage.is_over and stage is not Stage.succeeded) or stage is Stage.intended)


@pytest.mark.parametrize("stage", [Stage.failed, Stage.succeeded])
def test_logs_are_proposed_only_while_there_are_any(stage: Stage) -> None:
    job = JOB._replace(stage=stage, roles=())
    left = Status(job, record(), (Worker("word2vec-trainer-0", "trainers", 0, WorkerState.failed),))
    assert next_commands(left)[0] == "paddlespec logs word2vec"
    assert next_commands(left._replace(workers=()))[0] == "paddlespec get history word2vec"


def test_pservers_that_outlive_their_trainers_cost_something() -> None:
    found = Status(JOB._replace(stage=Stage.succeeded), record())
    assert next_commands(found) == ["paddlespec kill word2vec"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59.9, "59s"), (61, "1m1s"), (3600, "1h"), (90_000, "1d1h")]
)
def test_how_long(seconds: float, text: str) -> None:
    assert duration(seconds) == text
    assert duration(-seconds) == "0s"


def test_what_is_no_time_is_no_time_ago() -> None:
    assert ago(HOUR_AGO, NOW) == "1h"
    assert ago(None, NOW) == ago("soon", NOW) == ""


# Selectors.

LABELS = {"team": "ads", "example.org/tier": "test", "empty": ""}


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("team=ads", True),
        ("team==ads", True),
        ("team=maps", False),
        ("team!=maps", True),
        ("absent!=x", True),
        ("team", True),
        ("absent", False),
        ("!absent", True),
        ("! team", False),
        ("team in (maps, ads)", True),
        ("team notin (maps,ads)", False),
        ("absent notin (x)", True),
        ("example.org/tier=test,team=ads", True),
        ("example.org/tier=test , team=maps", False),
        ("empty=", True),
    ],
)
def test_a_selector_selects_as_kubectl_does(text: str, selected: bool) -> None:
    assert parse(text).matches(LABELS) is selected


@pytest.mark.parametrize(
    "text", ["", "=x", "a=b,", "a=b;c", "a in b", "a in (b", "a in (b;c)", "a=b c"]
)
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse(text)
