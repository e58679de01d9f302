"""Objects the spec no longer renders: what an apply deletes, and what it keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from user import User

from paddlespec.backends.cluster.api.connection import resolve
from paddlespec.backends.cluster.change.applyset import GROUP_KINDS, MEMBER_LABEL, set_id
from paddlespec.backends.cluster.change.prune import Left, running
from paddlespec.backends.cluster.engine import Engine
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.values import Consent, Mode, Work

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

COLLECTIVE = (
    *("-u", "mode=collective", "-u", "pservers-"),
    *("-u", "command=python -m paddle.distributed.launch train.py"),
)
ROLES = ("trainer", "pserver")
CLAIM = '[{"name": "out", "mountPath": "/out", "claim": {"size": "1Gi"}}]'


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def plant(
    user: User, name: str, manager: str = "paddlespec", job: str = "fit", **more: Any
) -> dict[str, Any]:
    """Apply an object with the labels of a job's own as *manager*; by default a ConfigMap."""
    labels = {
        "paddlespec.io/job": job,
        MEMBER_LABEL: set_id(user.namespace, job),
        **more.pop("labels", {}),
    }
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels},
        **more,
    }
    user.plane.kubectl(
        *("apply", "--server-side", f"--field-manager={manager}", "-n", user.namespace, "-f", "-"),
        input=json.dumps(manifest),
    )
    return manifest


def deletions(user: User, *arguments: str) -> set[str]:
    """Return what a diff shows as deleted."""
    process = user.start("diff", *arguments, "-o", "json")
    out, err = process.communicate(timeout=120)
    assert process.returncode in (0, 1, 3), err
    return {
        f"{entry['kind']}/{entry['name']}"
        for job in json.loads(out)["jobs"]
        for entry in job["objects"]
        if entry["operation"] == "delete"
    }


def deleted(out: str) -> set[str]:
    """Return what an apply reports as deleted."""
    return {line.split()[0] for line in out.splitlines() if line.split()[1:] == ["deleted"]}


def ended(user: User) -> str:
    """A spec whose job has completed."""
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "--wait", "complete", "--timeout", "60s")
    return spec


def test_another_mode_leaves_nothing_of_the_old_one(user: User) -> None:
    spec = ended(user)
    assert sorted(user.names("services")) == ["fit-pserver", "fit-trainer"]
    shown = deletions(user, spec, *COLLECTIVE)
    assert shown == {"Job/fit-pserver", "Service/fit-pserver"}
    result = user.run("apply", spec, *COLLECTIVE)
    assert deleted(result.stdout) == {*shown, "Job/fit-trainer"}
    user.plane.eventually(lambda: user.names("services") == ["fit-trainer"])
    assert user.names("jobs") == ["fit-trainer"]
    assert not deletions(user, spec, *COLLECTIVE)
    again = user.run("apply", spec, *COLLECTIVE)
    assert {line.split()[1] for line in again.stdout.splitlines()} == {"unchanged"}


