"""The pinned requirements satisfy the project's own, so that `make lock` was not forgotten."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>\S+).*\\\n\s+--hash=sha256:", re.MULTILINE)


def required(extra: str) -> list[Requirement]:
    texts = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize("extra", ["dev", "paddle"])
def test_pins_satisfy_the_project(extra: str) -> None:
    text = (ROOT / "requirements" / f"{extra}.txt").read_text(encoding="utf-8")
    pins = {canonicalize_name(pin["name"]): pin["version"] for pin in PINNED.finditer(text)}
    wrong = [
        str(requirement)
        for requirement in required(extra)
        if pins.get(canonicalize_name(requirement.name)) is None
        or not requirement.specifier.contains(pins[canonicalize_name(requirement.name)])
    ]
    assert wrong == []
