"""The commands with processes of this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import outputs
import pytest
from command_contract import CommandContract, Refused, spec
from forked import common

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from command_contract import Ends
    from forked import Ended


@dataclass(frozen=True)
class Rehearsals:
    """A user without a cluster, with their own home folder."""

    folder: Path

    target = "local"
    line = "hello"

    @property
    def refused(self) -> Sequence[Refused]:
        named = ("fit", "--target", "local")
        instead = "paddlespec exec fit -- bash"
        return (
            Refused(("shell", *named), "`shell` needs a cluster", instead),
            Refused(("shell", "fit.yaml", "--target", "local"), "`shell` needs a cluster", instead),
            Refused(("diff", "fit.yaml", "--target", "local", "--out", "plan"), "needs a cluster"),
        )

    def job(self, name: str, ends: Ends) -> str:
        path = self.folder / f"{name}.yaml"
        path.write_text(spec(name, ends), encoding="utf-8")
        return str(path)

    def run(self, *arguments: str, code: int = 0) -> Ended:
        own = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        own.pop("KUBECONFIG", None)
        environment = {**own, "HOME": str(self.folder)}
        ended = common().run(*arguments, folder=self.folder, environment=environment)
        assert ended.code == code, f"{arguments}\n{ended.stdout}\n{ended.stderr}"
        outputs.check(arguments, ended.stdout)
        return ended


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Rehearsals]:
    """Return a user, and stop what is left of their jobs afterwards."""
    user = Rehearsals(tmp_path)
    yield user
    for name in user.run("get", "jobs", "--target", "local", "-o", "name").stdout.split():
        user.run("kill", name, "--target", "local")


class TestLocal(CommandContract):
    """Every command with real processes."""
