"""Import contracts hold, and each one breaks when a module breaks it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = [contract["id"] for contract in SETTINGS["tool"]["importlinter"]["contracts"]]


class Probe(NamedTuple):
    """An import that must not be possible, and the contract that forbids it."""

    contract: str
    module: str
    imported: str


PROBES = (
    Probe("layers", "spec/source.py", "paddlespec.checks"),
    Probe("layers", "model/job.py", "paddlespec.targets"),
    Probe("layers", "stray.py", "paddlespec.diagnostic"),
    Probe("backends", "backends/local/engine.py", "paddlespec.backends.cluster.engine"),
    Probe("engines", "cli/commands/status.py", "paddlespec.backends.cluster.engine"),
    Probe("engines", "backends/__init__.py", "paddlespec.backends.local.backend"),
    Probe("cycles", "diagnostic.py", "paddlespec.spec.source"),
    Probe("cycles", "backends/cluster/api/client.py", "paddlespec.backends.cluster.change.desired"),
    Probe("kubernetes", "backends/local/engine.py", "kubernetes.client"),
    Probe("kubernetes", "quantity.py", "kubernetes"),
    Probe("typer", "backends/local/engine.py", "typer"),
    Probe("jinja2", "render/manifest.py", "jinja2"),
    Probe("jsonschema", "spec/gate.py", "jsonschema_rs"),
    Probe("ruamel", "cli/shared/output.py", "ruamel.yaml"),
    Probe("cycles", "backends/local/store/launch.py", "paddlespec.backends.local.engine"),
    Probe("psutil", "backends/local/supervisor/idle.py", "psutil"),
    Probe("configuration", "targets/kubernetes.py", "paddlespec.config.settings"),
    Probe("shapes", "cli/commands/status.py", "paddlespec.shapes.jobs"),
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package beside its settings, to break and mend."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(
        ROOT / "paddlespec", folder / "paddlespec", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def lint(checkout: Path, contract: str) -> subprocess.CompletedProcess[str]:
    """Check one contract of the copy."""
    program = (
        "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--contract", contract],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_contract_has_a_probe() -> None:
    assert {probe.contract for probe in PROBES} == set(CONTRACTS)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_contract_is_kept(checkout: Path, contract: str) -> None:
    done = lint(checkout, contract)
    assert "1 kept, 0 broken" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: f"{probe.contract}-{probe.imported}")
def test_contract_breaks(checkout: Path, probe: Probe) -> None:
    module = checkout / "paddlespec" / probe.module
    before = module.read_text(encoding="utf-8") if module.exists() else None
    try:
        module.write_text(f"{before or ''}\nimport {probe.imported}\n", encoding="utf-8")
        done = lint(checkout, probe.contract)
    finally:
        module.unlink()
        if before is not None:
            module.write_text(before, encoding="utf-8")
    assert "0 kept, 1 broken" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1
