"""The lock on a job: who waits, who is named, and what happens when the holder dies."""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from interceptor import Fate, Seen, proxied
from user import User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from control_plane import ControlPlane
    from forked import Process

LOCK = "fit.paddlespec"
OTHER = ("-u", "image=registry.test/paddle:2")


@pytest.fixture
def user(
    control_plane: ControlPlane, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> User:
    monkeypatch.setenv("PADDLESPEC_LOCK_SECONDS", "1")
    return User.admin(control_plane, namespace, tmp_path)


class Slow:
    """A user whose apply pauses while holding the lock, until it may continue."""

    def __init__(self, user: User, route: Callable[..., Any]) -> None:
        self.holds, self.may_go_on = threading.Event(), threading.Event()

        def decide(seen: Seen) -> Fate:
            if seen.method == "PATCH":
                self.holds.set()
                self.may_go_on.wait(60)
            return Fate()

        self.user = user._replace(kubeconfig=route(user.folder, user.namespace, decide)[1])

    def start(self, *arguments: str) -> Process:
        process = self.user.start(*arguments)
        assert self.holds.wait(60)
        return process

    def end(self, process: Process, code: int = 0) -> tuple[str, str]:
        self.may_go_on.set()
        out, err = process.communicate(timeout=60)
        assert process.returncode == code, err
        return out, err


@pytest.fixture
def slow(user: User) -> Iterator[Slow]:
    with proxied(user.plane) as proxy:
        slow = Slow(user, proxy.route)
        yield slow
        slow.may_go_on.set()


def lease(user: User, renewed: str = "2020-01-01T00:00:00.000000Z", seconds: int = 1) -> None:
    """A lock whose holder no longer exists."""
    spec = {
        "holderIdentity": "elsewhere/77/abc",
        "leaseDurationSeconds": seconds,
        "acquireTime": renewed,
        "renewTime": renewed,
    }
    user.plane.request("POST", user.path("leases"), {"metadata": {"name": LOCK}, "spec": spec})


def holder(user: User) -> str | None:
    lease = user.get_or_none("leases", LOCK)
    return lease["spec"]["holderIdentity"] if lease else None


def waits(user: User) -> bool:
    """Report whether someone has requested the lock in vain."""
    refused = [
        entry
        for entry in user.plane.audit(user="admin", namespace=user.namespace)
        if entry["verb"] == "create"
        and entry["objectRef"]["resource"] == "leases"
        and entry["responseStatus"]["code"] == 409
    ]
    return len(refused) > 1


@pytest.mark.parametrize(("change", "code"), [((), 0), (OTHER, 3)], ids=["same", "different"])
def test_two_applies_at_once_make_one_run(
    user: User, slow: Slow, change: tuple[str, ...], code: int
) -> None:
    spec = user.ps(run_for="1h")
    first = slow.start("apply", spec, "--wait", "ready")
    second = user.start("apply", spec, *change)
    user.plane.eventually(lambda: waits(user))
    slow.end(first)
    out, err = second.communicate(timeout=60)
    assert second.returncode == code, err
    assert f"fit is being written by process {first.pid} on " in out + err
    if change:
        assert "its spec has changed" in err
    [run] = user.history()
    assert run["uid"] == user.get("jobs", "fit-trainer")["metadata"]["uid"]
    assert holder(user) is None
    user.plane.eventually(lambda: user.running("trainers") == 2)


def test_a_holder_that_lives_is_not_overtaken(user: User, slow: Slow) -> None:
    spec = user.ps(run_for="1h")
    first = slow.start("apply", spec)
    held = holder(user)
    # Three times the duration of the lock without a renewal.
    result = user.run("apply", spec, "--timeout", "3s", code=5)
    assert f"fit is being written by process {first.pid} on " in result.stdout + result.stderr
    assert holder(user) == held
    assert not user.names("jobs")
    slow.end(first)
    assert holder(user) is None


def test_a_renewal_whose_answer_is_lost_loses_no_lock(user: User) -> None:
    holds, may_go_on = threading.Event(), threading.Event()
    lost: list[int] = []

    def decide(seen: Seen) -> Fate:
        if seen.method == "PATCH":
            holds.set()
            may_go_on.wait(60)
        if seen.method == "PUT" and "/leases/" in seen.path and not lost:
            lost.append(seen.number)
            return Fate(answer=False)
        return Fate()

    spec = user.ps(run_for="1h")
    with proxied(user.plane) as proxy:
        _, kubeconfig = proxy.route(user.folder, user.namespace, decide)
        first = user._replace(kubeconfig=kubeconfig).start("apply", spec)
        assert holds.wait(60)
        user.plane.eventually(lambda: lost)
        user.run("apply", spec, "--timeout", "4s", code=5)
        may_go_on.set()
        first.communicate(timeout=60)
    assert first.returncode == 0
    assert holder(user) is None


@pytest.mark.parametrize("renewed", ["2020-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z"])
def test_clocks_of_others_play_no_part(user: User, renewed: str) -> None:
    lease(user, renewed)
    result = user.run("apply", user.ps(run_for="1h"), "--timeout", "60s")
    assert "fit is being written by process 77 on elsewhere" in result.stdout + result.stderr
    assert holder(user) is None


def test_the_lock_of_a_killed_client_expires(user: User, slow: Slow) -> None:
    spec = user.ps(run_for="1h")
    process = slow.start("apply", spec)
    process.kill()
    process.communicate()
    assert holder(user) is not None
    user.run("apply", spec, "--timeout", "60s")
    assert holder(user) is None


@pytest.mark.parametrize("verb", ["apply", "kill", "delete"])
def test_a_person_may_take_a_lock(user: User, verb: str) -> None:
    spec = user.ps(run_for="1h")
    if verb != "apply":
        user.run("apply", spec)
    lease(user, seconds=3600)
    what = spec if verb == "apply" else "fit"
    result = user.run(verb, what, "--timeout", "2s", code=5)
    assert "fit is being written by process 77 on elsewhere" in result.stdout + result.stderr
    assert bool(user.names("jobs")) is (verb != "apply")
    user.run(verb, what, "--force-unlock")
    assert bool(user.names("jobs")) is (verb == "apply")
    assert holder(user) is None


def test_a_lock_that_is_left_of_a_job_is_deleted_with_it(user: User) -> None:
    lease(user)
    user.run("delete", "other", code=3)
    user.run("delete", "fit")
    assert holder(user) is None
    user.run("delete", "fit", code=3)


def test_a_failure_gives_the_lock_back(user: User) -> None:
    service = {"metadata": {"name": "fit-pserver"}, "spec": {"ports": [{"port": 80}]}}
    user.plane.request("POST", user.path("services"), service)
    user.run("apply", user.ps(), code=3)
    assert "create leases/fit.paddlespec" in user.writes()
    assert holder(user) is None


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_a_signal_gives_the_lock_back(
    user: User, slow: Slow, number: signal.Signals, code: int
) -> None:
    process = slow.start("apply", user.ps(run_for="1h"))
    assert holder(user) is not None
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert holder(user) is None


def test_the_lock_lasts_as_long_as_the_wait_for_old_pods(user: User) -> None:
    spec = user.ps(run_for="1h", terminate_after="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    user.run("kill", "fit", "--no-wait")
    first = user.start("apply", spec, "--rerun")
    user.plane.eventually(lambda: holder(user))
    held = holder(user)
    result = user.run("apply", spec, "--rerun", "--timeout", "2s", code=5)
    assert f"process {first.pid} on " in result.stdout + result.stderr
    assert holder(user) == held
    for name in user.names("pods"):
        user.plane.request("DELETE", f"{user.path('pods')}/{name}?gracePeriodSeconds=0")
    out, err = first.communicate(timeout=60)
    assert first.returncode == 0, err
    assert "waiting for an earlier run to end" in out + err
    assert [run["run"] for run in user.history()] == [1, 2]


PLUGIN = """\
import json, sys, datetime
soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
status = {"token": open(sys.argv[1]).read(), "expirationTimestamp": soon.strftime("%Y-%m-%dT%H:%M:%SZ")}
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}))
"""


@pytest.mark.parametrize("source", ["plugin", "file"])
def test_a_token_may_expire_while_we_wait(user: User, source: str) -> None:
    """The kubeconfig says where tokens come from, and the next one is fetched there."""
    valid = ["first"]

    def decide(seen: Seen) -> Fate:
        if seen.token == valid[0]:
            return Fate()
        return Fate(forward=False, status=401)

    token = user.folder / "token"
    token.write_text("first")
    script = user.folder / "plugin.py"
    script.write_text(PLUGIN)
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(script), str(token)],
        "interactiveMode": "Never",
    }
    credentials = {"exec": plugin} if source == "plugin" else {"tokenFile": str(token)}
    with proxied(user.plane) as proxy:
        _, kubeconfig = proxy.route(user.folder, user.namespace, decide, credentials)
        waiting = user._replace(kubeconfig=kubeconfig).start(
            "apply", user.ps(run_for="15s"), "--wait", "complete", "--timeout", "60s"
        )
        user.plane.eventually(lambda: user.running("trainers") == 2)
        token.write_text("second")
        valid[0] = "second"
        _, err = waiting.communicate(timeout=90)
    assert waiting.returncode == 0, err
