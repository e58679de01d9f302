"""What is installed from a wheel works outside of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from paddlespec.bundled import bundled

pytestmark = pytest.mark.packaging
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return next(out.glob("*.whl"))


def test_the_wheel_holds_code_schemas_and_templates(wheel: Path) -> None:
    names = {each for each in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in each}
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "paddlespec").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for tree in ("schemas", "templates"):
        expected |= {
            f"paddlespec/{path.relative_to(ROOT).as_posix()}"
            for path in (ROOT / tree).rglob("*")
            if path.is_file()
        }
    assert names == {*expected, "paddlespec/docs/diagnostics.md"}


def test_a_fresh_install_renders_an_example(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    install = [str(binaries / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    validated, rendered = (
        subprocess.run(
            [str(binaries / "paddlespec"), command, str(ROOT / "examples" / "fit-a-line-ps")],
            cwd=tmp_path,
            env=variables,
            check=True,
            capture_output=True,
            text=True,
        )
        for command in ("validate", "render")
    )
    assert "1 spec is valid" in validated.stderr
    assert "kind: Job" in rendered.stdout


def test_both_installs_find_their_files() -> None:
    assert Path(bundled("schemas", "paddlejob.v1.json")).is_file()
    assert Path(bundled("templates", "kubernetes", "job.yaml.j2")).is_file()
    assert Path(bundled("docs", "diagnostics.md")).is_file()
