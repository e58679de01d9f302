"""The inventory of a job: its members, the record of its runs, and who may write it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from user import User, documents

from paddlespec.runs.history import LARGEST

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

SET = "applyset.kubernetes.io"
MANY = ("jobs", "statefulsets", "services", "configmaps", "persistentvolumeclaims")


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def inventory(user: User, name: str = "fit") -> dict[str, Any]:
    configmap: dict[str, Any] = user.get("configmaps", f"{name}.paddlespec")
    return configmap


def rewrite(user: User, data: dict[str, str], name: str = "fit") -> None:
    """Replace the data of an inventory."""
    stored = {**inventory(user, name), "data": data}
    user.plane.request("PUT", f"{user.path('configmaps')}/{name}.paddlespec", stored)


def as_json(user: User, *arguments: str) -> Any:
    return json.loads(user.run("get", *arguments, "-o", "json").stdout)


# Members


def test_the_label_of_the_set_finds_the_members_and_nothing_else(user: User) -> None:
    user.run("apply", user.ps("fit", run_for="1h"), "--wait", "ready")
    user.run("apply", user.ps("other", run_for="1h"))
    own = inventory(user)["metadata"]["labels"][f"{SET}/id"]
    members = user.plane.get(",".join(MANY), "-n", user.namespace, "-l", f"{SET}/part-of={own}")[
        "items"
    ]
    rendered = documents(
        user.run("apply", str(user.folder / "fit.yaml"), "--dry-run", "client").stdout
    )
    assert {(live["kind"], live["metadata"]["name"]) for live in members} == {
        (manifest["kind"], manifest["metadata"]["name"]) for manifest in rendered
    }
    assert not user.plane.get("pods", "-n", user.namespace, "-l", f"{SET}/part-of={own}")["items"]


def test_the_inventory_lists_the_kinds_of_the_members(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"))
    annotations = inventory(user)["metadata"]["annotations"]
    assert annotations[f"{SET}/contains-group-kinds"] == "Job.batch,Service"
    assert annotations[f"{SET}/tooling"].startswith("paddlespec/v")


def test_kubectl_does_not_take_the_set_over(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"))
    before = user.settled()
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}}
    done = subprocess.run(
        [
            *(user.plane.kubectl_binary, "apply", "--server-side", "--prune"),
            *("--applyset=configmap/fit.paddlespec", "-n", user.namespace, "-f", "-"),
        ],
        input=json.dumps(one),
        env={**user.environment, "KUBECTL_APPLYSET": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert 'managed by tooling "paddlespec" instead of "kubectl"' in done.stderr
    assert user.everything() == before


# History


def test_every_run_is_recorded(user: User) -> None:
    spec = user.ps()
    user.run("apply", spec, "--wait", "complete")
    user.run("apply", spec, "-u", "image=registry.test/paddle:2", "--wait", "complete")
    shown = user.run("get", "history", "fit").stdout.splitlines()
    assert shown[0].split() == ["NAME", "RUN", "STATE", "STARTED", "TIME", "WHO", "COMMIT"]
    assert [line.split()[1:3] for line in shown[1:]] == [["1", "succeeded"], ["2", "succeeded"]]
    first, second = as_json(user, "history", "fit")["jobs"][0]["runs"]
    assert first["specHash"] != second["specHash"]
    assert first["started"] <= first["finished"] <= second["started"]
    assert user.run("get", "history", spec).stdout.splitlines() == shown


def test_the_history_of_all_jobs_is_their_latest_runs(user: User) -> None:
    result = user.run("get", "history")
    assert (result.stdout, result.stderr) == ("", "no recorded runs\n")
    user.run("apply", user.ps("b"), "--wait", "complete")
    user.run("apply", str(user.folder / "b.yaml"), "--rerun")
    user.run("apply", user.ps("a", run_for="1h"))
    jobs = as_json(user, "history")["jobs"]
    assert [(job["name"], job["runs"][0]["run"]) for job in jobs] == [("a", 1), ("b", 2)]
    assert user.run("get", "history", "-o", "name").stdout == "a\nb\n"


def test_a_run_whose_end_nobody_saw_is_shown_as_it_ended(user: User) -> None:
    user.run("apply", user.ps())
    user.plane.eventually(lambda: user.get("jobs", "fit-trainer")["status"].get("completionTime"))
    written = user.writes()
    (run,) = as_json(user, "history", "fit")["jobs"][0]["runs"]
    assert run["state"] == "succeeded"
    assert run["finished"] == user.get("jobs", "fit-trainer")["status"]["completionTime"]
    assert as_json(user, "history")["jobs"][0]["runs"] == [run]
    # Reading writes nothing.
    assert user.history()[0]["state"] == "running"
    assert user.writes() == written


def test_a_run_whose_job_was_removed_is_lost_and_has_no_end(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"))
    path = f"{user.path('jobs')}/fit-trainer?propagationPolicy=Background"
    user.plane.request("DELETE", path)
    user.plane.eventually(lambda: not user.names("jobs"))
    (run,) = as_json(user, "history", "fit")["jobs"][0]["runs"]
    assert run["state"] == "lost"
    assert run["finished"] is None


def test_what_was_killed_is_shown_until_it_is_deleted(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"))
    user.run("kill", "fit", "--yes")
    assert as_json(user, "history", "fit")["jobs"][0]["runs"][0]["state"] == "killed"
    user.run("delete", "fit", "--yes")
    result = user.run("get", "history", "fit", code=3)
    assert f"job fit does not exist in namespace {user.namespace}" in result.stderr


def test_a_name_that_was_meant(user: User) -> None:
    user.run("apply", user.ps())
    assert 'did you mean "fit"' in user.run("get", "history", "fti", code=3).stderr
    assert "fit has no run 7" in user.run("get", "history", "fit", "--run", "7", code=3).stderr
    assert "--run needs the name" in user.run("get", "history", "--run", "1", code=2).stderr
    assert "expected one of" in user.run("get", "history", "-o", "xml", code=2).stderr


@pytest.mark.parametrize(
    ("verb", "today"), [("jobs", "get jobs"), ("list", "get jobs"), ("history", "get history")]
)
def test_older_verbs_name_todays(user: User, verb: str, today: str) -> None:
    assert f"paddlespec {today}" in user.run(verb, code=2).stderr


SECRETS = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: collective
  image: registry.test/paddle:1
  command: python -m paddle.distributed.launch train.py --salt ${{ parameters.salt }}
  parameters: {salt: canary-salt, passes: 3}
  env:
    SALT: {value: "${{ parameters.salt }}", sensitive: true}
    DB_PASSWORD: canary-hunter2
    LEVEL: info
  trainers: {replicas: 2}
"""


