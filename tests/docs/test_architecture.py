"""The map of the code names what exists, and leaves out no room."""

from __future__ import annotations

import re

import pytest
from pages import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "paddlespec"
PATHS = sorted(
    {path for path in re.findall(r"`([\w./-]+)`", PAGE) if "/" in path or path.endswith(".py")}
)


@pytest.mark.parametrize("path", PATHS)
def test_path_exists(path: str) -> None:
    assert (ROOT / path).exists() or any(PACKAGE.rglob(path.rstrip("/")))


def test_every_room_is_on_the_map() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {room for room in rooms if f"`{room}/`" not in PAGE} == set()
