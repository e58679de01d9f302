"""Many jobs with one command: in parallel, reported in order, independent of each other."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Any

import pytest
from user import PS, User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

JOBS = 12


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.fixture
def folder(user: User) -> str:
    """A folder of small jobs."""
    jobs = user.folder / "jobs"
    jobs.mkdir()
    text = PS.replace("replicas: 2", "replicas: 1")
    for number in range(JOBS):
        (jobs / f"{number:02}.yaml").write_text(text.replace("NAME", f"job-{number:02}"))
    return str(jobs)


def requests(user: User, since: int) -> list[dict[str, Any]]:
    """Return the requests of the tool in this namespace after the first *since*."""
    return user.plane.audit(user="admin", namespace=user.namespace)[since:]


def theirs(user: User) -> None:
    """A foreign Service with the name of one of job-05's."""
    body = {
        "metadata": {"name": "job-05-pserver"},
        "spec": {"clusterIP": "None", "selector": {"own": "pods"}},
    }
    user.plane.request("POST", user.path("services"), body)


def jobs_of(text: str) -> list[str]:
    return re.findall(r"job-\d\d", text)


def test_what_is_told_comes_in_the_order_of_the_specs(user: User, folder: str) -> None:
    done = user.run("apply", folder)
    assert done.stderr.splitlines()[-1] == f"{JOBS} jobs: {JOBS} applied"
    listed = jobs_of(done.stdout)
    assert listed == sorted(listed)
    assert set(listed) == {f"job-{number:02}" for number in range(JOBS)}
    again = user.run("apply", folder)
    assert again.stderr.splitlines()[-1] == f"{JOBS} jobs: {JOBS} unchanged"
    assert "No changes. 48 objects compared." in user.run("diff", folder).stdout


def test_a_job_that_fails_does_not_stop_the_others(user: User, folder: str) -> None:
    theirs(user)
    done = user.run("apply", folder, code=3)
    last = done.stderr.splitlines()[-1]
    assert last == f"{JOBS} jobs: {JOBS - 1} applied, 1 failed (job-05)"
    assert (
        "job-05: Service/job-05-pserver already exists and was not created by paddlespec"
        in done.stderr
    )
    assert len([job for job in user.all("jobs") if not job["spec"].get("suspend")]) == 2 * (
        JOBS - 1
    )


def test_a_comparison_of_many_asks_no_more_than_it_must(user: User, folder: str) -> None:
    theirs(user)
    before = len(requests(user, 0))
    done = user.run("diff", folder, code=3)
    assert "job-05" in done.stdout
    assert "Service/job-05-pserver already exists and was not created by paddlespec" in done.stdout

    def complete() -> list[dict[str, Any]]:
        sent = requests(user, before)
        return sent if sum(request["verb"] == "patch" for request in sent) >= 4 * JOBS - 1 else []

    sent = user.plane.eventually(complete)
    # Each object is dry-run, and the foreign one is read; the rest are lists.
    assert sum(request["verb"] == "get" for request in sent) <= 1
    assert sum(request["verb"] == "list" for request in sent) <= 12
    assert user.writes() == []


def test_waiting_for_many_asks_as_often_as_for_one(user: User, folder: str) -> None:
    done = user.run("apply", folder, "--wait", "ready", "--timeout", "100s")
    findings = (": warning: ", "  hint: ")
    lines = [line for line in done.stderr.splitlines() if not any(map(line.__contains__, findings))]
    assert set(jobs_of("\n".join(lines))) == {f"job-{number:02}" for number in range(JOBS)}
    assert len(lines) == len(set(lines))
    sent = [
        request
        for request in requests(user, 0)
        if request["verb"] == "list"
        and request["objectRef"]["resource"] == "pods"
        and request.get("userAgent", "").startswith("paddlespec")
    ]
    of_many = [request for request in sent if "%2C" in request["requestURI"]]
    of_one = [request for request in sent if request not in of_many]
    # One list before each start, and one for the last job to end.
    assert of_many
    assert len(of_one) < 2 * JOBS


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "sigterm"]
)
def test_a_signal_ends_all_of_them_and_leaves_no_lock(
    user: User, folder: str, number: int, code: int
) -> None:
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{user.namespace}/leases"

    def held() -> list[Any]:
        items: list[Any] = user.plane.request("GET", leases)["items"]
        return items

    # Pods of an earlier run; the lock is held until they end.
    for index in range(8):
        labels = {"paddlespec.io/job": f"job-{index:02}", "paddlespec.io/role": "trainers"}
        body = {
            "metadata": {"name": f"old-{index}", "labels": labels},
            "spec": {
                "nodeName": "",
                "containers": [{"name": "paddle", "image": "registry.test/a"}],
            },
        }
        user.plane.request("POST", user.path("pods"), body)
    process = user.start("apply", folder)
    user.plane.eventually(lambda: len(held()) == 8, within=60, what="eight locks")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert held() == []
    assert out == ""
    assert user.all("jobs") == []
    for index in range(8):
        user.plane.request("DELETE", f"{user.path('pods')}/old-{index}?gracePeriodSeconds=0")
    done = user.run("apply", folder)
    assert done.stderr.splitlines()[-1] == f"{JOBS} jobs: {JOBS} applied"
    assert all(len(user.history(f"job-{number:02}")) == 1 for number in range(JOBS))


@pytest.mark.parametrize("mode", ["Immediate", "WaitForFirstConsumer"])
def test_a_claim_that_gets_no_volume_is_told_unless_it_waits_for_its_pod(
    user: User, mode: str
) -> None:
    name = f"nobody-{user.namespace}-{mode.lower()}"
    body = {
        "metadata": {"name": name},
        "provisioner": "paddlespec.io/nobody",
        "volumeBindingMode": mode,
    }
    user.plane.request("POST", "/apis/storage.k8s.io/v1/storageclasses", body)
    claim = (
        f"volumes: [{{name: data, mountPath: /data, claim: {{size: 1Gi, storageClass: {name}}}}}]"
    )
    spec = user.write(f"{PS.replace('NAME', 'fit')}  {claim}\n")
    done = user.run("apply", spec, "--wait", "ready", "--timeout", "6s", code=5)
    text = "PersistentVolumeClaim/fit-data waits for a volume"
    assert (text in done.stderr) is (mode == "Immediate")
