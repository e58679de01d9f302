"""`diff --out` and `apply --plan`: exactly what was shown is applied, or nothing."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import outputs
import pytest
from user import User, conditions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from control_plane import ControlPlane

OTHER = ("-u", "image=registry.test/paddle:2")


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def planned(user: User, *arguments: str, code: int = 1) -> str:
    result = user.run("diff", *arguments, "--out", "plan.json", code=code)
    assert "paddlespec apply --plan plan.json" in result.stderr
    outputs.conforms("output/plan", json.loads((user.folder / "plan.json").read_text()))
    return "plan.json"


def test_a_plan_is_carried_out(user: User) -> None:
    spec = user.ps(run_for="1h")
    result = user.run("apply", "--plan", planned(user, spec), "--wait", "ready", "--timeout", "60s")
    assert "Job/fit-trainer created" in result.stdout
    before = user.settled()
    user.run("apply", "--plan", planned(user, spec, code=0))
    assert user.everything() == before


def test_a_plan_is_carried_out_from_another_folder(user: User) -> None:
    user.ps(run_for="1h")
    planned(user, "fit.yaml")
    elsewhere = user.folder / "elsewhere"
    elsewhere.mkdir()
    there = user._replace(folder=elsewhere)
    shutil.copytree(user.templates, elsewhere / "templates")
    assert "fit-trainer created" in there.run("apply", "--plan", "../plan.json").stdout


def test_a_plan_holds_the_flags_that_it_was_made_with(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    result = user.run("diff", spec, *OTHER, "--out", "plan.json", code=3)
    assert "no plan written: fit: Job/fit-trainer is running" in result.stderr
    assert not (user.folder / "plan.json").exists()
    user.run("apply", "--plan", planned(user, spec, *OTHER, "--replace"))
    template = user.get("jobs", "fit-trainer")["spec"]["template"]["spec"]
    assert template["containers"][0]["image"] == "registry.test/paddle:2"
    assert [run["run"] for run in user.history()] == [1, 2]


def patched(user: User) -> None:
    user.plane.kubectl("label", "service", "fit-trainer", "-n", user.namespace, "edited=yes")


def suspended(user: User) -> None:
    patch = '{"spec": {"suspend": true}}'
    user.plane.kubectl("patch", "job", "fit-trainer", "-n", user.namespace, "-p", patch)


def run_again(user: User) -> None:
    user.run("kill", "fit")
    user.run("apply", str(user.folder / "fit.yaml"), "--rerun", "--wait", "ready")


def edited(user: User) -> None:
    path = user.folder / "fit.yaml"
    path.write_text(path.read_text().replace("mode: ps", "mode: ps\n  policy: {timeout: 5h}"))


MOVES: dict[str, tuple[Callable[[User], None], str]] = {
    "label": (patched, "Service/fit-trainer was changed after the plan was made"),
    "suspend": (suspended, "Job/fit-trainer was changed after the plan was made"),
    "run": (run_again, "run 2 ("),
    "spec": (edited, "Job/fit-trainer would not become what the plan shows"),
}


@pytest.mark.parametrize("move", MOVES)
def test_a_stale_plan_is_refused(user: User, move: str) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    plan = planned(user, spec, "-u", "policy.keepFinished=3h")
    change, expected = MOVES[move]
    change(user)
    before = user.settled()
    result = user.run("apply", "--plan", plan, code=3)
    assert "the plan is stale" in result.stderr
    assert expected in result.stderr
    assert user.everything() == before


def test_what_appears_in_between_makes_a_plan_stale(user: User) -> None:
    spec = user.ps(run_for="1h")
    plan = planned(user, spec)
    user.run("apply", spec)
    result = user.run("apply", "--plan", plan, code=3)
    assert "the plan is stale" in result.stderr


def test_a_status_makes_no_plan_stale(user: User) -> None:
    spec = user.ps(run_for="8s")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    plan = planned(user, spec, code=0)
    user.plane.eventually(lambda: "Complete" in conditions(user.get("jobs", "fit-trainer")))
    user.run("apply", "--plan", plan)


def test_a_plan_is_for_its_place(user: User) -> None:
    spec = user.ps(run_for="1h")
    plan = planned(user, spec)
    result = user.run("apply", "--plan", plan, "-n", "default", code=3)
    assert f"it was made for namespace {user.namespace}" in result.stderr
    user.ps("word2vec")
    result = user.run("apply", str(user.folder), "--plan", plan, code=3)
    assert "word2vec is not in the plan" in result.stderr


def test_a_plan_keeps_no_secrets(user: User) -> None:
    spec = user.ps(run_for="1h")
    secret = ("-u", "env.TOKEN=canary-token", "-u", "policy.timeout=2h")
    plan = planned(user, spec, *secret)
    text = (user.folder / plan).read_text()
    assert "canary" not in text
    assert json.loads(text)["invocation"]["update"] == ["policy.timeout=2h"]
    result = user.run("apply", "--plan", plan, code=2)
    assert "-u env.TOKEN=..." in result.stderr
    user.run("apply", "--plan", plan, *secret)
    assert user.get("jobs", "fit-trainer")["spec"]["activeDeadlineSeconds"] == 2 * 3600


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"apiVersion": "v1", "kind": "Plan"}', "\xff"])
def test_what_is_no_plan(user: User, text: str) -> None:
    (user.folder / "plan.json").write_text(text, encoding="latin-1")
    assert "plan.json is not a plan" in user.run("apply", "--plan", "plan.json", code=2).stderr


def test_usage(user: User) -> None:
    assert "cannot read plan" in user.run("apply", "--plan", "nowhere.json", code=2).stderr
    against = ("--against", str(user.folder), "--out", "plan.json")
    assert (
        "--out writes a plan for a cluster" in user.run("diff", user.ps(), *against, code=2).stderr
    )
    result = user.run("diff", user.ps(), "--out", "no/such/folder.json", code=3)
    assert "cannot write plan" in result.stderr
