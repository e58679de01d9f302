"""A brief, seeded sample of what `make fuzz` runs at length."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING

import pytest
from readers import TARGETS, prepare

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
