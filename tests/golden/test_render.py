"""
What every target makes of one spec of each mode.

`render/<mode>/paddlejob.yaml` gives `render/<mode>/<target>.yaml`; `pytest tests/golden
--update-golden` writes what is rendered, to be read before it is committed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from paddlespec import targets
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.spec.emit import dump_all
from paddlespec.spec.files import Files

CASES = sorted((Path(__file__).parent / "render").glob("*/paddlejob.yaml"))


def rendered(file: Path, target: str) -> str:
    jobs, found = load(str(file), Files(), Choices(target=target))
    assert found == []
    (loaded,) = jobs
    return dump_all(build(loaded, Templates()).manifests)


@pytest.mark.parametrize("target", targets.built_in())
@pytest.mark.parametrize("file", CASES, ids=lambda file: file.parent.name)
def test_a_target_renders_a_mode(file: Path, target: str, update_golden: bool) -> None:
    expected = file.with_name(f"{target}.yaml")
    if update_golden:
        expected.write_text(rendered(file, target), encoding="utf-8")
    assert rendered(file, target) == expected.read_text(encoding="utf-8")


def test_every_target_has_a_case() -> None:
    shown = {path.stem for file in CASES for path in file.parent.glob("*.yaml")}
    assert shown == {"paddlejob", *targets.built_in()}
