"""The bounds in docs/security.md are those of the program, and each has a test."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(
    r"^\| (?P<what>.+) \| (?P<limit>[^|]+) \| `(?P<constant>[\w.]+)` \|$", re.MULTILINE
)
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# The test that exceeds each bound.
TESTS = {
    "spec.source.MAX_BYTES": "unit/test_source.py: more than 4 MiB",
    "spec.source.MAX_NODES": "unit/test_source.py: too many values",
    "spec.source.MAX_DEPTH": "unit/test_source.py: 200 kB of [",
    "spec.interpolate.MAX_TEXT": "unit/test_interpolate.py::test_the_size_of_parameters_is_limited",
    "spec.interpolate.MAX_NESTING": (
        "unit/test_interpolate.py::test_the_nesting_of_parameters_is_limited"
    ),
    "package.walk.MAX_FILES": (
        "unit/test_package.py::test_too_many_files_are_reported_with_their_folder"
    ),
    "package.walk.MAX_ENTRIES": "unit/test_ignore.py::test_the_number_of_ignored_files",
    "package.walk.MAX_IGNORE_BYTES": "unit/test_ignore.py::test_the_size_of_an_ignore_file",
    "package.archive.MAX_CONFIG_MAP_BYTES": (
        "unit/test_package.py::test_the_size_limit_of_a_config_map_is_exact"
    ),
    "package.delivery.MAX_REHEARSED_BYTES": (
        "unit/test_travels.py::test_a_rehearsal_has_a_limit_of_its_own"
    ),
    "package.left.MAX_ENTRIES": "unit/test_travels.py::test_measuring_is_bounded",
    "package.ignore.MAX_PATTERN_LENGTH": "unit/test_ignore.py::test_the_length_of_a_pattern",
    "package.ignore.MAX_PATTERNS": "unit/test_ignore.py::test_the_number_of_patterns",
    "package.ignore.MAX_WORK": "unit/test_ignore.py::test_the_work_of_matching",
    "package.credentials.MAX_KEY_BYTES": (
        "unit/test_credentials.py::test_only_the_beginning_of_a_key_is_read"
    ),
    "render.bounds.MAX_TEMPLATE_BYTES": 'unit/test_template_bounds.py: id="size"',
    "render.bounds.MAX_STEPS": 'unit/test_template_bounds.py: id="loops"',
    "render.bounds.MAX_SECONDS": "unit/test_template_bounds.py::test_time_is_bounded",
    "render.bounds.MAX_MEMORY": (
        "unit/test_template_bounds.py::test_what_cannot_be_foreseen_is_bounded_by_memory"
    ),
    "render.bounds.MAX_RANGE": 'unit/test_template_bounds.py: id="range"',
    "render.bounds.MAX_LENGTH": 'unit/test_template_bounds.py: id="output"',
    "render.bounds.MAX_BITS": 'unit/test_template_bounds.py: id="power"',
    "render.bounds.MAX_WIDTH_DIGITS": 'unit/test_template_bounds.py: id="format-filter"',
    "render.bounds.MAX_DEPTH": "unit/test_template_bounds.py::test_depth_is_bounded",
    "git.run.MAX_ANSWER_BYTES": "unit/test_hostile_repository.py::test_the_size_of_an_answer",
    "git.run.MAX_SECONDS": "unit/test_hostile_repository.py::test_the_time_of_an_answer",
    "git.snapshot.MAX_FILES": "unit/test_hostile_repository.py::test_the_number_of_files",
    "git.snapshot.MAX_CHECKOUT_FILES": (
        "unit/test_hostile_repository.py::test_the_number_of_files_that_are_checked_out"
    ),
    "git.snapshot.MAX_CHECKOUT_BYTES": (
        "unit/test_hostile_repository.py::test_the_bytes_that_are_checked_out"
    ),
}
# Modules whose public limits are all bounds of hostile input.
MODULES = (
    *("spec.source", "spec.interpolate", "package.walk", "package.ignore", "package.credentials"),
    *("render.bounds", "git.run", "git.snapshot"),
)


def bounds() -> dict[str, str]:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    return {row["constant"]: row["limit"] for row in ROW.finditer(page)}


def value(name: str) -> object:
    module, _, constant = name.rpartition(".")
    return getattr(importlib.import_module(f"paddlespec.{module}"), constant)


def number(limit: str) -> int:
    amount, _, unit = limit.partition(" ")
    return int(amount.replace(",", "")) * UNITS.get(unit, 1)


@pytest.mark.parametrize("name", bounds())
def test_the_page_shows_the_constant(name: str) -> None:
    assert number(bounds()[name]) == value(name)


def test_the_page_has_every_bound() -> None:
    public = {
        f"{module}.{target.id}"
        for module in MODULES
        for node in ast.parse(
            (ROOT / "paddlespec" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        ).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.startswith("MAX_")
    }
    assert public <= bounds().keys()
    assert bounds().keys() == TESTS.keys()


@pytest.mark.parametrize("place", TESTS.values(), ids=TESTS)
def test_every_bound_has_a_test(place: str) -> None:
    file, name = re.split("::|: ", place, maxsplit=1)
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")
    assert (f"def {name}(" if name.startswith("test_") else name) in text
