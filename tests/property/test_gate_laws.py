"""Whatever is wrong with a document, the gate tells it: in words, at a place, all at once."""

from __future__ import annotations

import json
import os
from random import Random
from typing import Any

import pytest
from rich_specs import faulty

from paddlespec import gate, source
from paddlespec.diagnostic import in_order
from paddlespec.document import Document, remove
from paddlespec.record import job_of

ROUNDS = 40 if os.environ.get("PADDLESPEC_HYPOTHESIS") == "fuzz" else 4
JARGON = ("schema", "anyof", "oneof", "propert", "pattern", "match", "valid under", "^", "instance")
HEALS = {"missing-key", "empty"}


def written(random: Random, faults: int) -> Document | None:
    """A faulty document with places, as a file would have them; none where it is no YAML."""
    text = json.dumps(faulty(random, faults), indent=1, ensure_ascii=False)
    if "\\u0000" in text:
        return None
    reading = source.read(text, "job.yaml")
    assert reading.diagnostics == []
    return reading.documents[0]


def documents(seeds: range) -> list[Document]:
    found = (written(Random(seed), 1 + seed % 4) for seed in seeds)
    return [each for each in found if each is not None]


@pytest.mark.parametrize("round_", range(ROUNDS))
class TestFaultyDocuments:
    @pytest.fixture
    def stack(self, round_: int) -> list[Document]:
        return documents(range(round_ * 300, round_ * 300 + 300))

    def test_findings_are_words_at_places(self, stack: list[Document]) -> None:
        refused = 0
        for document in stack:
            refusal = gate.check(document, gate.EFFECTIVE)
            refused += bool(refusal.diagnostics)
            lines = document.place.origin.text.split("\n")
            for each in refusal.diagnostics:
                assert 1 <= each.span.line <= len(lines)
                assert 1 <= each.span.column <= len(lines[each.span.line - 1])
                assert not any(word in each.message.lower() for word in JARGON), each.message
                assert each.path in refusal.spoiled | refusal.unknown
                assert len(each.message) < 300
        assert refused > 100

    def test_without_what_was_refused_the_rest_is_usable(self, stack: list[Document]) -> None:
        for document in stack:
            refusal = gate.check(document, gate.EFFECTIVE)
            rest = remove(document.data, refusal.spoiled | refusal.unknown)
            left = gate.check(Document(rest, document.place), gate.EFFECTIVE).diagnostics
            assert {each.code for each in left} <= HEALS, [str(each) for each in left]
            if isinstance(rest.get("metadata"), dict) and isinstance(rest.get("spec"), dict):
                job_of(rest)

    def test_both_gates_tell_one_fault_alike(self, stack: list[Document]) -> None:
        """So that a fault in one file is told once, though the merged document is checked too."""
        for document in stack:
            alone = gate.check(document, gate.SOURCE).diagnostics
            whole = gate.check(document, gate.EFFECTIVE).diagnostics
            assert len(in_order([*alone, *whole])) == len(in_order(whole))
            assert {(each.message, each.path) for each in alone if len(each.path) > 1} <= {
                (each.message, each.path) for each in whole
            }


def test_a_value_of_a_variable_is_never_told() -> None:
    checked = 0
    for seed in range(2000):
        data: Any = faulty(Random(seed), 0)
        random = Random(seed)
        secret = random.choice(("hunter2", "hunter2\n", ["hunter2"], {"hunter": "hunter2"}))
        entry = random.choice(("value", "secret", "key", "sensitive", "configMap"))
        source_ = {"value": "x", "sensitive": True, entry: secret}
        data["spec"]["env"] = {"SALT": random.choice((source_, secret, [source_]))}
        text = json.dumps(data)
        (document,) = source.read(text, "job.yaml").documents
        for name in (gate.SOURCE, gate.EFFECTIVE):
            for each in gate.check(document, name).diagnostics:
                checked += 1
                assert "hunter2" not in f"{each.message} {each.hint}"
    assert checked > 500