def test_the_effective_spec_is_kept_without_secrets(user: User) -> None:
    path = user.write(SECRETS)
    user.run("apply", path, "-u", "parameters.passes=7")
    shown = user.run("get", "spec", "fit").stdout
    stored = inventory(user)["data"]["spec-1.yaml"]
    assert shown == stored
    assert "canary" not in stored
    recorded = yaml.safe_load(shown)["spec"]
    assert recorded["parameters"] == {"salt": "***", "passes": 7}
    assert recorded["command"].endswith("--salt ***")
    assert recorded["env"]["DB_PASSWORD"] == "***"
    assert recorded["env"]["LEVEL"] == "info"
    assert as_json(user, "spec", "fit")["spec"] == recorded
    whole = yaml.safe_load(user.run("get", "history", "fit", "--run", "1", "-o", "yaml").stdout)
    assert whole["spec"]["spec"] == recorded
    assert whole["run"] == 1


def test_the_spec_of_an_earlier_run(user: User) -> None:
    spec = user.ps()
    user.run("apply", spec, "--wait", "complete")
    user.run("apply", spec, "-u", "image=registry.test/paddle:2")
    assert "paddle:1" in user.run("get", "spec", "fit", "--run", "1").stdout
    assert "paddle:2" in user.run("get", "spec", "fit").stdout


# Where a run comes from

CI = {
    "github": (
        {
            "GITHUB_ACTOR": "alice",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "ads/ranking",
            "GITHUB_RUN_ID": "42",
        },
        ("alice", "https://github.com/ads/ranking/actions/runs/42"),
    ),
    "gitlab": (
        {"GITLAB_USER_LOGIN": "bob", "CI_JOB_URL": "https://gitlab.test/ads/-/jobs/7"},
        ("bob", "https://gitlab.test/ads/-/jobs/7"),
    ),
    "jenkins": (
        {"BUILD_USER_ID": "carol", "BUILD_URL": "https://jenkins.test/job/ads/9/"},
        ("carol", "https://jenkins.test/job/ads/9/"),
    ),
}


