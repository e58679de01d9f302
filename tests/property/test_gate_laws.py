"""The gate reports all errors of a document, with messages and positions."""

from __future__ import annotations

import json
import os
from random import Random
from typing import Any

import pytest
from rich_specs import faulty

from paddlespec.diagnostic import in_order
from paddlespec.spec import gate, source
from paddlespec.spec.document import Document, remove
from paddlespec.spec.frozen import job_of

ROUNDS = 40 if os.environ.get("PADDLESPEC_HYPOTHESIS") == "fuzz" else 4
JARGON = ("schema", "anyof", "oneof", "propert", "pattern", "match", "valid under", "^", "instance")
HEALS = {"missing-key", "empty"}


def written(random: Random, faults: int) -> Document | None:
    """Return a faulty document with positions, or None if it is not YAML."""
    text = json.dumps(faulty(random, faults), indent=1, ensure_ascii=False)
    if "\\u0000" in text:
        return None
    reading = source.read(text, "job.yaml")
    assert reading.diagnostics == []
    return reading.documents[0]


def documents(seeds: range) -> list[Document]:
    candidates = (written(Random(seed), 1 + seed % 4) for seed in seeds)
    return [document for document in candidates if document is not None]


@pytest.mark.parametrize("round_", range(ROUNDS))
class TestFaultyDocuments:
    @pytest.fixture
    def stack(self, round_: int) -> list[Document]:
        return documents(range(round_ * 300, round_ * 300 + 300))

    def test_diagnostics_have_messages_and_positions(self, stack: list[Document]) -> None:
        refused = 0
        for document in stack:
            refusal = gate.check(document, gate.EFFECTIVE)
            refused += bool(refusal.diagnostics)
            lines = document.place.origin.text.split("\n")
            for diagnostic in refusal.diagnostics:
                assert 1 <= diagnostic.span.line <= len(lines)
                assert 1 <= diagnostic.span.column <= len(lines[diagnostic.span.line - 1])
                assert not any(word in diagnostic.message.lower() for word in JARGON), (
                    diagnostic.message
                )
                assert diagnostic.path in refusal.unreadable | refusal.unknown
                assert len(diagnostic.message) < 300
        assert refused > 100

    def test_the_rest_is_usable_without_rejected_values(self, stack: list[Document]) -> None:
        for document in stack:
            refusal = gate.check(document, gate.EFFECTIVE)
            rest = remove(document.data, refusal.unreadable | refusal.unknown)
            left = gate.check(Document(rest, document.place), gate.EFFECTIVE).diagnostics
            assert {fault.code for fault in left} <= HEALS, [str(fault) for fault in left]
            if isinstance(rest.get("metadata"), dict) and isinstance(rest.get("spec"), dict):
                job_of(rest)

    def test_both_schemas_report_an_error_alike(self, stack: list[Document]) -> None:
        """An error must be reported once, although the merged document is validated too."""
        for document in stack:
            alone = gate.check(document, gate.SOURCE).diagnostics
            whole = gate.check(document, gate.EFFECTIVE).diagnostics
            assert len(in_order([*alone, *whole])) == len(in_order(whole))
            assert {(fault.message, fault.path) for fault in alone if len(fault.path) > 1} <= {
                (fault.message, fault.path) for fault in whole
            }


def test_the_value_of_a_variable_is_never_shown() -> None:
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
            for diagnostic in gate.check(document, name).diagnostics:
                checked += 1
                assert "hunter2" not in f"{diagnostic.message} {diagnostic.hint}"
    assert checked > 500