def test_a_run_is_not_ended_for_what_it_renders_no_more(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    before = user.settled()
    result = user.run("apply", spec, *COLLECTIVE, code=3)
    assert "--replace" in result.stderr
    after = user.everything()
    # The lock may still exist.
    assert {name: after[name]["metadata"]["uid"] for name in after if "jobs/" in name} == {
        name: before[name]["metadata"]["uid"] for name in before if "jobs/" in name
    }
    assert sorted(user.names("services")) == ["fit-pserver", "fit-trainer"]
    user.run("apply", spec, *COLLECTIVE, "--replace", "--wait", "ready", "--timeout", "60s")
    user.plane.eventually(lambda: user.names("services") == ["fit-trainer"])


def test_a_workload_that_runs_goes_only_with_consent(user: User) -> None:
    """A template of the team's own may have rendered it; its pods are a run's all the same."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    pod = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
    metadata = {
        "labels": {"paddlespec.io/job": "fit", "paddlespec.io/role": "helpers"},
        "annotations": {"paddlespec.io/test-run-for": "1h"},
    }
    template = {"metadata": metadata, "spec": pod}
    plant(user, "fit-helper", apiVersion="batch/v1", kind="Job", spec={"template": template})
    assert deletions(user, spec) == {"Job/fit-helper"}
    result = user.run("apply", spec, code=3)
    assert "Job/fit-helper is running and is no longer rendered" in result.stderr
    assert "--no-prune" in result.stderr
    user.run("apply", spec, "--no-prune")
    user.run("diff", spec, "--no-prune")
    assert "fit-helper" in user.names("jobs")
    result = user.run("apply", spec, "--replace")
    assert deleted(result.stdout) == {"Job/fit-helper"}
    user.plane.eventually(lambda: "fit-helper" not in user.names("jobs"))
    assert user.running("trainers") == 2


def test_a_plain_apply_deletes_what_a_diff_shows(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    before = user.settled()
    plant(user, "fit-code-0")
    plant(user, "fit-old", apiVersion="v1", kind="Service", spec={"ports": [{"port": 1}]})
    shown = deletions(user, spec)
    assert shown == {"ConfigMap/fit-code-0", "Service/fit-old"}
    assert not deletions(user, spec, "--no-prune")
    user.run("apply", spec, "--no-prune")
    result = user.run("apply", spec, "--dry-run", "server")
    would = [line for line in result.stdout.splitlines() if "would be deleted" in line]
    assert {line.split()[0] for line in would} == shown
    assert {"fit-code-0"} < set(user.names("configmaps"))
    result = user.run("apply", spec)
    assert deleted(result.stdout) == shown
    assert user.everything() == before


def test_labels_alone_do_not_make_an_object_ours(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec)
    plant(user, "theirs", manager="kubectl")
    # A set member of another job; and the job's label on an object outside the set.
    plant(user, "others", job="other")
    plant(user, "stray", labels={MEMBER_LABEL: set_id(user.namespace, "other")})
    assert not deletions(user, spec)
    assert not deleted(user.run("apply", spec).stdout)
    assert {"theirs", "others", "stray"} < set(user.names("configmaps"))


def test_the_objects_of_another_job_stay(user: User) -> None:
    a, b = user.ps("a", run_for="1h"), user.ps("b", run_for="1h")
    user.run("apply", a, b)
    before = user.settled()
    user.run("apply", a)
    user.run("apply", a, "--prune")
    assert user.everything() == before


def test_old_code_goes_once_nothing_refers_to_it(user: User) -> None:
    (user.folder / "train.py").write_text("print(1)\n", encoding="utf-8")
    ended_spec = (user.ps(run_for="1s"), "-u", "package={path: ., exclude: ['*.yaml']}")
    user.run("apply", *ended_spec, "--wait", "complete", "--timeout", "60s")
    [old] = [name for name in user.names("configmaps") if name.startswith("fit-code-")]
    (user.folder / "train.py").write_text("print(2)\n", encoding="utf-8")
    user.run("apply", *ended_spec)
    user.plane.eventually(lambda: old not in user.names("configmaps"))
    assert [name for name in user.names("configmaps") if name.startswith("fit-code-")]


@pytest.mark.parametrize("through", ["volume", "projected", "envFrom", "env"])
def test_code_that_a_pod_refers_to_stays(user: User, through: str) -> None:
    """Even for foreign pods: a user's debugging pod has no labels of ours."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec)
    plant(user, "fit-code-0")
    container: dict[str, Any] = {"name": "c", "image": "i"}
    pod: dict[str, Any] = {"containers": [container]}
    if through == "volume":
        pod["volumes"] = [{"name": "v", "configMap": {"name": "fit-code-0"}}]
    elif through == "projected":
        sources = [{"configMap": {"name": "fit-code-0"}}]
        pod["volumes"] = [{"name": "v", "projected": {"sources": sources}}]
    elif through == "envFrom":
        container["envFrom"] = [{"configMapRef": {"name": "fit-code-0"}}]
    else:
        reference = {"configMapKeyRef": {"name": "fit-code-0", "key": "k"}}
        container["env"] = [{"name": "A", "valueFrom": reference}]
    user.plane.request("POST", user.path("pods"), {"metadata": {"name": "shell"}, "spec": pod})
    assert not deletions(user, spec)
    assert not deleted(user.run("apply", spec).stdout)
    assert "fit-code-0" in user.names("configmaps")
    user.plane.request("DELETE", f"{user.path('pods')}/shell?gracePeriodSeconds=0")
    user.plane.eventually(lambda: "shell" not in user.names("pods"))
    assert deletions(user, spec) == {"ConfigMap/fit-code-0"}
    assert deleted(user.run("apply", spec).stdout) == {"ConfigMap/fit-code-0"}


def test_claims_stay_and_it_is_said(user: User) -> None:
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "-u", f"volumes={CLAIM}", "--wait", "complete", "--timeout", "60s")
    result = user.run("apply", spec)
    assert "PersistentVolumeClaim/fit-out is no longer rendered but kept" in result.stderr
    assert user.names("persistentvolumeclaims") == ["fit-out"]


