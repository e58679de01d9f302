"""`explain` and `schema`: the schema for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paddlespec.bundled import bundled
from paddlespec.cli.commands import explain, schema
from paddlespec.cli.shared.exits import Stop
from paddlespec.diagnostic import InvalidSpec
from paddlespec.spec import fields
from paddlespec.spec.explain import (
    as_data,
    path_of,
    text,
    tree,
)


def page(field: str) -> str:
    return text(path_of(field))


def test_a_page_describes_a_field() -> None:
    assert page("outputPolicy") == (
        "spec.outputPolicy  (string)\n"
        "\n"
        "What a run does if the output folder is not empty.\n"
        "\n"
        "Default: refuse\n"
        "\n"
        "Values:\n"
        "  refuse  The run fails before it starts.\n"
        "  reuse   The run keeps existing files, for example to resume from a checkpoint.\n"
        "  clear   The run deletes existing files.\n"
        "\n"
        "Example:\n"
        "  outputPolicy: refuse\n"
    )


def test_a_page_shows_required_fields_and_formats() -> None:
    assert page("metadata.name").startswith("metadata.name  (string)  required\n")
    assert "Format: an absolute path without colons" in page("workdir")
    assert "Format: 1 to 10000" in page("trainers.replicas")
    assert page("profiles.smoke.image").startswith("profiles.smoke.image  (string)\n")


def test_types_are_shown_as_words() -> None:
    assert "(string or list of strings)" in page("command")
    assert "(list of mappings)" in page("volumes")
    assert "(mapping of names to strings)" in page("metadata.labels")


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("", ()),
        ("spec", ("spec",)),
        ("trainers.resources", ("spec", "trainers", "resources")),
        ("spec.trainers:resources", ("spec", "trainers", "resources")),
        ("volumes.claim", ("spec", "volumes", "claim")),
        ("volumes[home].claim", ("spec", "volumes", "claim")),
        ("volumes[0].claim", ("spec", "volumes", "claim")),
        ("env.TOKEN.secret", ("spec", "env", "TOKEN", "secret")),
        ('metadata.labels."a.b/c"', ("metadata", "labels", "a.b/c")),
        ("profiles.smoke.mode", ("profiles", "smoke", "mode")),
    ],
)
def test_a_field_can_be_named_in_several_ways(field: str, path: tuple[str, ...]) -> None:
    assert path_of(field) == path
    assert text(path)


def test_an_unknown_field_suggests_a_similar_one() -> None:
    with pytest.raises(InvalidSpec) as error:
        path_of("trainers.replica")
    [fault] = error.value.diagnostics
    assert str(fault) == "trainers.replica: error: unknown field [unknown-path]"
    assert fault.hint == 'did you mean "trainers.replicas"?'
    for wrong in ("spec.image.name", "volumes.x", "metadata.nam"):
        with pytest.raises(InvalidSpec):
            path_of(wrong)


@pytest.mark.parametrize("field", ["", *fields.known(), "profiles.smoke.volumes"])
def test_every_field_has_a_page_of_80_columns_that_describes_it(field: str) -> None:
    lines = page(field).splitlines()
    assert lines[lines.index("") + 1]
    assert max(map(len, lines)) <= 80


def test_the_tree_names_every_field_once() -> None:
    lines = tree(path_of("volumes")).splitlines()
    assert lines[:3] == ["volumes  <list>", "  name  <string>", "  mountPath  <string>"]
    assert tree(path_of("")).count("\n    volumes  <list>\n") == 1
    assert "    NAME  <string, boolean, number or mapping>\n" in tree(path_of("env")).replace(
        "  NAME", "    NAME"
    )


def test_the_same_description_is_available_as_data() -> None:
    data = as_data(path_of("policy.whenChanged"))
    assert data["path"] == "spec.policy.whenChanged"
    assert data["default"] == "replace-finished"
    assert data["values"][0]["value"] == "refuse"
    assert as_data(path_of("scheduling"))["fields"][0]["path"] == "spec.scheduling.queue"
    whole = as_data(path_of(""), recursive=True)
    deep = json.dumps(whole)
    assert '"spec.trainers.resources.gpu"' in deep
    assert "fields" not in as_data(path_of(""))["fields"][0]


def test_the_commands_print_their_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.explain("mode") == 0
    assert capsys.readouterr().out == page("mode")
    assert explain.explain() == 0
    assert "apiVersion" in capsys.readouterr().out
    assert explain.explain("mode", output="json") == 0
    assert json.loads(capsys.readouterr().out) == as_data(path_of("mode"))
    with pytest.raises(Stop):
        explain.explain("mode", output="yaml")


@pytest.mark.parametrize(
    ("which", "name"),
    [
        ("source", "paddlejob.v1.json"),
        ("effective", "paddlejob.effective.v1.json"),
        ("project", "paddlespec.v1.json"),
        ("output/jobs", "output/jobs.v1.json"),
    ],
)
def test_a_schema_is_the_published_file_byte_for_byte(
    which: str, name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    published = Path(bundled("schemas", name)).read_bytes()
    assert schema.schema(which) == 0
    assert capsys.readouterr().out.encode() == published
    assert schema.schema(which, str(tmp_path / "out.json")) == 0
    assert (tmp_path / "out.json").read_bytes() == published


def test_an_unknown_schema_is_rejected() -> None:
    with pytest.raises(Stop, match='unknown schema "job"') as refused:
        schema.schema("job")
    assert refused.value.hint == "list all with: paddlespec schema --list"
    with pytest.raises(Stop) as refused:
        schema.schema("output/job")
    assert refused.value.hint == 'did you mean "output/jobs"?'


def test_every_listed_schema_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert schema.schema(listed=True) == 0
    names = capsys.readouterr().out.splitlines()
    assert len(names) == len(set(names)) > 10
    for name in names:
        assert schema.schema(name) == 0
        assert json.loads(capsys.readouterr().out)["$id"].endswith(".v1.json")


@pytest.mark.parametrize(
    ("field", "described"),
    [
        ("env.HOST_IP", "Environment variables of every replica."),
        ("pod.labels.team", "Labels of the pods, in addition to `metadata.labels`."),
        ("trainers.resources.extended.rdma/hca", "Other resources of nodes by name, such as"),
    ],
)
def test_an_entry_has_the_description_of_its_mapping(field: str, described: str) -> None:
    assert page(field).splitlines()[2].startswith(described)
