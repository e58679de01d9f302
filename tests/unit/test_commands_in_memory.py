"""The commands with a backend that is installed as another package's would be."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import outputs
import pytest
from command_contract import CommandContract, Refused, spec

from paddlespec import backends
from paddlespec.cli.app import main
from paddlespec.cli.shared import datacenters
from paddlespec.cli.shared.exits import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from command_contract import Ends

FOLDER = Path(__file__).parents[1] / "memory"
ENTRY_POINTS = """\
[paddlespec.backends]
memory = memory_backend

[paddlespec.targets]
memory = memory_target
"""


class Ended(NamedTuple):
    """A command that has ended."""

    stdout: str
    stderr: str


@dataclass(frozen=True)
class Memory:
    """A user of the backend, in this process: other processes do not see its jobs."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    target = "memory"
    line = "hello"

    @property
    def refused(self) -> Sequence[Refused]:
        named = ("fit", "--target", "memory")
        return (
            Refused(("shell", *named), "`shell` needs containers", "paddlespec logs fit"),
            Refused(("exec", *named, "--", "date"), "`exec` is not available"),
            Refused(("port-forward", *named, "80"), "`port-forward` is not available"),
            Refused(("get", "resources", "--target", "memory"), "`get resources` is not available"),
            Refused(
                ("diff", "fit.yaml", "--target", "memory", "--out", "plan"), "`diff --out` is not"
            ),
            Refused(("apply", "fit.yaml", "--target", "memory", "--cpu-only"), "--target local"),
        )

    def job(self, name: str, ends: Ends) -> str:
        path = self.folder / f"{name}.yaml"
        path.write_text(spec(name, ends), encoding="utf-8")
        return str(path)

    def run(self, *arguments: str, code: int = 0) -> Ended:
        self.patch.setattr(sys, "argv", ["paddlespec", *arguments])
        ended = run(main)
        out, err = self.capture.readouterr()
        assert ended == code, f"{arguments}\n{out}\n{err}"
        outputs.check(arguments, out)
        return Ended(out, err)


@pytest.fixture
def place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Memory]:
    """Install the backend, and give a user of it."""
    installed = tmp_path / "installed" / "memory-1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: memory\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(installed.parent))
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    terminate = signal.getsignal(signal.SIGTERM)
    for cached in (datacenters.settings, datacenters.project, backends._installed):
        cached.cache_clear()
    import memory_backend

    memory_backend.JOBS.clear()
    yield Memory(tmp_path, capfd, monkeypatch)
    signal.signal(signal.SIGTERM, terminate)


class TestMemory(CommandContract):
    """Every command, without a cluster and without a process."""


def test_bare_name_finds_the_running_job(place: Memory) -> None:
    place.run("apply", place.job("fit", "never"), "--target", "memory")
    assert "fit" in place.run("status", "fit").stdout


def test_the_spec_in_this_folder_names_the_job(place: Memory) -> None:
    for name in ("fit", "other"):
        place.run("apply", place.job(name, "never"), "--target", "memory")
    (place.folder / "paddlejob.yaml").write_text(spec("other", "never"), encoding="utf-8")
    assert "other" in place.run("status", "--target", "memory").stdout
    assert place.run("logs", "--target", "memory").stdout


def test_unknown_backend_names_those_that_are_installed(place: Memory) -> None:
    with pytest.raises(backends.UnknownBackend, match="cluster, local, memory"):
        backends.load("abacus")