def test_the_kinds_are_those_of_the_inventory(user: User) -> None:
    """Also kinds that only a template of a team's own renders."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec)
    plant(user, "fit-role", apiVersion="rbac.authorization.k8s.io/v1", kind="Role")
    plant(user, "fit-secret", kind="Secret", stringData={"a": "canary-secret"})
    assert not deletions(user, spec)
    known = user.get("configmaps", "fit.paddlespec")["metadata"]["annotations"][GROUP_KINDS]
    listed = f"{known},Role.rbac.authorization.k8s.io,Secret,Gone.example.org"
    user.plane.kubectl(
        *("annotate", "configmap", "fit.paddlespec", "--overwrite", "-n", user.namespace),
        f"{GROUP_KINDS}={listed}",
    )
    assert deletions(user, spec) == {"Role/fit-role", "Secret/fit-secret"}
    assert deleted(user.run("apply", spec).stdout) == {"Role/fit-role", "Secret/fit-secret"}
    assert not deletions(user, spec)


def test_an_empty_set_deletes_nothing(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready", "--timeout", "60s")
    before = user.settled()
    engine = Engine(lambda: resolve(str(user.kubeconfig), None, None))
    work = Work("fit", [])
    with pytest.raises(OperationFailed, match="fit renders no objects"):
        engine.compare(work, Consent())
    with pytest.raises(OperationFailed, match="fit renders no objects"):
        engine.apply(work, Mode.none, lambda _: None, Consent(replace=True))
    engine.close()
    assert user.everything() == before


PROJECT = "apiVersion: paddlespec.io/v1\nkind: Project\nproject: ranking\n"


def project(user: User, run_for: str, *names: str) -> None:
    """A project with specs `FOLDER/JOB.yaml`."""
    user.write(PROJECT, ".paddlespec.yaml")
    user.ps("fit", run_for=run_for)
    text = (user.folder / "fit.yaml").read_text(encoding="utf-8")
    (user.folder / "fit.yaml").unlink()
    for path in names:
        folder, _, name = path.partition("/")
        (user.folder / folder).mkdir(exist_ok=True)
        user.write(text.replace("name: fit", f"name: {name}"), f"{path}.yaml")


def remaining(user: User) -> set[str]:
    """Return the jobs that have objects."""
    return {job["metadata"]["labels"]["paddlespec.io/job"] for job in user.all("jobs")}


def test_jobs_whose_specs_are_gone_go_when_asked(user: User) -> None:
    project(user, "1s", "a/kept", "a/old", "b/other")
    user.run("apply", "a", "b", "--wait", "complete", "--timeout", "60s")
    recorded = user.get("configmaps", "old.paddlespec")["metadata"]["annotations"]
    assert recorded["paddlespec.io/source"] == "a/old.yaml"
    for path in ("a/old", "b/other"):
        (user.folder / f"{path}.yaml").unlink()
    user.run("apply", "a")
    user.run("apply", "a/kept.yaml", "--prune")
    assert remaining(user) == {"kept", "old", "other"}
    shown = deletions(user, "a", "--prune")
    assert shown == {f"{kind}/old-{role}" for kind in ("Job", "Service") for role in ROLES}
    result = user.run("apply", "a", "--prune", "--dry-run", "server")
    assert "Job/old-trainer would be deleted" in result.stdout
    assert remaining(user) == {"kept", "old", "other"}
    result = user.run("apply", "a", "--prune")
    assert deleted(result.stdout) == shown
    assert (
        "old: its spec a/old.yaml no longer exists: 4 objects deleted; its history is kept"
        in result.stderr
    )
    # The other folder of the project was not passed.
    user.plane.eventually(lambda: remaining(user) == {"kept", "other"})
    assert [run["state"] for run in user.history("old")] == ["succeeded"]
    result = user.run("apply", "a", "--prune")
    assert "old" not in result.stdout + result.stderr
    user.run("diff", "a", "--prune")


def test_a_job_without_a_spec_that_runs_stays(user: User) -> None:
    project(user, "1h", "a/kept", "a/old")
    user.run("apply", "a", "--wait", "ready", "--timeout", "60s")
    (user.folder / "a/old.yaml").unlink()
    result = user.run("diff", "a", "--prune", code=3)
    assert (
        "its spec a/old.yaml no longer exists, but Job/old-trainer is running; it is kept"
        in result.stdout
    )
    result = user.run("apply", "a", "--prune", "--replace", code=3)
    assert (
        "its spec a/old.yaml no longer exists, but Job/old-trainer is running; it is kept"
        in result.stderr
    )
    assert "paddlespec kill old" in result.stderr
    assert remaining(user) == {"kept", "old"}
    # A spec that was moved within the project still exists.
    project(user, "1h", "b/old")
    result = user.run("apply", "a", "--prune")
    assert "old" not in result.stderr


def test_where_nothing_is_left_nothing_is_pruned(user: User) -> None:
    project(user, "1s", "a/old", "b/kept")
    user.run("apply", "a", "b", "--wait", "complete", "--timeout", "60s")
    (user.folder / "a/old.yaml").unlink()
    result = user.run("apply", "a", "--prune", code=2)
    assert "no spec in this folder" in result.stderr
    (user.folder / "a/old.yaml").write_text("apiVersion: paddlespec.io/v1\nkind: [", "utf-8")
    (user.folder / "a/new.yaml").write_text(
        (user.folder / "b/kept.yaml").read_text("utf-8").replace("name: kept", "name: new"), "utf-8"
    )
    result = user.run("apply", "a", "--prune", code=3)
    assert "a/old.yaml exists but is not a spec" in result.stderr
    assert remaining(user) == {"kept", "old", "new"}


def test_a_project_is_needed_to_know_deleted_specs(user: User) -> None:
    (user.folder / "a").mkdir()
    user.write((user.folder / user.ps()).read_text("utf-8"), "a/fit.yaml")
    result = user.run("apply", "a", "--prune", code=2)
    assert "belong to no project" in result.stderr
    assert not user.names("jobs")


def test_what_an_ended_run_leaves_for_a_moment_needs_no_consent(user: User) -> None:
    """As where an apply died after it had ended the earlier run."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "fit-trainer", "uid": "0" * 8}
    pod = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
    metadata = {
        "labels": {"paddlespec.io/job": "fit", "paddlespec.io/role": "helpers"},
        "annotations": {"paddlespec.io/test-run-for": "1h"},
    }
    template = {"metadata": metadata, "spec": pod}
    plant(user, "fit-helper", apiVersion="batch/v1", kind="Job", spec={"template": template})
    live = user.get("jobs", "fit-helper")
    own = {**live, "apiVersion": "batch/v1", "kind": "Job"}
    ended = {**own, "metadata": {**own["metadata"], "ownerReferences": [owner]}}
    trainers = user.get("jobs", "fit-trainer")
    assert running(Left([own]), trainers) == own
    assert running(Left([ended]), trainers) is None
    assert running(Left([ended]), None) is None
