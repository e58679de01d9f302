"""`logs` on a real control plane: every line of every pod once, whatever happens on the way."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from follower import PARALLEL, PODS, WROTE, Follower, Log, kill, logging, once, rows, running
from interceptor import Fate, Seen, intercepted
from user import User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from control_plane import ControlPlane


@pytest.fixture(autouse=True)
def _alone(one_at_a_time: Callable[[str], AbstractContextManager[object]]) -> Iterator[None]:
    """The log of every container in the cluster is the same."""
    with one_at_a_time("logs"):
        yield


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.fixture
def log(control_plane: ControlPlane) -> Iterator[Log]:
    with logging(control_plane) as log:
        yield log


def test_every_replica_is_shown_by_time(user: User) -> None:
    running(user)
    lines = rows(user.run("logs", "fit").stdout)
    assert Counter(map(tuple, lines)) == once(WROTE)
    assert [text for _, text in lines] == [line for line in WROTE for _ in PODS]


def test_replicas_and_lines_are_chosen(user: User, log: Log) -> None:
    running(user)
    one = ("--role", "trainers", "--index", "1")
    assert user.run("logs", "fit", *one).stdout.splitlines() == list(WROTE)
    assert user.run("logs", "fit", *one, "-n", "2").stdout.splitlines() == list(WROTE[-2:])
    assert user.run("logs", "fit", *one, "-n", "0").stdout == ""
    last = user.run("logs", "fit", *one, "-n", "2", "--grep", "a.*(g|t)")
    assert last.stdout.splitlines() == [WROTE[0], WROTE[2]]
    log.write("just now")
    assert user.run("logs", "fit", *one, "--since", "1h").stdout == "just now\n"
    since = ("--since", "2026-01-01T00:00:02.000000000Z", "--timestamps", "-n", "3")
    timed = user.run("logs", "fit", *one, *since).stdout.splitlines()
    assert timed[0] == f"2026-01-01T00:00:02.000000000Z {WROTE[2]}"
    assert len(timed) == 3
    data = [json.loads(line) for line in user.run("logs", "fit", "-o", "json").stdout.splitlines()]
    assert {(line["role"], line["index"]) for line in data} == {
        *(("trainers", 0), ("trainers", 1), ("pservers", 0), ("pservers", 1))
    }
    assert all(line["name"].startswith("fit-") and line["time"] for line in data)
    refused = user.run("logs", "fit", "--index", "7", code=3)
    assert "fit has no replica 7" in refused.stderr
    assert "it has 2 trainers, 2 pservers" in refused.stderr


@pytest.mark.parametrize("options", [(), ("-n", "2"), ("-n", "2", "--grep", "")])
def test_following_sees_what_comes_and_ends_with_the_run(
    user: User, log: Log, options: tuple[str, ...]
) -> None:
    running(user)
    follower = Follower(user, *options)
    first = WROTE[-2:] if options else WROTE
    follower.until(lambda lines: len(lines) >= len(PODS) * len(first))
    log.write("more")
    follower.until(lambda lines: len(lines) >= len(PODS) * (len(first) + 1))
    log.write("and more", "at the end")
    kill(user)
    assert follower.end() == ""
    assert follower.texts() == once([*first, "more", "and more", "at the end"])


def test_following_begins_before_the_replicas(user: User) -> None:
    user.run("apply", user.ps(run_for="3s"), "-u", "trainers.nodeSelector.disk=fast")
    follower = Follower(user)
    follower.until(lambda lines: len(lines) >= 2 * len(WROTE))
    for number in range(3):
        user.plane.kubectl("label", "node", f"test-node-{number}", "disk=fast")
    try:
        follower.end()
    finally:
        for number in range(3):
            user.plane.kubectl("label", "node", f"test-node-{number}", "disk-")
    assert follower.texts() == once(WROTE)


def test_nothing_to_read_yet_is_said(user: User) -> None:
    user.run("apply", user.ps(), *PARALLEL, "-u", "trainers.resources.cpu=4000")
    result = user.run("logs", "fit")
    assert result.stdout == ""
    assert "no logs yet: fit is pending" in result.stderr


def test_dropped_streams_lose_and_double_nothing(user: User, log: Log) -> None:
    running(user)
    dropped = Counter[str]()

    def decide(seen: Seen) -> Fate:
        pod = re.search(r"pods/([^/]+)/log", seen.path)
        if pod is None:
            return Fate()
        dropped[pod[1]] += 1
        count = dropped[pod[1]]
        if count == 3:
            return Fate(forward=False, answer=False)
        return Fate(bytes=60 * count) if count < 6 else Fate()

    with intercepted(user.plane, user.folder, user.namespace, decide) as kubeconfig:
        follower = Follower(user._replace(kubeconfig=kubeconfig))
        texts = [f"line {number}" for number in range(40)]
        for text in texts:
            log.write(text)
        follower.until(lambda lines: len(lines) >= len(PODS) * (len(WROTE) + len(texts)))
        log.write("the last one")
        follower.until(lambda lines: lines[-1].endswith("the last one\n"))
        kill(user)
        assert follower.end() == ""
    assert follower.texts() == once([*WROTE, *texts, "the last one"])
    assert len(dropped) == len(PODS)
    assert min(dropped.values()) >= 6


def test_whoever_failed_first_is_named_at_the_end(user: User) -> None:
    user.run("apply", user.ps(run_for="3s", fail="7", fail_index="1"))
    output = Follower(user).end()
    assert re.search(r"run 1 of fit failed; first failure: fit-trainer-1-\w+, exit code 7", output)
    again = user.run("logs", "fit", "--run", "1")
    assert Counter(map(tuple, rows(again.stdout))) >= once(WROTE, PODS[:2])
    assert "first failure: fit-trainer-1-" in again.stderr


def test_a_restarted_container_has_a_log_before(user: User) -> None:
    running(user, "-u", "pservers.workload=StatefulSet")
    refused = user.run("logs", "fit", "--previous", code=3)
    assert "no container of fit was restarted" in refused.stderr
    status = user.get("pods", "fit-pserver-1")["status"]["containerStatuses"]
    ended = {"exitCode": 1, "reason": "Error"}
    status[0].update(restartCount=1, lastState={"terminated": ended})
    patch = json.dumps({"status": {"containerStatuses": status}})
    user.plane.kubectl(
        *("-n", user.namespace, "patch", "pod", "fit-pserver-1", "--subresource=status"),
        *("--type=merge", "-p", patch),
    )
    assert user.run("logs", "fit", "--previous", "--prefix").stdout == (
        "pserver-1 | before the restart\n"
    )


def test_what_is_no_more_there_is_said(user: User) -> None:
    running(user)
    message = user.run("logs", "fit", "--run", "4", code=3).stderr
    assert "fit has no run 4" in message
    assert "use one of its runs: 1" in message
    kill(user)
    message = user.run("logs", "fit", code=3).stderr
    assert "fit is killed, and its logs were deleted with its pods" in message
    assert "paddlespec get history fit" in message
    assert "job fitt does not exist" in user.run("logs", "fitt", code=3).stderr


def test_whoever_may_not_read_logs_is_told_once(user: User) -> None:
    running(user)
    may = [
        {"apiGroups": ["", "batch", "apps"], "resources": [resource], "verbs": ["get", "list"]}
        for resource in ("pods", "jobs", "statefulsets", "configmaps")
    ]
    user.plane.allow("reader", user.namespace, may)
    reader = user._replace(kubeconfig=user.plane.kubeconfig_for("reader", user.namespace))
    text = "cannot read its log: you may not"
    assert reader.run("logs", "fit").stderr.count(text) == 1
    process = reader.start("logs", "fit", "-f")
    assert process.stderr is not None
    assert text in process.stderr.readline()
    kill(user)
    out, err = process.communicate(timeout=60)
    assert (out, text in err) == ("", False)


def test_many_replicas_cost_a_few_lists(user: User) -> None:
    running(user, *PARALLEL, "-u", "trainers.replicas=50")
    before = len(user.plane.audit(user="admin", namespace=user.namespace))
    lines = rows(user.run("logs", "fit").stdout)
    assert Counter(text for _, text in lines) == dict.fromkeys(WROTE, 50)

    def asked() -> list[str]:
        seen = user.plane.audit(user="admin", namespace=user.namespace)[before:]
        return [
            entry["objectRef"]["resource"]
            for entry in seen
            if entry.get("userAgent", "").startswith("paddlespec")
            and entry["objectRef"].get("subresource") != "log"
        ]

    assert len(asked()) <= 10
