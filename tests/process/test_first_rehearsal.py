"""The first rehearsals of a new user: what they say before they start, and after they ended."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from test_local_apply import User

from paddlespec.backends.local.observe.leavings import has_results

PADDLE_2 = "  image: paddlepaddle/paddle:2.6.2-gpu-cuda12.0\n"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path, "first")


def interpreter(folder: Path, version: str | None) -> str:
    """Write a Python that has that version of Paddle, or none."""
    packages = folder / "packages"
    packages.mkdir()
    (packages / "sitecustomize.py").write_text("" if version else HIDES_PADDLE, encoding="utf-8")
    if version:
        (packages / "paddle.py").touch()
        info = packages / f"paddlepaddle-{version}.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: paddlepaddle\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
    script = folder / "python"
    text = f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} "$@"\n'
    script.write_text(text, encoding="utf-8")
    script.chmod(0o755)
    return str(script)


HIDES_PADDLE = """\
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "paddle":
            raise ModuleNotFoundError("No module named 'paddle'", name="paddle")
sys.path = [path for path in sys.path if "site-packages" not in path]
"""


def job(user: User, command: str = "echo done", image: str = PADDLE_2, more: str = "") -> str:
    folder = user.folder / "job"
    folder.mkdir(exist_ok=True)
    head = "apiVersion: paddlespec.io/v1\nkind: PaddleJob\nmetadata: {name: fit}\nspec:\n"
    rest = (
        "  mode: parallel\n  package: {path: .}\n  trainers: {resources: {cpu: 1, memory: 1Gi}}\n"
    )
    spec = folder / "paddlejob.yaml"
    spec.write_text(f"{head}{image}{rest}  command: {command}\n{more}", encoding="utf-8")
    (folder / "train.py").touch()
    return str(spec)


# Paddle


def test_another_paddle_than_that_of_the_image_is_named_before_the_start(user: User) -> None:
    python = interpreter(user.folder, "3.3.1")
    result = user.apply(job(user), "--python", python)
    assert (
        "this rehearsal uses Paddle 3.3.1, and paddlepaddle/paddle:2.6.2-gpu-cuda12.0 has 2.6"
        in result.stderr
    )


@pytest.mark.parametrize(
    ("version", "image"),
    [
        ("2.6.9", PADDLE_2),
        ("3.3.1", "  image: team/ctr:2.6.2\n"),
        ("3.3.1", "  image: registry:5000/paddlepaddle/paddle\n"),
    ],
)
def test_nothing_is_said_of_the_same_paddle_or_of_unknown_images(
    user: User, version: str, image: str
) -> None:
    python = interpreter(user.folder, version)
    assert "Paddle" not in user.apply(job(user, image=image), "--python", python).stderr


def test_a_python_without_paddle_is_named_with_the_remedy(user: User) -> None:
    python = interpreter(user.folder, None)
    result = user.apply(job(user), "--python", python)
    assert f"{python} has no Paddle, and the image has 2.6: install it" in result.stderr
    assert "pip install 'paddlespec[paddle]'" in result.stderr


# A run that cannot be prepared


def test_a_job_whose_requirements_cannot_be_installed_leaves_no_trace(user: User) -> None:
    spec = job(user)
    requirements = Path(spec).parent / "requirements.txt"
    requirements.write_text("./nothing-1.0-py3-none-any.whl\n", encoding="utf-8")
    result = user.apply(spec, code=3)
    assert "cannot install the package's requirements" in result.stderr
    assert "fit" not in user.run("get", "jobs", "--all").stdout
    user.run("status", "fit", "--target", "local", code=3)
    # It is no trace of an earlier run either.
    requirements.unlink()
    user.apply(spec, "--wait", "complete")
    requirements.write_text("./nothing-1.0-py3-none-any.whl\n", encoding="utf-8")
    user.apply(spec, code=3)
    assert user.states() == ["succeeded"]


# What a run leaves behind

VOLUME = "  volumes: [{name: d, mountPath: /data, claim: c}]\n  output: /data/out\n"
WRITES = "sh -c 'mkdir -p output; printf 1234 > output/model; printf 12 > log; echo >> train.py'"


def test_files_that_a_pod_would_lose_are_counted(user: User) -> None:
    result = user.apply(job(user, f'"{WRITES}"'), "--wait", "complete")
    assert result.stderr.splitlines()[-1] == (
        "fit: 3 files (7 B) were written to /workspace, such as log; they are deleted with a pod: "
        "set `output` to a folder on a volume, and write results to $PADDLESPEC_OUTPUT"
    )


def test_a_failed_run_names_lost_files_too(user: User) -> None:
    result = user.apply(job(user, "\"sh -c 'echo 1 > a; exit 3'\""), "--wait", "complete", code=4)
    assert "fit: 1 file (2 B) was written to /workspace, such as a; it is" in result.stderr


def test_results_of_earlier_runs_are_no_results(tmp_path: Path) -> None:
    (tmp_path / ".paddlespec").mkdir()
    (tmp_path / ".paddlespec" / "run").touch()
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert not has_results(str(tmp_path), 0)
    made = tmp_path / "a" / "model"
    made.touch()
    assert has_results(str(tmp_path), made.stat().st_ctime - 1)
    assert not has_results(str(tmp_path), made.stat().st_ctime + 1)


def test_compiled_files_and_unchanged_code_are_no_loss(user: User) -> None:
    spec = job(user, '"mkdir -p __pycache__ e; touch x.pyc __pycache__/x; cat train.py"')
    assert "were written" not in user.apply(spec, "--wait", "complete").stderr


def test_results_are_claimed_only_if_the_run_wrote_some(user: User) -> None:
    data = user.folder / "data"
    data.mkdir()
    spec = job(user, "echo done", more=VOLUME)
    result = user.apply(spec, "--mount", f"/data={data}", "--wait", "complete")
    out = data / "out"
    assert result.stderr.splitlines()[-1] == (
        f"fit: nothing was written to its output, $PADDLESPEC_OUTPUT ({out} on this machine)"
    )
    spec = job(user, '"mkdir -p $PADDLESPEC_OUTPUT/a; touch $PADDLESPEC_OUTPUT/a/b"', more=VOLUME)
    result = user.apply(spec, "--mount", f"/data={data}", "--wait", "complete")
    assert result.stderr.splitlines()[-1] == f"fit: results are in {out}"


# Processes of a launcher

LAUNCHER = """\
import os, sys, time
folder = os.environ["PADDLE_LOG_DIR"]
for rank in range(3):
    with open(f"{folder}/workerlog.{rank}", "w") as file:
        file.writelines(f"rank {rank} row {row}\\n" for row in range(100))
