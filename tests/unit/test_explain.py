"""`explain` and `schema`: the schema for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paddlespec import fields
from paddlespec.cli import learn
from paddlespec.cli.exits import Stop
from paddlespec.diagnostic import InvalidSpec
from paddlespec.explain import as_data, path_of, text, tree
from paddlespec.resources import bundled


def page(field: str) -> str:
    return text(path_of(field))


def test_a_page_says_what_a_field_takes() -> None:
    assert page("outputPolicy") == (
        "spec.outputPolicy  (text)\n"
        "\n"
        "What a run does when the output folder is not empty.\n"
        "\n"
        "Default: refuse\n"
        "\n"
        "Values:\n"
        "  refuse  The run fails before it starts.\n"
        "  reuse   The run writes beside what is there, to go on from a checkpoint.\n"
        "  clear   The run removes what is there.\n"
        "\n"
        "Example:\n"
        "  outputPolicy: refuse\n"
    )


def test_what_is_required_and_expected_is_said() -> None:
    assert page("metadata.name").startswith("metadata.name  (text)  required\n")
    assert "Expected: an absolute path without colons" in page("workdir")
    assert "Expected: 1 to 10000" in page("trainers.replicas")
    assert page("profiles.smoke.image").startswith("profiles.smoke.image  (text)\n")


def test_types_are_words() -> None:
    assert "(text or list of text)" in page("command")
    assert "(list of mappings)" in page("volumes")
    assert "(mapping of names to text)" in page("metadata.labels")


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
def test_a_field_may_be_named_in_several_ways(field: str, path: tuple[str, ...]) -> None:
    assert path_of(field) == path
    assert text(path)


def test_an_unknown_field_offers_the_nearest() -> None:
    with pytest.raises(InvalidSpec) as error:
        path_of("trainers.replica")
    [found] = error.value.diagnostics
    assert str(found) == "trainers.replica: error: no such field [unknown-path]"
    assert found.hint == 'did you mean "trainers.replicas"?'
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
    assert lines[:3] == ["volumes  <list>", "  name  <text>", "  mountPath  <text>"]
    assert tree(path_of("")).count("  volumes  <list>\n") == 1
    assert "    NAME  <text, true or false, number or mapping>\n" in tree(path_of("env")).replace(
        "  NAME", "    NAME"
    )


def test_programs_get_the_same_as_data() -> None:
    found = as_data(path_of("policy.whenChanged"))
    assert found["path"] == "spec.policy.whenChanged"
    assert found["default"] == "replace-finished"
    assert found["values"][0]["value"] == "refuse"
    assert as_data(path_of("scheduling"))["fields"][0]["path"] == "spec.scheduling.queue"
    whole = as_data(path_of(""), recursive=True)
    deep = json.dumps(whole)
    assert '"spec.trainers.resources.gpu"' in deep
    assert "fields" not in as_data(path_of(""))["fields"][0]


def test_the_commands_print(capsys: pytest.CaptureFixture[str]) -> None:
    assert learn.explain("mode") == 0
    assert capsys.readouterr().out == page("mode")
    assert learn.explain() == 0
    assert "apiVersion" in capsys.readouterr().out
    assert learn.explain("mode", output="json") == 0
    assert json.loads(capsys.readouterr().out) == as_data(path_of("mode"))
    with pytest.raises(Stop):
        learn.explain("mode", output="yaml")


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
    assert learn.schema(which) == 0
    assert capsys.readouterr().out.encode() == published
    assert learn.schema(which, str(tmp_path / "out.json")) == 0
    assert (tmp_path / "out.json").read_bytes() == published


def test_an_unknown_schema_is_refused() -> None:
    with pytest.raises(Stop, match='no schema is called "job"') as refused:
        learn.schema("job")
    assert refused.value.hint == "all names: paddlespec schema --list"
    with pytest.raises(Stop) as refused:
        learn.schema("output/job")
    assert refused.value.hint == 'did you mean "output/jobs"?'


def test_every_schema_that_is_listed_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert learn.schema(listed=True) == 0
    names = capsys.readouterr().out.splitlines()
    assert len(names) == len(set(names)) > 10
    for each in names:
        assert learn.schema(each) == 0
        assert json.loads(capsys.readouterr().out)["$id"].endswith(".v1.json")
