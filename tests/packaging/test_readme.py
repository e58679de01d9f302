"""The README as a new user follows it: a fresh copy, a fresh environment, a fresh shell."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = [pytest.mark.packaging, pytest.mark.paddle]
ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```console (\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INSTALLERS = ("uv tool install", "pipx install", "pip install")
LEFT = (".git", ".venv*", ".make", ".*_cache", ".hypothesis", "__pycache__", "dist", "build")


def commands(needs: str) -> list[str]:
    """The first block of the README that needs *needs*."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = next(match[2] for match in FENCE.finditer(text) if match[1] == needs)
    return [line.removeprefix("$ ") for line in block.splitlines()]


def environment_beside(folder: Path) -> Path:
    """
    A new environment without paddlespec; return the folder of its commands.

    What paddlespec depends on is taken from the environment of the tests, not from the network.
    """
    venv.create(folder, with_pip=False)
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    own = next(folder.glob("lib*/python*/site-packages"))
    (own / "shared.pth").write_text("\n".join(libraries), encoding="utf-8")
    return binaries


def test_every_installer_is_offered_for_the_same_thing() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {name for name in INSTALLERS if f"{name} '.[paddle]'" in text} == set(INSTALLERS)


def test_install_then_paste(tmp_path: Path) -> None:
    if importlib.util.find_spec("paddle") is None:
        pytest.skip("PaddlePaddle is not installed: pip install '.[paddle]'")
    shutil.copytree(ROOT, tmp_path / "clone", ignore=shutil.ignore_patterns(*LEFT))
    binaries = environment_beside(tmp_path / "environment")
    (install,) = commands("install")
    *installer, what = shlex.split(install)
    assert " ".join(installer) in INSTALLERS
    offline = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    variables = {
        "PATH": f"{binaries}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
    }
    subprocess.run(
        [binaries / "python", "-m", "pip", "install", *offline, what],
        cwd=tmp_path / "clone",
        env=variables,
        check=True,
    )
    pasted = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eu"],
        input="\n".join(["command -v paddlespec", *commands("paddle")]),
        cwd=tmp_path / "clone",
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert pasted.returncode == 0, pasted.stderr
    assert pasted.stdout.startswith(str(binaries))
    assert "my-job: complete\n" in pasted.stderr, pasted.stderr
    assert list((tmp_path / "clone" / "manifests").rglob("*.yaml"))
