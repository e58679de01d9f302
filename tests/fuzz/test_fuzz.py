"""A brief, seeded sample of what `make fuzz` runs at length."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING

import pytest
import yaml
from readers import TARGETS, prepare, ran

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INPUTS = 100


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path) -> Iterator[None]:
    before, environment = os.getcwd(), dict(os.environ)
    prepare(tmp_path)
    yield
    os.chdir(before)
    os.environ.clear()
    os.environ.update(environment)


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_from_outside_is_an_internal_error(name: str, tmp_path: Path) -> None:
    target = TARGETS[name](tmp_path)
    for number in range(INPUTS):
        ended = target(Random(f"sample/{number}"))
        assert ended.code != 70, f"{ended.said}\n{ended.why}"


@pytest.mark.parametrize("key", ["command", "env", "mounts", "resources"])
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_manifests_may_hold_null_for_what_they_leave_out(
    key: str, form: str, tmp_path: Path
) -> None:
    here = ("local.yaml", "--target", "local")
    assert ran("render", *here, "--out", "before")[0] == 0
    for file in (tmp_path / "before").rglob("*.yaml"):
        documents = list(yaml.safe_load_all(file.read_text()))
        for manifest in documents:
            manifest["spec"][key] = None
        file.write_text(yaml.safe_dump_all(documents))
    code, said = ran("diff", *here, "--against", "before", "-o", form)
    assert code == 1, said
