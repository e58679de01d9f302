"""`shell` on a real control plane, whose fake kubelet runs commands beside itself."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from user import COMMAND, EXAMPLES, User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

PACKAGED = str(EXAMPLES / "fit-a-line-ps" / "paddlejob.yaml")
SHELL = "paddlespec.io/shell"


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def jobs(user: User) -> list[dict[str, Any]]:
    return [job for job in user.all("jobs") if SHELL in job["metadata"]["labels"]]


def nothing_is_left(user: User) -> bool:
    own = [
        item["metadata"]["labels"]
        for item in (*user.all("pods"), *user.all("configmaps"))
        if "labels" in item["metadata"]
    ]
    return not jobs(user) and not any(SHELL in labels for labels in own)


def gone(user: User) -> None:
    user.plane.eventually(lambda: nothing_is_left(user), within=30)


def test_a_command_in_a_scratch_container(user: User) -> None:
    done = user.run("shell", PACKAGED, "--", "sh", "-c", "echo out; echo err >&2; exit 7", code=7)
    assert done.stdout == "out\n"
    assert done.stderr.endswith("err\n")
    assert "fit-a-line-ps-shell-" in done.stderr
    gone(user)
    assert user.run("shell", "--image", "registry.test/a:1", "-q", "--command", "echo $0").stdout
    gone(user)


def test_a_reader_that_goes_leaves_no_container(user: User) -> None:
    # The fake kubelet does not end it with its reader: without a limit it would write for the rest
    # of the run, at the cost of half a processor.
    flood = ("timeout", "20", "yes")
    process = user.start("shell", "--image", "registry.test/a:1", "-q", "--", *flood)
    assert process.stdout.readline() == "y\n"
    process.stdout.close()
    assert process.wait(60) == 0
    process.stderr.close()
    gone(user)


def test_a_namespace_that_is_not_there_is_named(user: User) -> None:
    result = user.run("shell", "--image", "registry.test/a:1", "-n", "adz", "--", "true", code=3)
    assert "namespace adz does not exist" in result.stderr


def test_it_has_what_a_replica_has_and_is_none(user: User) -> None:
    path = user.ps(run_for="1h")
    user.run("apply", path, "--wait", "ready")
    before = user.settled()
    user.run("shell", "fit", "--role", "pservers", "--for", "2h", "--keep", "--", "true")
    (job,) = jobs(user)
    template = job["spec"]["template"]
    assert job["spec"]["activeDeadlineSeconds"] == 7200
    assert job["spec"]["ttlSecondsAfterFinished"] == 10
    (container,) = template["spec"]["containers"]
    names = {variable["name"]: variable.get("value") for variable in container["env"]}
    assert names["PASSWORD"] == "canary-hunter2"
    assert names["PADDLESPEC_ROLE"] == "pservers"
    assert not {"TRAINING_ROLE", "POD_IP", "PADDLE_PSERVERS_IP_PORT_LIST"} & names.keys()
    assert "paddlespec.io/job" not in template["metadata"]["labels"]
    assert "fit-shell" not in user.run("get", "jobs").stdout
    user.run("kill", "fit", "--yes")
    assert jobs(user), "its time is its own"
    assert {key for key in before if key not in user.settled()} >= {"jobs/fit-trainer"}


def test_a_kept_one_is_entered_again(user: User) -> None:
    message = user.run("shell", PACKAGED, "--keep", "--", "true").stderr
    (job,) = jobs(user)
    name = job["metadata"]["name"]
    assert f"paddlespec shell {name}" in message
    assert user.run("exec", name, "--", "echo", "again").stdout == "again\n"
    assert user.run("shell", name, "--", "echo", "last").stdout == "last\n"
    gone(user)


def test_the_code_comes_along_and_goes(user: User) -> None:
    user.run("shell", PACKAGED, "--keep", "--", "true")
    (job,) = jobs(user)
    spec = job["spec"]["template"]["spec"]
    assert [container["name"] for container in spec["initContainers"]] == ["unpack"]
    (code,) = [volume for volume in spec["volumes"] if "configMap" in volume]
    live = user.get("configmaps", code["configMap"]["name"])
    assert live["binaryData"]["code.tar"]
    assert live["metadata"]["ownerReferences"][0]["uid"] == job["metadata"]["uid"]
    user.run("shell", job["metadata"]["name"], "--", "true")
    gone(user)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)],
    ids=["ctrl-c", "sigterm", "closed"],
)
def test_while_it_waits_it_says_why_and_a_signal_removes_it(
    user: User, number: signal.Signals, code: int
) -> None:
    process = user.start("shell", "--image", "registry.test/does-not-exist:1")
    assert any("cannot pull image" in line for line in process.stderr)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == code
    gone(user)


def test_a_killed_command_leaves_what_ends_by_itself(user: User) -> None:
    process = user.start("shell", PACKAGED, "--for", "3s", "--", "sleep", "100")
    user.plane.eventually(lambda: any(jobs(user)), within=30)
    process.kill()
    process.communicate()
    user.plane.eventually(lambda: nothing_is_left(user), within=60)


def test_time_to_wait_and_time_to_live_run_out(user: User) -> None:
    message = user.run("shell", "--image", "does-not-exist:1", "--timeout", "3s", code=5).stderr
    assert "cannot pull image" in message
    gone(user)
    message = user.run("shell", "--image", "does-not-exist:1", "--for", "3s", code=3).stderr
    assert ": the container has finished: exceeded its timeout of 3s" in message
    gone(user)


def test_on_a_terminal_it_is_a_shell(user: User) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "shell", "--image", "registry.test/a:1", "-q"],
        env=user.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.write(ours, b"echo got-$((40 + 2)); exit 5\r")
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (5, b"")
    assert b"got-42" in os.read(ours, 100_000)
    os.close(ours)
    os.close(theirs)
    gone(user)


def test_a_quota_is_named(user: User) -> None:
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "0"}}}
    user.plane.request("POST", user.path("resourcequotas"), quota)
    user.plane.eventually(lambda: user.get("resourcequotas", "few").get("status", {}).get("used"))
    message = user.run("shell", "--image", "registry.test/a:1", "--timeout", "10s", code=5).stderr
    assert "pods cannot be created: " in message
    assert "few" in message
    gone(user)


def test_a_preview_asks_nobody(user: User) -> None:
    here = user._replace(kubeconfig=user.folder / "none")
    one = here.run("shell", PACKAGED, "--preview").stdout
    assert one == here.run("shell", PACKAGED, "-o", "yaml").stdout
    assert "activeDeadlineSeconds: 3600" in one
    assert "wait-for-pservers" not in one
    assert '"kind": "Job"' in here.run("shell", "--image", "a:1", "-o", "json").stdout


def test_what_cannot_be_opened_is_said(user: User) -> None:
    def message(*arguments: str, code: int) -> str:
        return user.run("shell", *arguments, code=code).stderr

    path = user.ps()
    assert "name a spec or a job, or give --image" in message(code=2)
    assert "paddlespec exec fit -- bash" in message(path, "--target", "local", code=2)
    assert "job nothing does not exist" in message("nothing", code=3)
    assert "give the path of its spec" in message("fit", "--preview", code=2)
    assert "expected a duration" in message(path, "--for", "long", code=2)
    assert "fit has no pservers" in message(
        path, "-u", "pservers-", "-u", "mode=parallel", "--role", "pservers", code=2
    )
    claim = "volumes=[{name: data, mountPath: /data, claim: {size: 1Gi}}]"
    assert "fit-data does not exist; it is created with the job" in message(
        path, "-u", claim, code=3
    )
    assert not jobs(user)