"""


def test_the_log_of_every_rank_is_reachable(user: User) -> None:
    spec = Path(job(user, "python launcher.py", more="  env: {A: b}\n"))
    (spec.parent / "launcher.py").write_text(LAUNCHER, encoding="utf-8")
    text = spec.read_text(encoding="utf-8").replace("mode: parallel", "mode: collective")
    spec.write_text(text, encoding="utf-8")
    user.apply(str(spec), "--wait", "complete")
    asked = ["logs", "fit", "--target", "local", "--rank"]
    whole = "".join(f"rank 2 row {row}\n" for row in range(100))
    assert user.run(*asked, "2").stdout == whole
    assert user.run(*asked, "2", "-f").stdout == whole
    assert user.run(*asked, "1", "-n", "2").stdout == "rank 1 row 98\nrank 1 row 99\n"
    assert user.run(*asked, "1", "--grep", "row 7$").stdout == "rank 1 row 7\n"
    message = user.run(*asked, "3", code=3).stderr
    assert "has no log of rank 3" in message
    assert "use one of the ranks of the replica: 0, 1, 2" in message
    message = user.run(*asked, "1", "--since", "1h", code=2).stderr
    assert "--since cannot be combined with --rank" in message


def test_a_diff_shows_the_fields_of_one_process_and_no_internals(user: User) -> None:
    spec = job(user, more="  env: {A: '1'}\n")
    here = ("--target", "local", "-u", "trainers.replicas=3")
    first = user.run("diff", spec, *here, code=1).stdout
    assert "\n  + Process/fit-trainer-2: create\n\nPlan: 4 to create" in first
    user.run("apply", spec, *here, "--wait", "complete")
    changed = user.run("diff", spec, *here, "-u", "env.A=2", code=1).stdout
    assert changed[changed.index("  -/+ Rehearsal") :].splitlines() == [
        "  -/+ Rehearsal/fit: replace, with its run; its content is unchanged",
        "",
        "  -/+ Process/fit-trainer-0: replace, with its run",
        '      ~ spec.env[A].value: "1" -> "2"',
        "",
        "  -/+ Process/fit-trainer-1: replace, with its run",
        "",
        "  -/+ Process/fit-trainer-2: replace, with its run",
        "",
        "Plan: 0 to create, 0 to change, 4 to replace, 0 to delete",
    ]


def test_logs_on_a_volume_outlive_the_run_and_are_reachable(user: User) -> None:
    volumes = "  volumes: [{name: data, mountPath: /data, claim: c}]\n  logs: /data/logs\n"
    spec = Path(job(user, "python launcher.py", more=volumes))
    (spec.parent / "launcher.py").write_text(LAUNCHER, encoding="utf-8")
    text = spec.read_text(encoding="utf-8").replace("mode: parallel", "mode: collective")
    spec.write_text(text, encoding="utf-8")
    data = user.folder / "data"
    data.mkdir()
    user.apply(str(spec), "--mount", f"/data={data}", "--wait", "complete")
    kept = data / "logs" / "0" / "workerlog.2"
    assert kept.read_text(encoding="utf-8").startswith("rank 2 row 0\n")
    asked = ["logs", "fit", "--target", "local", "--rank"]
    assert user.run(*asked, "2", "-n", "1").stdout == "rank 2 row 99\n"
