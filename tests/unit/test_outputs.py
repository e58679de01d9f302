"""
What commands print with `-o json`, against the schemas that are published for it.

Commands that need a cluster or a process are looked at wherever a test runs them: see
`outputs.check`, which tests/cluster, tests/process and tests/docs call.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from outputs import PAGE, ROOT, SCHEMAS, conforms, schema_of, table, values

from paddlespec.change import plan
from paddlespec.change.diff import (
    Change,
    Comparison,
    Effect,
    Operation,
    Row,
)
from paddlespec.cli.app import command as command_line
from paddlespec.cli.commands.config.check import Row as Check
from paddlespec.diagnostic import Diagnostic, Severity, Span
from paddlespec.logs.line import Line, Source
from paddlespec.logs.show import Json
from paddlespec.report import changes, machine, status
from paddlespec.report.jobs import job_data, worker_data
from paddlespec.report.runs import listed, one
from paddlespec.runs.history import (
    History,
    Provenance,
    Recorded,
    RunRecord,
    State,
)
from paddlespec.runs.state import (
    Condition,
    JobState,
    ObjectEvent,
    RoleState,
    Stage,
    Status,
    Worker,
    WorkerState,
)
from paddlespec.shapes import all_schemas
from paddlespec.spec import explain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import Enum

NAMES = sorted(each.name for each in SCHEMAS.iterdir())
AT = "2026-01-31T11:00:00Z"
ROLES = (RoleState("trainers", 2, 1, 0, 1, "Unschedulable"), RoleState("pservers", 1))
SOURCE = Provenance("alice", "0123", dirty=True, ci="https://ci.example.org/1", file="job.yaml")
RUNS = [
    RunRecord(1, State.intended, Provenance("alice")),
    *(RunRecord(2, each, SOURCE, "ab", "cd", "u", AT, AT) for each in State),
]
JOBS = [
    JobState("fit", "ads", "kubernetes", Stage.pending),
    *(
        JobState(
            "fit", "ads", "local", each, "ps", ROLES, "why", "q", AT, AT, 3, "alice", {"a": ""}
        )
        for each in Stage
    ),
]
WORKERS = [
    Worker("fit-0", "trainers", None, WorkerState.pending),
    *(
        Worker("fit-0", "trainers", 0, each, True, "Why", "n", "a", 1, AT, AT, 137, "why")
        for each in WorkerState
    ),
]


def read(name: str) -> Any:
    return json.loads((SCHEMAS / name).read_text(encoding="utf-8"))


def parts(node: Any) -> Iterator[dict[str, Any]]:
    """Every part of a schema that says what a value is."""
    if isinstance(node, list):
        for each in node:
            yield from parts(each)
    elif isinstance(node, dict):
        yield node
        for key, value in node.items():
            if key in ("properties", "$defs"):
                yield from parts([*value.values()])
            elif key in ("items", "anyOf", "additionalProperties"):
                yield from parts(value)


def test_the_published_schemas_are_made_of_the_shapes() -> None:
    made = {f"{name}.v1.json": schema for name, schema in all_schemas().items()}
    assert {name: read(name) for name in NAMES} == made, "make schemas"


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_and_says_what_everything_is(name: str) -> None:
    schema = read(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"https://paddlespec.io/schemas/output/{name}"
    for part in parts(schema):
        for key, value in part.get("properties", {}).items():
            assert value.get("description", "").endswith("."), key
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert part["description"]
        if "enumDescriptions" in part:
            assert len(part["enumDescriptions"]) == len(part["enum"])


@pytest.mark.parametrize(
    ("name", "where", "choices"),
    [
        ("jobs", "Job state", Stage),
        ("status", " state", Stage),
        ("workers", "Worker state", WorkerState),
        ("history", "Run state", State),
        ("validate", "Finding severity", Severity),
        ("diff", "ObjectChange operation", Operation),
        ("diff", "FieldChange effect", Effect),
        ("plan", "PlannedObject operation", Operation),
    ],
)
def test_a_closed_set_is_what_the_code_knows(name: str, where: str, choices: type[Enum]) -> None:
    schema = read(f"{name}.v1.json")
    holder, _, key = where.partition(" ")
    found = (schema["$defs"][holder] if holder else schema)["properties"][key]
    assert found["enum"] == [each.value for each in choices]


def commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The commands that have `-o json`."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))
        for each in command.params:
            if "--output" in each.opts and "json" in (each.metavar or ""):
                yield (*words, name)


def test_every_command_with_json_is_on_the_page_and_no_other() -> None:
    root = command_line()
    listed = {
        tuple(word for word in row[: row.index("-o")] if not word.startswith("-"))
        for row in table()
        if "-o" in row
    }
    assert set(commands(root)) == listed


def test_every_schema_is_on_the_page_and_every_link_leads_to_one() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in NAMES:
        word = name.removesuffix(".v1.json")
        assert f"[`output/{word}`](../schemas/output/{name})" in text
    for name in filter(None, table().values()):
        assert name == "effective" or f"{name}.v1.json" in {f"output/{each}" for each in NAMES}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("get jobs -a -o json", "output/jobs"),
        ("get history fit -o json", "output/history"),
        ("get history fit --run 2 -o json", "output/run"),
        ("config view --datacenter x -o json --show-origin", "output/config-view-origins"),
        ("render examples -o json", ""),
        ("validate job.yaml --output json", "output/validate"),
        ("get jobs -o yaml", None),
        ("get jobs", None),
    ],
)
def test_the_schema_of_a_call(command: str, name: str | None) -> None:
    assert schema_of(command.split()) == name


def test_a_value_that_is_not_as_its_schema_says_is_refused() -> None:
    good: Any = {"job": "fit", "workers": [worker_data(WORKERS[-1])]}
    conforms("output/workers", good)
    for change in ({"state": "dead"}, {"more": 1}, {"started": "today"}, {"rank": "0"}):
        bad = {"job": "fit", "workers": [{**good["workers"][0], **change}]}
        with pytest.raises(AssertionError, match="output/workers"):
            conforms("output/workers", bad)
    del good["workers"][0]["node"]
    with pytest.raises(AssertionError, match="node"):
        conforms("output/workers", good)


def test_jobs_and_workers() -> None:
    conforms("output/jobs", {"jobs": [job_data(each) for each in JOBS]})
    conforms("output/workers", {"job": "fit", "workers": [worker_data(each) for each in WORKERS]})


@pytest.mark.parametrize(
    "found",
    [
        *map(Status, JOBS),
        Status(
            JOBS[-1],
            RUNS[-1],
            tuple(WORKERS),
            (Condition("Job/fit", "Complete"), Condition("Job/fit", "Failed", AT, "Why")),
            (ObjectEvent(None, "Pod/x", "Why"), ObjectEvent(AT, "Pod/x", "Why", "text", 3, True)),
            "trainer-0 failed",
        ),
    ],
    ids=lambda found: found.job.stage.value,
)
def test_status(found: Status) -> None:
    conforms("output/status", status.data(found, status.next_commands(found)))


def test_history() -> None:
    jobs = [Recorded("ads", "fit", History(tuple(RUNS))), Recorded("ads", "new", History())]
    conforms("output/history", listed(jobs))
    for run, spec in product(RUNS, [None, "kind: PaddleJob\n", "{"]):
        conforms("output/run", one(jobs[0], run._replace(spec=spec)))


def test_findings() -> None:
    spans = [Span("-u x=1"), Span("job.yaml", 1, 2, 3)]
    found = [
        Diagnostic("code", "message", *rest)
        for rest in product(spans, [(), ("spec", "volumes", 0)], [None, "hint"], Severity)
    ]
    for some in ([], found):
        conforms("output/validate", json.loads(machine.diagnostics(some)))


@pytest.mark.parametrize("recursive", [False, True])
def test_fields(recursive: bool) -> None:
    def names(field: Any) -> Iterator[str]:
        yield field["path"]
        for each in field.get("fields", ()):
            yield from names(each)

    for each in names(explain.as_data((), recursive=True)):
        path = explain.path_of(each)
        conforms("output/explain", explain.as_data(path, recursive=recursive))


@pytest.mark.parametrize("file", sorted(Path(ROOT, "tests/golden/changes").glob("*.json")), ids=str)
def test_differences_of_whole_jobs(file: Path) -> None:
    conforms("output/diff", json.loads(file.read_text(encoding="utf-8")))


def manifest(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "fit"}, "spec": spec}


CHANGES = {
    Operation.keep: Change(manifest(), manifest()),
    Operation.create: Change(None, manifest(a=1)),
    Operation.change: Change(
        manifest(activeDeadlineSeconds=1, ttlSecondsAfterFinished=None),
        manifest(activeDeadlineSeconds=2, suspend=None),
    ),
    Operation.replace: Change(manifest(completionMode="a"), manifest(completionMode="b")),
    Operation.delete: Change(manifest(), None),
}


def test_differences_of_every_kind() -> None:
    rows = [Row(change, problem) for change in CHANGES.values() for problem in (None, "why")]
    found = [
        Comparison("fit", None, "x", []),
        Comparison("fit", "ads", "x", rows, ("note",), "why"),
    ]
    data = json.loads(changes.render("json", found))
    conforms("output/diff", data)
    shown = data["jobs"][1]["objects"]
    assert {each["operation"] for each in shown} == {each.value for each in Operation}
    keys = {frozenset(field) for each in shown for field in each["fields"]}
    assert len(keys) == 3, "a field that comes, one that goes and one that changes"


def test_plans() -> None:
    call = {
        **{key: ["x"] for key in ("paths", "overlay", "update", "agreed", "withheld")},
        **dict.fromkeys(("profile", "target", "datacenter", "namespace", "templates"), None),
        "folder": ".",
        "repositoryFolder": None,
    }
    bases: list[Any] = [
        None,
        {
            "server": "https://x",
            "step": "replace",
            "run": "1 (u)",
            "objects": {"Job/fit": {"uid": "u", "generation": 2}},
        },
    ]
    jobs = [
        plan.of(Comparison("fit", "ads", "x", [Row(change)], basis=basis))
        for change, basis in product(CHANGES.values(), bases)
    ]
    conforms("output/plan", json.loads(plan.dump(plan.Plan(tuple(jobs), call))))


def test_lines_of_logs() -> None:
    source = Source("trainers", 0, "fit-trainer-0")
    lines = [
        Line(time, source, text, time, ended)
        for time, text, ended in product([AT.encode(), b""], [b"x", b"\xff"], [True, False])
    ]
    found = list(values(Json().of(lines).decode()))
    assert len(found) == len(lines)
    for each in found:
        conforms("output/logs", each)


@pytest.mark.parametrize("state", ["ok", "missing", "absent", "unknown"])
def test_checks_of_a_datacenter(state: Any) -> None:
    row = Check("queue", "ads", state)._asdict()
    conforms("output/config-check", {"datacenter": None, "checks": [row]})
