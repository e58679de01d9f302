"""What shells offer after TAB: asked of the shells themselves, where they are installed."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

SPEC = "apiVersion: paddlespec.io/v1\nkind: PaddleJob\nspec: {roles: {tester: {}}}\nprofiles: {smoke: {}, night: {}}\n"
PATIENCE = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "paddlejob.yaml").write_text(SPEC)
    (tmp_path / "my jobs").mkdir()
    config = {"apiVersion": "v1", "kind": "Config", "contexts": [{"name": "dc7", "context": {}}]}
    (tmp_path / "kubeconfig").write_text(str(config))
    return tmp_path


def variables(folder: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = {"HOME": str(folder), "ZDOTDIR": str(folder), "KUBECONFIG": str(folder / "kubeconfig")}
    return {"PATH": path, "TERM": "dumb", "LANG": "C.UTF-8", **home}


def asked(folder: Path, *words: str) -> list[str]:
    """The answer that scripts of shells read."""
    done = subprocess.run(
        [sys.executable, "-m", "paddlespec", "__complete", "fish", *words],
        cwd=folder,
        env=variables(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ren", ["render"]),
        ("get j", ["jobs"]),
        ("help get quo", ["quota"]),
        ("init --mode p", ["parallel", "ps"]),
        ("apply --wait c", ["complete", "created"]),
        ("apply --target ", ["jobset", "kubernetes", "local"]),
        ("apply --target=l", ["--target=local"]),
        ("apply --dry-run s", ["server"]),
        ("apply . --profile ", ["night", "smoke"]),
        ("apply --profile n", ["night"]),
        ("apply --context ", ["dc7"]),
        ("apply --scale trainers=2,p", ["trainers=2,pservers=", ":nospace"]),
        ("render -u trainers.re", ["trainers.replicas=", "trainers.resources.", ":nospace"]),
        ("render -u mode=c", ["mode=collective"]),
        ("set paddlejob.yaml trainers.repl", ["trainers.replicas=", ":nospace"]),
        ("set padd", [":files"]),
        ("explain trainers.resources.m", ["trainers.resources.memory"]),
        ("logs x --role t", ["tester", "trainers"]),
        ("wait x --for de", ["deleted"]),
        ("validate -o s", ["sarif"]),
        ("validate -f ", [":files"]),
        ("render --out ", [":folders"]),
        ("render --prev", ["--preview"]),
        ("schema output/pl", ["output/plan"]),
        ("completion z", ["zsh"]),
        ("status ./p", [":files"]),
        ("nonsense x", []),
        ("apply --nonsense x --target lo", ["local"]),
    ],
)
def test_words_that_follow(folder: Path, line: str, expected: list[str]) -> None:
    assert asked(folder, *line.split(" ")) == expected


def test_names_of_jobs_on_this_machine(folder: Path) -> None:
    spec = folder / "paddlejob.yaml"
    made = subprocess.run(
        [
            sys.executable,
            "-m",
            "paddlespec",
            "init",
            "--force",
            "--name",
            "night-run",
            "--from-command",
            "--",
            "true",
        ],
        cwd=folder,
        env=variables(folder),
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    applied = subprocess.run(
        [
            sys.executable,
            "-m",
            "paddlespec",
            "apply",
            str(spec),
            "--target",
            "local",
            "--wait",
            "complete",
            "--quiet",
        ],
        cwd=folder,
        env=variables(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert applied.returncode == 0, applied.stderr
    assert "night-run" in asked(folder, "status", "")
    assert asked(folder, "get", "jobs", "ni") == ["night-run"]
    assert asked(folder, "kill", "--target", "local", "n") == ["night-run", ":files"]


def installed(shell: str) -> str:
    """The path of a shell; a test without one is skipped, and says so."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} IS NOT INSTALLED: its completion is not tested")
    return found


def typed(shell: list[str], folder: Path, setup: str, line: str, expected: str) -> str:
    """Type *line* and TAB into an interactive shell; return what it shows, up to *expected*."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(shell[0], shell, variables(folder))
    shown = b""
    try:
        os.write(terminal, f"{setup}; echo re''ady\n".encode())
        deadline, sent = time.monotonic() + PATIENCE, False
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 0.5)[0]:
                continue
            shown += os.read(terminal, 65536)
            if not sent and re.search(rb"\nready", shown):
                shown, sent = b"", True
                os.write(terminal, f"{line}\t".encode())
            elif sent and expected in shown.decode(errors="replace"):
                break
        return shown.decode(errors="replace")
    finally:
        os.kill(pid, 9)
        os.close(terminal)
        os.waitpid(pid, 0)


# What is typed, and how the line goes on after TAB.
LINES = [
    ("paddlespec rend", "render "),
    ("paddlespec apply --target lo", "local "),
    ("paddlespec apply --target=lo", "target=local "),
    ("paddlespec apply --context d", "dc7 "),
    ("paddlespec render -u trainers.repl", "trainers.replicas="),
    ("paddlespec render -u mode=col", "mode=collective "),
    ("paddlespec validate paddlej", "paddlejob.yaml "),
    ("paddlespec validate my", "my\\ jobs/"),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_bash(folder: Path, line: str, expected: str) -> None:
    shell = [installed("bash"), "--norc", "--noprofile", "-i"]
    setup = "bind 'set enable-bracketed-paste off'; source <(paddlespec completion bash)"
    assert expected in typed(shell, folder, setup, line, expected)


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_zsh(folder: Path, line: str, expected: str) -> None:
    shell = [installed("zsh"), "-f", "-i"]
    setup = "autoload -U compinit; compinit -u -D; source <(paddlespec completion zsh)"
    # zsh drops the space again where the line ends.
    assert expected.rstrip() in typed(shell, folder, setup, line, expected.rstrip())


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_fish(folder: Path, line: str, expected: str) -> None:
    done = subprocess.run(
        [
            installed("fish"),
            "--no-config",
            "-c",
            f"paddlespec completion fish | source; complete -C '{line}'",
        ],
        cwd=folder,
        env=variables(folder),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    offered = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert any(word.endswith(expected.rstrip().replace("\\", "")) for word in offered), done
