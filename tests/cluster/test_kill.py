"""`kill` and `delete` on a real control plane: what is deleted, what is kept, and for how long."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from interceptor import Fate, Seen, intercepted
from user import COMMAND, User

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

CLAIM = '[{"name": "out", "mountPath": "/out", "claim": {"size": "1Gi"}}]'


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def test_kill_keeps_claims_and_delete_does_not(user: User) -> None:
    spec = user.ps(run_for="1h")
    volumes = ("-u", f"volumes={CLAIM}")
    user.run("apply", spec, *volumes, "--wait", "ready", "--timeout", "60s")
    assert "ownerReferences" not in user.get("persistentvolumeclaims", "fit-out")["metadata"]
    result = user.run("kill", "fit")
    assert "Job/fit-trainer deleted" in result.stdout
    assert list(user.objects()) == ["persistentvolumeclaims/fit-out"]
    assert [run["state"] for run in user.history()] == ["killed"]
    result = user.run("kill", "fit", code=3)
    assert "fit has no objects: run 1 of fit was killed" in result.stderr
    user.run("delete", "fit")
    assert not user.everything()


def test_a_killed_job_runs_again_with_its_claims(user: User) -> None:
    spec = user.ps(run_for="1h")
    volumes = ("-u", f"volumes={CLAIM}")
    user.run("apply", spec, *volumes, "--wait", "ready")
    claim = user.get("persistentvolumeclaims", "fit-out")["metadata"]["uid"]
    user.run("kill", spec)
    result = user.run("apply", spec, *volumes)
    assert "nothing to do: run 1 of fit was killed" in result.stderr
    assert not user.names("jobs")
    user.run("apply", spec, *volumes, "--rerun", "--wait", "ready")
    assert [run["run"] for run in user.history()] == [1, 2]
    assert user.get("persistentvolumeclaims", "fit-out")["metadata"]["uid"] == claim


@pytest.mark.parametrize("verb", ["kill", "delete"])
def test_the_end_waits_for_the_pods_of_every_role(user: User, verb: str) -> None:
    user.run("apply", user.ps(run_for="1h", terminate_after="3s"), "--wait", "ready")
    result = user.run(verb, "fit", "--timeout", "60s")
    assert "fit: waiting for" in result.stderr
    assert not user.objects()
    assert bool(user.everything()) == (verb == "kill")


def test_the_wait_is_not_for_ever(user: User) -> None:
    user.run("apply", user.ps(run_for="1h", terminate_after="1h"), "--wait", "ready")
    result = user.run("kill", "fit", "--timeout", "2s", code=5)
    assert re.search("timed out: waiting for [24] pods to end", result.stderr)
    # A second one continues to wait: only the pods are left.
    user.run("kill", "fit", "--timeout", "2s", code=5)


def test_without_waiting_the_pods_go_later(user: User) -> None:
    user.run("apply", user.ps(run_for="1h", terminate_after="5s"), "--wait", "ready")
    result = user.run("kill", "fit", "--no-wait")
    assert "waiting" not in result.stderr
    pods = user.all("pods")
    assert pods
    user.plane.eventually(lambda: not user.all("pods"))


def test_several_jobs_go_together_and_one_that_is_not_there_stops_no_other(user: User) -> None:
    for name in ("one", "two", "three"):
        user.run("apply", user.ps(name, run_for="1h"))
    result = user.run("kill", "one", "nobody", "two", code=3)
    assert "job nobody does not exist" in result.stderr
    assert user.names("jobs") == ["three-pserver", "three-trainer"]


def test_pservers_of_a_stateful_set_go_too(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "-u", "pservers.workload=StatefulSet", "--wait", "ready")
    user.run("kill", "fit")
    assert not user.objects()


def test_objects_without_an_owner_go_too(user: User) -> None:
    """Rendered manifests that another tool applied have no owner references."""
    rendered = user.run("render", user.ps(run_for="1h"), "-u", "env.PASSWORD=shown").stdout
    user.plane.kubectl("apply", "-n", user.namespace, "-f", "-", input=rendered)
    user.run("delete", "fit")
    assert not user.everything()


def test_what_is_not_the_jobs_stays(user: User) -> None:
    service = {"metadata": {"name": "other"}, "spec": {"ports": [{"port": 80}]}}
    user.plane.request("POST", user.path("services"), service)
    user.run("apply", user.ps("fit", run_for="1h"))
    user.run("apply", user.ps("fit-2", run_for="1h"))
    user.run("delete", "fit")
    assert sorted(user.names("services")) == ["fit-2-pserver", "fit-2-trainer", "other"]
    user.plane.eventually(lambda: user.running("trainers") == 2)


def test_a_job_that_is_not_there(user: User) -> None:
    user.run("apply", user.ps("word2vec"))
    result = user.run("kill", "wordvec", code=3)
    assert f"job wordvec does not exist in namespace {user.namespace}" in result.stderr
    assert 'did you mean "word2vec"?' in result.stderr
    user.run("delete", "wordvec", code=3)
    user.run("delete", "wordvec", "--ignore-not-found")
    user.run("delete", "wordvec", "word2vec", code=3)
    assert not user.everything()


def test_a_path_names_its_job_and_namespace(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "-u", f"metadata.namespace={user.namespace}")
    elsewhere = user._replace(kubeconfig=user.plane.kubeconfig_for("admin", "default"))
    elsewhere.run("delete", "-f", spec, code=3)
    elsewhere.run("delete", "-f", spec, "-u", f"metadata.namespace={user.namespace}")
    assert not user.everything()


def test_an_invalid_spec_still_names_its_job(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec)
    user.run("kill", spec, "-u", "trainers.replicas=0")
    assert not user.objects()


def test_rm_is_delete(user: User) -> None:
    user.run("apply", user.ps(), "-u", f"volumes={CLAIM}")
    user.run("kill", "fit", "--rm")
    assert not user.everything()


def test_a_finished_job_is_not_killed_in_the_record(user: User) -> None:
    user.run("apply", user.ps(run_for="1s"), "--wait", "complete", "--timeout", "60s")
    user.run("kill", "fit")
    assert [run["state"] for run in user.history()] == ["succeeded"]


def test_usage(user: User) -> None:
    assert "no job given" in user.run("kill", code=2).stderr
    assert "expected a duration" in user.run("kill", "fit", "--timeout", "soon", code=2).stderr


@pytest.mark.parametrize(("answer", "gone"), [("n", False), ("", False), ("y", True)])
def test_a_person_is_asked(user: User, answer: str, gone: bool) -> None:
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready", "--timeout", "60s")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "kill", "fit"],
        env=user.environment,
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
    )
    os.close(theirs)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(ours, 1024)
    assert b"kill job fit (2 pservers, 2 trainers running for " in shown
    os.write(ours, f"{answer}\n".encode())
    process.communicate(timeout=60)
    os.close(ours)
    assert bool(user.objects()) is not gone
    assert (process.returncode == 0) is gone


def test_every_request_may_fail_once(user: User) -> None:
    def decide(seen: Seen) -> Fate:
        return Fate(answer=False) if seen.number % 2 else Fate()

    user.run("apply", user.ps(run_for="1h"), "--wait", "ready")
    with intercepted(user.plane, user.folder, user.namespace, decide) as kubeconfig:
        user._replace(kubeconfig=kubeconfig).run("delete", "fit")
    assert not user.everything()
