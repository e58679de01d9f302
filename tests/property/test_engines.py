"""Both engines of JSON schemas report the same, and the second is used where the first is absent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from rich_specs import faulty

from paddlespec import validator
from paddlespec.render import shape
from paddlespec.spec import gate
from paddlespec.spec.source import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.spec.document import Document

GOLDEN = Path(__file__).parents[1] / "golden"
ENGINES = (validator.Fast, validator.Portable)


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    monkeypatch.undo()
    gate._validator.cache_clear()


def findings(
    documents: list[Document], engine: Any, monkeypatch: pytest.MonkeyPatch
) -> list[list[str]]:
    """Return what the gate reports about each document, as sorted text."""
    monkeypatch.setattr(gate, "compiled", engine)
    gate._validator.cache_clear()
    return [
        sorted(map(repr, gate.check(document, name).diagnostics))
        for document in documents
        for name in (gate.SOURCE, gate.EFFECTIVE, gate.PROJECT)
    ]


def test_golden_documents_have_the_same_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    files = sorted(GOLDEN.rglob("*.yaml"))
    documents = [one for file in files for one in read(file.read_bytes(), file.name).documents]
    fast, portable = (findings(documents, engine, monkeypatch) for engine in ENGINES)
    assert fast == portable
    assert sum(map(bool, fast)) > 100


def test_damaged_documents_have_the_same_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [json.dumps(faulty(Random(seed), 1 + seed % 3)) for seed in range(400)]
    documents = [one for text in texts for one in read(text, "spec.json").documents]
    fast, portable = (findings(documents, engine, monkeypatch) for engine in ENGINES)
    assert fast == portable


@pytest.mark.parametrize(
    "data",
    [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": []},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": 1}, "spec": {}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"\ud800": "a"}, "spec": {}},
        [],
        None,
    ],
)
def test_objects_have_the_same_faults(data: object, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = []
    for engine in ENGINES:
        monkeypatch.setattr(shape, "compiled", engine)
        shape._compiled.cache_clear()
        faults.append(shape.manifest("Service").fault(data))
    shape._compiled.cache_clear()
    assert faults[0] == faults[1]


def test_the_second_engine_is_used_where_the_first_is_absent(tmp_path: Path) -> None:
    (tmp_path / "jsonschema_rs.py").write_text("raise ImportError('no wheel')")
    (tmp_path / "paddlejob.yaml").write_text("kind: PaddleJob\nspec: {trainer: {}, mode: fast}\n")
    outputs = []
    for path in ("", str(tmp_path)):
        done = subprocess.run(
            [sys.executable, "-m", "paddlespec", "validate", "paddlejob.yaml", "-o", "json"],
            cwd=tmp_path,
            env={"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert "unknown-key" in outputs[0]
