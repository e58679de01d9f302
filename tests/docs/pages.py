"""
The console blocks of README and docs, and how to run one.

A fence says what its commands need: `console` nothing, `console git` a repository, `console cluster`
a cluster, `console paddle` an installed Paddle, `console setup` a fresh machine, `console
install` a fresh environment. Output below a command is compared; a line of
`...` stands for any lines; `# exits with N` names an exit code.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import outputs
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md")]
)
FENCE = re.compile(r"^```console[ ]?(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One fence: the page, what it needs, its commands with the output that the page shows."""

    page: Path
    line: int
    needs: str
    commands: list[tuple[str, str]]

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks() -> Iterator[Block]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text[: match.start()].count("\n") + 1
            yield Block(page, line, match[1], list(_commands(match[2])))


def _commands(text: str) -> Iterator[tuple[str, str]]:
    parts = re.split(r"^\$ ", text.replace("\\\n", ""), flags=re.MULTILINE)
    assert not parts[0].strip(), "a console block begins with a command"
    for part in parts[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


BLOCKS = list(blocks())


def of(needs: str) -> pytest.MarkDecorator:
    chosen = [each for each in BLOCKS if each.needs == needs]
    return pytest.mark.parametrize("block", chosen, ids=[each.name for each in chosen])


def copy_checkout(folder: Path) -> Path:
    """A copy of what a reader has, so that commands may write."""
    for name in ("README.md", "Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    for name in ("docs", "examples", "requirements", "schemas", "templates"):
        ignored = shutil.ignore_patterns("__pycache__", "output", "log")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


def commit_all(folder: Path) -> None:
    """Make *folder* a repository with one commit of everything in it."""
    me = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    begin = ("init", "--quiet", "--initial-branch=main")
    for command in (begin, ("add", "--all"), (*me, "commit", "--quiet", "-m", "all")):
        subprocess.run(["git", *command], cwd=folder, check=True, env=environment(folder))


def environment(home: Path) -> dict[str, str]:
    keep = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    path = f"{Path(sys.executable).parent}{os.pathsep}{keep.pop('PATH', '')}"
    return {**keep, "PATH": path, "HOME": str(home), "KUBECONFIG": str(home / "none")}


def run(block: Block, folder: Path, variables: dict[str, str]) -> None:
    for command, shown in block.commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        told = f"{block.name}: $ {command}\n{done.stdout}{done.stderr}"
        refusal = re.search(r"# exits with (\d+)", command)
        assert done.returncode == int(refusal[1] if refusal else 0), told
        # What the last command of a line writes is all that is there to see.
        if called := re.search(r"^(?:.*&& )?paddlespec ([^|&;>]*?)(?: # exits.*)?$", command):
            outputs.check(shlex.split(called[1]), done.stdout)
        if shown.strip():
            pattern = ".*".join(
                re.escape(each.strip("\n"))
                for each in re.split(r"^\.\.\.\n?", shown, flags=re.MULTILINE)
            )
            assert re.search(pattern, done.stdout + done.stderr, re.DOTALL), told
