"""The schema, the model and the record agree on every document."""

from __future__ import annotations

import copy
import json
import os
from random import Random
from typing import TYPE_CHECKING, Any

import jsonschema
import jsonschema_rs
import pytest
from pydantic import BaseModel, ValidationError
from rich_specs import DOCUMENTS, SMALL, faulty

from paddlespec.bundled import text
from paddlespec.model import Job
from paddlespec.model.schemas import all_schemas
from paddlespec.spec import gate
from paddlespec.spec.frozen import Record, job_of
from paddlespec.validator import Fast, Portable

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 40 if os.environ.get("PADDLESPEC_HYPOTHESIS") == "fuzz" else 4
SCHEMAS = all_schemas()
EFFECTIVE = SCHEMAS[gate.EFFECTIVE]


SOURCE = jsonschema_rs.Draft202012Validator(SCHEMAS[gate.SOURCE])
FAST, PORTABLE = Fast(EFFECTIVE), Portable(EFFECTIVE)


def model_accepts(data: Any) -> bool:
    try:
        Job.model_validate_json(json.dumps(data))
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_documents_are_valid_before_mutation(document: dict[str, Any]) -> None:
    assert FAST.is_valid(document)
    assert model_accepts(document)


def test_the_documents_use_every_field() -> None:
    def used(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for member in value.values() for key in used(member)}
        return {key for item in value for key in used(item)} if isinstance(value, list) else set()

    fields = {
        key
        for definition in [EFFECTIVE, *EFFECTIVE["$defs"].values()]
        for key in definition.get("properties", {})
    }
    assert fields - used(list(DOCUMENTS)) == set()


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_schema_and_model_accept_the_same_documents(round_: int) -> None:
    accepted = 0
    for seed in range(round_ * 1000, round_ * 1000 + 1000):
        random = Random(seed)
        data = faulty(random, random.choice((1, 1, 2, 3)))
        verdict = FAST.is_valid(data)
        accepted += verdict
        assert model_accepts(data) == verdict, (seed, data)
        assert SOURCE.is_valid(data) or not verdict, (seed, data)
    assert 50 < accepted < 950, "the faults are too many or too few to tell anything"


QUANTITIES = [
    0,
    10**15,
    10**15 + 1,
    1e15,
    1000000000000000.1,
    1e15 + 1,
    -1e-300,
    -0.0,
    -1,
    0.1,
    "1",
    True,
]


@pytest.mark.parametrize("value", QUANTITIES)
def test_limits_are_exactly_the_same(value: object) -> None:
    data = copy.deepcopy(SMALL)
    data["spec"]["trainers"] = {"resources": {"memory": value}}
    assert FAST.is_valid(data) == model_accepts(data) == PORTABLE.is_valid(data)


def test_the_reference_validator_agrees() -> None:
    for seed in range(250 * ROUNDS):
        random = Random(-1 - seed)
        data = faulty(random, 1)
        assert PORTABLE.is_valid(data) == FAST.is_valid(data), (seed, data)


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_record_has_the_values_of_the_model(round_: int) -> None:
    compared = 0
    for seed in range(round_ * 500, round_ * 500 + 500):
        random = Random(seed)
        data = faulty(random, random.choice((0, 1, 1, 2)))
        if FAST.is_valid(data):
            compared += 1
            record, model = job_of(data), Job.model_validate_json(json.dumps(data))
            assert list(differences(record, model)) == [], (seed, data)
    assert compared > 50


def differences(record: Any, model: Any, where: str = "job") -> Iterator[str]:
    """Yield the differences between a record and a model in values, types, order or fields."""
    if isinstance(model, BaseModel):
        names = list(type(model).model_fields)
        if not isinstance(record, Record) or sorted(record.__slots__) != sorted(names):
            yield f"{where}: {record!r} has other fields than {model!r}"
            return
        for name in names:
            yield from differences(getattr(record, name), getattr(model, name), f"{where}.{name}")
    elif isinstance(model, dict) and isinstance(record, dict) and list(record) == list(model):
        for key, value in model.items():
            yield from differences(record[key], value, f"{where}[{key}]")
    elif isinstance(model, list) and isinstance(record, list) and len(record) == len(model):
        for index, branch in enumerate(model):
            yield from differences(record[index], branch, f"{where}[{index}]")
    elif type(record) is not type(model) or record != model:
        yield f"{where}: {record!r} is not {model!r}"


@pytest.mark.parametrize("name", SCHEMAS)
class TestPublished:
    def test_every_schema_is_valid(self, name: str) -> None:
        jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])

    def test_the_committed_files_are_up_to_date(self, name: str) -> None:
        committed = text("schemas", name)
        fresh = json.dumps(SCHEMAS[name], indent=2) + "\n"
        assert committed == fresh, "out of date; run: python -m paddlespec.model.schemas"

    def test_every_field_is_described(self, name: str) -> None:
        bare = [where for where, field in fields(SCHEMAS[name]) if not field.get("description")]
        assert bare == []

    def test_every_field_has_valid_examples(self, name: str) -> None:
        wrong = []
        for where, field in fields(SCHEMAS[name]):
            validator = jsonschema_rs.Draft202012Validator(
                {**field, "$defs": SCHEMAS[name]["$defs"]}
            )
            examples = field.get("examples", [])
            defaults = [field["default"]] if "default" in field else []
            wrong += [
                (where, example)
                for example in [*examples, *defaults]
                if not validator.is_valid(example)
            ]
            wrong += [] if examples else [(where, "no examples")]
        assert wrong == []

    def test_either_all_choices_are_described_or_none(self, name: str) -> None:
        for node in nodes(SCHEMAS[name]):
            if "enumDescriptions" in node:
                assert len(node["enumDescriptions"]) == len(node["enum"]), node


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping in *node*."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from nodes(value)
    elif isinstance(node, list):
        for item in node:
            yield from nodes(item)


def fields(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every field of a schema and its definitions."""
    for holder, node in [("", schema), *schema["$defs"].items()]:
        for key, field in node.get("properties", {}).items():
            yield f"{holder}.{key}", field


@pytest.mark.parametrize("document", DOCUMENTS)
def test_an_effective_document_is_a_valid_file(document: dict[str, Any]) -> None:
    validator = jsonschema_rs.Draft202012Validator(SCHEMAS[gate.SOURCE])
    assert [error.message for error in validator.iter_errors(document)] == []


def test_every_scalar_can_be_an_expression_or_null() -> None:
    """Fields with free content are an exception."""
    validator = jsonschema_rs.Draft202012Validator(SCHEMAS[gate.SOURCE])
    for document in DOCUMENTS:
        for value in ("${{ parameters.x }}", None):
            whole = replaced(document["spec"], value)
            data = {"apiVersion": "paddlespec.io/v1", "kind": "PaddleJob", "spec": whole}
            assert [error.message for error in validator.iter_errors(data)] == []


def replaced(value: Any, scalar: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: member if key == "patches" else replaced(member, scalar)
            for key, member in value.items()
        }
    return [replaced(item, scalar) for item in value] if isinstance(value, list) else scalar
