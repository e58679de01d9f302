"""Every command in README and docs that needs no cluster, run as a reader would run it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import BLOCKS, ROOT, Block, commit_all, copy_checkout, environment, of, run


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


@pytest.mark.paddle
@of("paddle")
def test_paddle_commands(block: Block, checkout: Path) -> None:
    if importlib.util.find_spec("paddle") is None:
        pytest.skip("PaddlePaddle is not installed: pip install '.[paddle]'")
    # Environments with what examples require are kept and shared, as a reader's are.
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    run(block, checkout, {**environment(checkout), "XDG_CACHE_HOME": cache})


def test_what_the_demo_ends_with_can_be_typed() -> None:
    planned = subprocess.run(
        ["make", "-n", "demo"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    commands = re.findall(r"(?:^|\s)\S*/paddlespec (\w+)(.*?)\"?$", planned, re.MULTILINE)
    assert len(commands) > 4
    for command, rest in commands:
        told = subprocess.run(
            [sys.executable, "-m", "paddlespec", command, "--help"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in told, f"{command} {option}"


def test_every_block_is_run_somewhere() -> None:
    assert {each.needs for each in BLOCKS} <= {"", "git", "setup", "install", "paddle", "cluster"}
    assert any(each.page.name == "README.md" and each.page.parent == ROOT for each in BLOCKS)
