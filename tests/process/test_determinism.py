"""The same inputs give the same bytes, and nothing else is read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/paddlejob.yaml"))
LOUD = """
import sys
def hook(event, args):
    if event.startswith("socket.") and event not in ("socket.__new__",):
        print("SOCKET", event, args, file=sys.stderr); sys.stderr.flush(); __import__("os")._exit(99)
    if event == "open" and isinstance(args[0], str) and ".kube" in args[0]:
        print("KUBECONFIG", args, file=sys.stderr); sys.stderr.flush(); __import__("os")._exit(98)
sys.addaudithook(hook)
from paddlespec.__main__ import main
main()
"""


def paddlespec(*arguments: str, cwd: Path = ROOT, **variables: str) -> bytes:
    base = {"PATH": os.environ["PATH"], "HOME": os.devnull, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "paddlespec", *arguments],
        cwd=cwd,
        env={**base, **variables},
        capture_output=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_bytes_do_not_depend_on_the_surroundings(example: Path, tmp_path: Path) -> None:
    first = paddlespec("render", str(example))
    assert first.startswith(b"---\n")
    home = tmp_path / "home"
    (home / ".kube").mkdir(parents=True)
    (home / ".kube" / "config").write_text("current-context: elsewhere\n")
    moved = tmp_path / "elsewhere" / example.name
    shutil.copytree(example, moved, ignore=shutil.ignore_patterns("output", "log", "__pycache__"))
    for file in moved.rglob("*"):
        os.utime(file, (1, 1))
    surroundings = [
        {"HOME": str(home), "TZ": "Asia/Shanghai", "LC_ALL": "C", "PYTHONHASHSEED": "1"},
        {"HOME": str(home), "TZ": "UTC", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "2"},
        {"USER": "someone", "KUBECONFIG": str(home / ".kube" / "config"), "PYTHONUTF8": "0"},
    ]
    for variables in surroundings:
        assert paddlespec("render", ".", cwd=moved, **variables) == first


@pytest.mark.parametrize("command", ["validate", "render"])
def test_neither_socket_nor_kubeconfig_is_opened(command: str, tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text("{}")
    for arguments in ([command, "examples"], [command, "examples", "-q"]):
        done = subprocess.run(
            [sys.executable, "-c", LOUD, *arguments],
            cwd=ROOT,
            env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_the_watch_for_sockets_sees_one(tmp_path: Path) -> None:
    script = LOUD.replace("main()", "import socket; socket.create_connection(('127.0.0.1', 9))")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 99
    assert "SOCKET" in done.stderr


@pytest.mark.parametrize("command", ["validate", "render"])
def test_costly_libraries_stay_unloaded(command: str) -> None:
    script = (
        "import sys; sys.argv = ['paddlespec', *sys.argv[1:]]\n"
        "from paddlespec.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('LOADED', *[each for each in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, command, "examples/fit-a-line-ps"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stderr.rpartition("LOADED")[2].split())
    assert "paddlespec.pipeline" in loaded
    assert not loaded & {"kubernetes", "pydantic", "typer", "rich", "ruamel"}
    assert command == "render" or "jinja2" not in loaded


def test_a_64_trainer_job_is_one_page() -> None:
    lines = paddlespec(
        "render", "examples/fit-a-line-collective", "-u", "trainers.replicas=64"
    ).splitlines()
    assert len(lines) < 200
    assert sum(line.startswith(b"kind: ") for line in lines) <= 3