def git(folder: Path, *arguments: str) -> str:
    me = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    done = subprocess.run(
        ["git", *me, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("system", CI)
def test_who_and_where_are_recorded(
    user: User, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in [
        variable for variable in os.environ if re.match(r"(CI|GITHUB|GITLAB|BUILD)_", variable)
    ]:
        monkeypatch.delenv(variable)
    variables, expected = CI[system]
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    user.run("apply", user.ps())
    (run,) = user.history()
    assert (run["who"], run["ci"]) == expected
    wide = user.run("get", "history", "fit", "-o", "wide").stdout
    assert expected[1] in wide
    assert expected[0] in wide


def test_the_commit_is_recorded_and_whether_files_differ_from_it(user: User) -> None:
    jobs = user.folder / "jobs"
    jobs.mkdir()
    git(jobs, "init", "--quiet")
    spec = user.write(SECRETS, "jobs/paddlejob.yaml")
    git(jobs, "add", ".")
    git(jobs, "commit", "--quiet", "-m", "all")
    commit = git(jobs, "rev-parse", "HEAD")
    user.run("apply", spec)
    assert (user.history()[0]["commit"], user.history()[0]["dirty"]) == (commit, False)
    user.write(SECRETS.replace("info", "debug"), "jobs/paddlejob.yaml")
    user.run("apply", spec, "--replace")
    assert (user.history()[1]["commit"], user.history()[1]["dirty"]) == (commit, True)
    shown = user.run("get", "history", "fit").stdout.splitlines()
    assert shown[1].split()[-1] == commit[:7]
    assert shown[2].split()[-1] == f"{commit[:7]}+dirty"


# Size limits, and damaged data


def test_the_history_is_capped_by_bytes_and_keeps_what_is_newest(user: User) -> None:
    user.run("apply", user.ps(), "--wait", "complete")
    (run,) = user.history()
    runs = [{**run, "run": number, "uid": f"uid-{number}"} for number in range(1, 40)]
    runs.append({**run, "run": 40})
    big = "kind: PaddleJob\nmetadata:\n  name: " + "x" * 13_000 + "\n"
    specs = {f"spec-{number}.yaml": big for number in range(1, 41)}
    rewrite(user, {"runs.json": json.dumps(runs), **specs})
    user.run("apply", str(user.folder / "fit.yaml"), "--rerun")
    data = inventory(user)["data"]
    size = sum(len(key) + len(value.encode()) for key, value in data.items())
    assert LARGEST * 0.9 < size <= LARGEST
    # Old specs are dropped first; all runs are still recorded.
    assert [run["run"] for run in user.history()] == list(range(1, 42))
    kept = sorted(int(re.sub(r"\D", "", key)) for key in data if key.startswith("spec-"))
    assert kept == list(range(kept[0], 42))
    assert kept[0] > 1
    result = user.run("get", "spec", "fit", "--run", "1", code=3)
    assert "the spec of run 1 of fit is no longer kept" in result.stderr
    assert user.run("get", "spec", "fit", "--run", "40").stdout == big


@pytest.mark.parametrize("text", ["{", '[{"run": 1, "state": "resting", "who": "me"}]'])
def test_a_damaged_inventory_is_told_and_nothing_is_lost(user: User, text: str) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec)
    user.run("apply", user.ps("well", run_for="1h"))
    rewrite(user, {"runs.json": text, "spec-1.yaml": "kept: true\n"})
    before = user.settled()
    for arguments in (
        *(("get", "history", "fit"), ("get", "spec", "fit"), ("apply", spec)),
        *(("apply", spec, "--rerun"), ("kill", "fit", "--yes")),
    ):
        result = user.run(*arguments, code=3)
        assert "the inventory fit.paddlespec is damaged" in result.stderr
    # A damaged inventory does not hide others.
    result = user.run("get", "history", "-o", "name", code=3)
    assert result.stdout == "well\n"
    assert "fit: the inventory fit.paddlespec is damaged" in result.stderr
    assert user.everything() == before


def test_a_foreign_object_in_the_place_of_the_inventory_is_refused(user: User) -> None:
    theirs = {"metadata": {"name": "fit.paddlespec"}, "data": {"mine": "1"}}
    user.plane.request("POST", user.path("configmaps"), theirs)
    before = user.settled()
    spec = user.ps(run_for="1h")
    for arguments in (("apply", spec), ("get", "history", "fit"), ("kill", "fit", "--yes")):
        result = user.run(*arguments, code=3)
        assert "ConfigMap fit.paddlespec" in result.stderr
        assert "was not created by paddlespec" in result.stderr
    assert user.everything() == before
