"""The table of what each target supports agrees with what `validate` reports and `render` prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest
from pages import ROOT

from paddlespec import pipeline, targets
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.render.manifest import Manifest

PAGE = ROOT / "docs" / "targets.md"
LAUNCH = "command: python -m paddle.distributed.launch train.py"
PROGRAM = "command: python train.py"
PSERVERS = "pservers: {replicas: 2, command: python train.py}"
SPECS = {
    "collective": f"{LAUNCH}\n  trainers: {{replicas: 2}}",
    "ps": f"{PROGRAM}\n  trainers: {{replicas: 2}}\n  {PSERVERS}",
    "parallel": f"{PROGRAM}\n  trainers: {{replicas: 2}}",
    "legacy": f"{PROGRAM}\n  trainers: {{replicas: 2}}\n  {PSERVERS}",
}


class Cell(NamedTuple):
    """A spec, as updates of a plain one of its mode, and whether a target supports it."""

    updates: tuple[str, ...]
    target: str
    answer: str

    @property
    def mode(self) -> str:
        return self.updates[0].removeprefix("mode=")


def table() -> list[Cell]:
    _, _, section = PAGE.read_text(encoding="utf-8").partition("## What each target supports")
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in section.partition("\n## ")[0].splitlines()
        if line.startswith("|")
    ]
    header, _, *body = rows
    names = [name.strip("`") for name in header[1:]]
    return [
        Cell(tuple(re.findall("`(.+?)`", row[0])), name, answer)
        for row in body
        for name, answer in zip(names, row[1:], strict=True)
    ]


CELLS = table()


def load(folder: Path, cell: Cell, *updates: str) -> pipeline.Loaded:
    path = folder / "paddlejob.yaml"
    path.write_text(
        "apiVersion: paddlespec.io/v1\nkind: PaddleJob\nmetadata: {name: fit}\nspec:\n"
        f"  mode: {cell.mode}\n  image: registry.test/paddle:1\n  {SPECS[cell.mode]}\n",
        encoding="utf-8",
    )
    choices = pipeline.Choices(target=cell.target, updates=updates)
    (loaded,), _ = pipeline.load(str(path), Files(), choices)
    return loaded


def rendered(loaded: pipeline.Loaded) -> list[Manifest]:
    return pipeline.build(loaded, Templates()).manifests


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{' '.join(cell.updates)}-{cell.target}")
def test_validate_agrees(tmp_path: Path, cell: Cell) -> None:
    loaded = load(tmp_path, cell, *cell.updates)
    assert loaded.is_valid == (cell.answer != "no"), loaded.diagnostics
    if loaded.is_valid and len(cell.updates) > 1:
        changes_nothing = rendered(loaded) == rendered(load(tmp_path, cell))
        assert changes_nothing == (cell.answer == "ignored")


def test_every_built_in_target_has_a_column() -> None:
    assert {cell.target for cell in CELLS} == set(targets.built_in())
