"""`--update`: one value addressed by its path, typed by the schema, and told by its option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from front import JOB, document, findings
from hypothesis import given
from hypothesis import strategies as st

from paddlespec import fields
from paddlespec.diagnostic import InvalidSpec
from paddlespec.update import apply, parse

if TYPE_CHECKING:
    from pathlib import Path as FilePath

    from paddlespec.document import Document

TEXT = f"""{JOB}\
  trainers:
    replicas: 4
    resources: {{cpu: 2}}
  env: {{TOKEN: {{secret: a, key: b}}, A: x}}
  setup: [one, two]
  volumes:
  - {{name: home, mountPath: /home, claim: c}}
  - {{name: tmp, mountPath: /tmp, emptyDir: {{}}}}
"""


def updated(*options: str) -> Document:
    found = document(TEXT)
    for option in options:
        found = apply(found, parse(option))
    return found


def value(option: str) -> Any:
    return parse(option).value


def path(option: str) -> tuple[str | int, ...]:
    return parse(option).path


def refusal(*options: str) -> str:
    with pytest.raises(InvalidSpec) as caught:
        updated(*options)
    (found,) = caught.value.diagnostics
    assert str(found.span) == f"--update {options[-1]}"
    hint = f" ({found.hint})" if found.hint else ""
    return f"{found.code}: {found.message}{hint}"


@pytest.mark.parametrize(
    "option",
    [
        "trainers.replicas=8",
        "spec.trainers.replicas=8",
        "trainers:replicas=8",
        'trainers."replicas"=8',
        '"trainers"."replicas"=8',
    ],
)
def test_ways_to_write_a_path(option: str) -> None:
    assert path(option) == ("spec", "trainers", "replicas")
    assert updated(option).at(("spec", "trainers", "replicas")) == 8


def test_other_paths() -> None:
    assert path("metadata.name=a") == ("metadata", "name")
    assert path('metadata.labels."a.b/c"=x') == ("metadata", "labels", "a.b/c")
    assert path('nodeSelector."a=b"-') == ("spec", "nodeSelector", "a=b")
    assert path("volumes[0].claim=x") == ("spec", "volumes", 0, "claim")
    assert path("volumes[home].claim=x") == ("spec", "volumes", "home", "claim")
    assert path("volumes.home.claim=x") == ("spec", "volumes", "home", "claim")
    assert path("trainers.affinity.podAffinity.x=1")[-2:] == ("podAffinity", "x")
    assert path("patches[0].patch.spec.a=1")[-3:] == ("patch", "spec", "a")
    assert path("patches[0].patch[1].op=add")[-2:] == (1, "op")


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("trainers.replicas=8", 8),
        ("image=1.10", "1.10"),
        ("image=010", "010"),
        ("image=a=b", "a=b"),
        ("image=", ""),
        ("image= a # b ", " a # b "),
        ("image=null", "null"),
        ("command=python x --a=b", "python x --a=b"),
        ("command=[python, 'x']", ["python", "x"]),
        ("setup+=a: b", "a: b"),
        ("setup=[a, b]", ["a", "b"]),
        ("env.A=10", "10"),
        ("env.A=yes", "yes"),
        ("env.B={secret: s, key: k}", {"secret": "s", "key": "k"}),
        ("scheduling.gang=true", True),
        ("trainers.resources.cpu=2", 2),
        ("trainers.resources.cpu=500m", "500m"),
        ("trainers.resources={cpu: 2}", {"cpu": 2}),
        ("trainers.replicas=${{ parameters.n }}", "${{ parameters.n }}"),
        ("policy.retries=null", None),
        ("parameters.p=10", 10),
        ("parameters.p=1.10", "1.10"),
        ("parameters.p=0.5", 0.5),
        ("parameters.p=010", "010"),
        ("parameters.p=true", True),
        ("parameters.p=yes", "yes"),
        ("parameters.p=1e400", "1e400"),
        ("parameters.p=", ""),
        ("parameters.p={a: b}", "{a: b}"),
        ("patches+={target: {kind: Job}, patch: {a: 1}}", {"target": {"kind": "Job"}, "patch": {"a": 1}}),
    ],
)  # fmt: skip
def test_a_value_is_typed_by_the_schema(option: str, expected: object) -> None:
    found = value(option)
    assert found == expected
    assert type(found) is type(expected)


def test_a_value_from_a_file(tmp_path: FilePath) -> None:
    (tmp_path / "one").write_text("team/train:1\n", encoding="utf-8")
    (tmp_path / "many").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "number").write_text("8\n", encoding="utf-8")
    (tmp_path / "latin").write_bytes(b"\xff")
    assert value(f"image=@{tmp_path}/one") == "team/train:1"
    assert value(f"command=@{tmp_path}/many") == "a\nb\n"
    assert value(f"trainers.replicas=@{tmp_path}/number") == 8
    assert value("image=\\@one") == "@one"
    assert refusal(f"image=@{tmp_path}/none").endswith("none: No such file or directory")
    assert (
        refusal(f"image=@{tmp_path}/latin") == f"file: cannot read {tmp_path}/latin: not UTF-8 text"
    )


def test_what_an_override_does() -> None:
    assert updated("setup+=three").at(("spec", "setup")) == ["one", "two", "three"]
    assert updated("setup[1]=b").at(("spec", "setup")) == ["one", "b"]
    assert updated("setup[0]-").at(("spec", "setup")) == ["two"]
    assert updated("teardown+=a", "teardown+=b").at(("spec", "teardown")) == ["a", "b"]
    assert updated("volumes[tmp].mountPath=/t").at(("spec", "volumes", 1, "mountPath")) == "/t"
    assert updated("volumes[home]-").at(("spec", "volumes", 0, "name")) == "tmp"
    assert updated("env.A-").data["spec"]["env"]["A"] is None
    assert updated("pservers.resources.gpu=1").at(("spec", "pservers")) == {"resources": {"gpu": 1}}
    assert (
        updated("trainers.replicas=5", "trainers.replicas=6").at(("spec", "trainers", "replicas"))
        == 6
    )


def test_a_union_of_another_kind_is_replaced() -> None:
    assert updated("env.TOKEN.value=x").at(("spec", "env", "TOKEN")) == {"value": "x"}
    assert updated("env.TOKEN.secret=x").at(("spec", "env", "TOKEN")) == {"secret": "x", "key": "b"}
    assert updated("volumes[home].nfs.server=n").at(("spec", "volumes", 0)) == {
        "name": "home",
        "mountPath": "/home",
        "nfs": {"server": "n"},
    }


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("trainers.replica=8", 'unknown-path: unknown path "trainers.replica" (did you mean "trainers.replicas"?)'),
        ("trainer.replicas=8", 'unknown-path: unknown path "trainer.replicas" (did you mean "trainers.replicas"?)'),
        ("replicas=8", 'unknown-path: unknown path "replicas" (did you mean "trainers.replicas"?)'),
        ("mountPath=/x", 'unknown-path: unknown path "mountPath" (did you mean "volumes[0].mountPath"?)'),
        ("volumes[home].clam=x", 'unknown-path: unknown path "volumes.home.clam" (did you mean "volumes.home.claim"?)'),
        ("volumes[1].clam=x", 'unknown-path: unknown path "volumes[1].clam" (did you mean "volumes[1].claim"?)'),
        ("cpu=8", 'unknown-path: unknown path "cpu" (did you mean "trainers.resources.cpu"?)'),
        ("metadata.nam=x", 'unknown-path: unknown path "metadata.nam" (did you mean "metadata.name"?)'),
        ("image[0]=x", 'unknown-path: unknown path "image[0]" (did you mean "image"?)'),
        ("trainers.replicas.x=1", 'unknown-path: unknown path "trainers.replicas.x" (did you mean "trainers.replicas"?)'),
        ("xyz.uvw=1", 'unknown-path: unknown path "xyz.uvw" (`paddlespec explain` lists the fields)'),
        ("trainers.replica-", 'unknown-path: unknown path "trainers.replica" (did you mean "trainers.replicas"?)'),
        ("env.B-", "unknown-path: spec.env.B is not set"),
        ("pservers.replicas-", "unknown-path: spec.pservers.replicas is not set"),
        ("volumes[hom].claim=x", 'unknown-path: nothing in spec.volumes is named "hom" (there is home, tmp)'),
        ("volumes[٣].claim=x", 'unknown-path: nothing in spec.volumes is named "٣" (there is home, tmp)'),
        ("volumes[2].claim=x", "unknown-path: the list has 2 items, the first is [0]"),
        ("teardown[0]=x", "unknown-path: spec.teardown holds no list"),
        ("image+=x", "type: spec.image is not a list"),
        ("trainers.replicas=", "update: the value is empty (spec.trainers.replicas- removes the field)"),
        ("trainers.resources={cpu", "syntax: the value is not valid YAML: did not find expected ',' or '}'"),
        ("trainers.replicas=1\n--- 2", "syntax: the value is more than one YAML document"),
        ("trainers.replicas=.inf", "syntax: the value is not valid YAML: infinity and not-a-number have no meaning here"),
        ("profiles.smoke.image=x", "update: a profile cannot be overridden (choose one with --profile, and override the field itself)"),
        ("trainers.replicas", "update: expected path=value, path+=value or path-"),
        ("", "update: expected path=value, path+=value or path-"),
        ('env."A=b', "update: expected path=value, path+=value or path-"),
        ("volumes[a=b", "update: expected path=value, path+=value or path-"),
        ("=x", "update: the path is empty"),
        ("-", "update: the path is empty"),
        ("a..b=1", 'update: "a..b" is not a path'),
        (".a=1", 'update: ".a" is not a path'),
        ("a.=1", 'update: "a." is not a path'),
        ("[0]=1", 'update: "[0]" is not a path'),
        ("volumes[].a=1", 'update: "volumes[].a" is not a path'),
        ('a"b"=1', 'update: "a"b"" is not a path'),
    ],
)  # fmt: skip
def test_what_is_refused(option: str, expected: str) -> None:
    assert refusal(option) == expected


def test_text_that_is_no_text_is_refused() -> None:
    for option in ("env.A=\udcff", "env.\udcff=a", "env.A=\0"):
        with pytest.raises(InvalidSpec) as caught:
            parse(option)
        str(caught.value).encode()


def test_a_value_that_does_not_fit_is_told_by_its_option() -> None:
    assert [str(each) for each in findings(TEXT, ["trainers.replicas=four"])] == [
        (
            "--update trainers.replicas=four: error: spec.trainers.replicas: "
            'expected an integer, found the text "four" [type]'
        )
    ]
    assert findings(TEXT, ["trainers.replicas=8", "env.A-", "volumes[tmp]-"]) == []


def test_removing_what_is_required_is_told() -> None:
    assert [each.code for each in findings(TEXT, ["image-"])] == ["missing-key"]


def test_what_was_not_overridden_keeps_its_place() -> None:
    before, after = (
        document(TEXT),
        updated("trainers.replicas=8", "volumes[home].claim=d", "env.C=x"),
    )
    kept: list[tuple[str | int, ...]] = [
        ("spec",),
        ("spec", "trainers"),
        ("spec", "trainers", "resources", "cpu"),
        ("spec", "volumes", 0),
        ("spec", "volumes", 0, "name"),
        ("spec", "volumes", 1, "name"),
        ("spec", "env"),
        ("spec", "env", "TOKEN", "secret"),
    ]
    for each in kept:
        assert after.locate(each) == before.locate(each)
        assert after.locate_key(each) == before.locate_key(each)
    assert str(after.locate(("spec", "trainers", "replicas"))) == "--update trainers.replicas=8"
    assert str(after.locate(("spec", "volumes", 0, "claim"))) == "--update volumes[home].claim=d"
    assert str(after.locate_key(("spec", "env", "C"))) == "--update env.C=x"
    assert before.data == document(TEXT).data


PIECES = st.sampled_from(
    ("trainers", "replicas", "env", "A", "volumes", "home", ".", ":", "[", "]", "0", "9" * 5000, '"', "=",
     "+", "-", "@", "/", "\\", "\0", "\udcff", "x", "{", "}", "é", " ", "\n", "setup", "patches", "1", "٣")
)  # fmt: skip


@given(st.one_of(st.text(max_size=20), st.lists(PIECES, max_size=8).map("".join)))
def test_an_option_is_taken_or_refused(option: str) -> None:
    try:
        found = updated(option)
    except InvalidSpec as error:
        str(error).encode()
    else:
        assert isinstance(found.data, dict)


def test_every_misspelt_field_is_offered_in_a_way_that_can_be_given() -> None:
    for field in fields.known():
        if "profiles" not in field:
            said = refusal(f"{field}s_=null")
            offered = said.partition("did you mean ")[2].strip('"?)')
            if offered:
                parse(f"{offered}=null")
