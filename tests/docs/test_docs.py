"""Every command in README and docs that needs no cluster, run as a reader would run it."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from pages import BLOCKS, ROOT, Block, commit_all, copy_checkout, environment, of, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return copy_checkout(tmp_path)


@of("")
def test_plain_commands(block: Block, checkout: Path) -> None:
    run(block, checkout, environment(checkout))


@of("git")
@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_commands_in_a_repository(block: Block, checkout: Path) -> None:
    commit_all(checkout)
    run(block, checkout, environment(checkout))


@of("setup")
def test_setup_commands_are_known_to_make(block: Block, checkout: Path) -> None:
    for command, _ in block.commands:
        assert command.startswith("make "), command
        planned = ["make", "-n", *command.split()[1:]]
        subprocess.run(planned, cwd=checkout, check=True, capture_output=True)


@of("paddle")
def test_paddle_commands(block: Block, checkout: Path) -> None:
    if importlib.util.find_spec("paddle") is None:
        pytest.skip("PaddlePaddle is not installed: pip install '.[paddle]'")
    run(block, checkout, environment(checkout))


def test_every_block_is_run_somewhere() -> None:
    assert {each.needs for each in BLOCKS} <= {"", "git", "setup", "paddle", "cluster"}
    assert any(each.page.name == "README.md" and each.page.parent == ROOT for each in BLOCKS)
