"""`--update`: changes one value by its path, typed by the schema, with errors at the option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from front import JOB, document, findings
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.diagnostic import InvalidSpec
from paddlespec.spec import fields
from paddlespec.spec.update import apply, parse

if TYPE_CHECKING:
    from pathlib import Path as FilePath

    from paddlespec.spec.document import Document

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
    base = document(TEXT)
    for option in options:
        base = apply(base, parse(option))
    return base


def value(option: str) -> Any:
    return parse(option).value


def path(option: str) -> tuple[str | int, ...]:
    return parse(option).path


def refusal(*options: str) -> str:
    with pytest.raises(InvalidSpec) as caught:
        updated(*options)
    (fault,) = caught.value.diagnostics
    assert str(fault.span) == f"--update {options[-1]}"
    hint = f" ({fault.hint})" if fault.hint else ""
    return f"{fault.code}: {fault.message}{hint}"


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
def test_notations_of_a_path(option: str) -> None:
    assert path(option) == ("spec", "trainers", "replicas")
    assert updated(option).at(("spec", "trainers", "replicas")) == 8


def test_paths_outside_the_spec() -> None:
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
    result = value(option)
    assert result == expected
    assert type(result) is type(expected)


def test_null_is_not_the_text_null(tmp_path: FilePath) -> None:
    (tmp_path / "null").write_text("null", encoding="utf-8")
    with pytest.raises(InvalidSpec) as caught:
        parse("image=null")
    (fault,) = caught.value.diagnostics
    assert fault.message == "image is text, which cannot be null"
    assert "use image- to remove it" in str(fault.hint)
    assert value(f"image=@{tmp_path}/null") == "null"


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


def test_an_override_changes_the_document() -> None:
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
        ("xyz.uvw=1", 'unknown-path: unknown path "xyz.uvw" (list the fields with `paddlespec explain`)'),
        ("trainers.replica-", 'unknown-path: unknown path "trainers.replica" (did you mean "trainers.replicas"?)'),
        ("env.B-", "unknown-path: spec.env.B is not set"),
        ("pservers.replicas-", "unknown-path: spec.pservers.replicas is not set"),
        ("volumes[hom].claim=x", 'unknown-path: no item of spec.volumes is named "hom" (use one of home, tmp)'),
        ("volumes[٣].claim=x", 'unknown-path: no item of spec.volumes is named "٣" (use one of home, tmp)'),
        ("volumes[2].claim=x", "unknown-path: index [2] is out of range: the list has 2 items"),
        ("teardown[0]=x", "unknown-path: spec.teardown has no items (append one: teardown+=ITEM)"),
        ("sidecars[tb].image=x", "unknown-path: spec.sidecars has no items (append one: sidecars+=ITEM)"),
        ("hostNetwork=true", 'unknown-path: unknown path "hostNetwork" (use `network: {host: true}` of the spec)'),
        ("trainers.resources.requests.memory=1Gi", ('unknown-path: unknown path "trainers.resources.requests.memory" '
         "(remove this level; `cpu`, `memory` and `ephemeralStorage` are requests)")),
        ("pod.annotations.example.com/net=a", ('unknown-path: unknown path "pod.annotations.example."com/net"" '
         '(quote the key: pod.annotations."example.com/net")')),
        ("trainers.resources.extended.a.b/c=1", ('unknown-path: unknown path "trainers.resources.extended.a."b/c"" '
         '(quote the key: trainers.resources.extended."a.b/c")')),
        ("image+=x", "type: spec.image is not a list"),
        ("trainers.replicas=", "update: the value is empty (use spec.trainers.replicas- to remove the field)"),
        ("trainers.resources={cpu", "syntax: the value is not valid YAML: did not find expected ',' or '}'"),
        ("trainers.replicas=1\n--- 2", "syntax: the value contains several YAML documents"),
        ("trainers.replicas=.inf", "syntax: the value is not valid YAML: infinity and not-a-number are not allowed"),
        ("profiles.smoke.image=x", "update: fields of a profile cannot be overridden (select it with --profile, and override the field of the spec)"),
        ("trainers.replicas", "update: expected path=value, path+=value or path-"),
        ("", "update: expected path=value, path+=value or path-"),
        ('env."A=b', "update: expected path=value, path+=value or path-"),
        ("volumes[a=b", "update: expected path=value, path+=value or path-"),
        ("=x", "update: the path is empty"),
        ("-", "update: the path is empty"),
        ("a..b=1", 'update: invalid path "a..b"'),
        (".a=1", 'update: invalid path ".a"'),
        ("a.=1", 'update: invalid path "a."'),
        ("[0]=1", 'update: invalid path "[0]"'),
        ("volumes[].a=1", 'update: invalid path "volumes[].a"'),
        ('a"b"=1', 'update: invalid path "a"b""'),
    ],
)  # fmt: skip
def test_invalid_overrides_are_rejected(option: str, expected: str) -> None:
    assert refusal(option) == expected


def test_invalid_text_is_rejected() -> None:
    for option in ("env.A=\udcff", "env.\udcff=a", "env.A=\0"):
        with pytest.raises(InvalidSpec) as caught:
            parse(option)
        str(caught.value).encode()


def test_an_invalid_value_is_reported_at_its_option() -> None:
    assert [str(finding) for finding in findings(TEXT, ["trainers.replicas=four"])] == [
        (
            "--update trainers.replicas=four: error: invalid value for spec.trainers.replicas: "
            'expected an integer, got "four" [type]'
        )
    ]
    assert findings(TEXT, ["trainers.replicas=8", "env.A-", "volumes[tmp]-"]) == []


def test_removing_a_required_field_is_reported() -> None:
    assert [finding.code for finding in findings(TEXT, ["image-"])] == ["missing-key"]


def test_other_values_keep_their_position() -> None:
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
    for path in kept:
        assert after.locate(path) == before.locate(path)
        assert after.locate_key(path) == before.locate_key(path)
    assert str(after.locate(("spec", "trainers", "replicas"))) == "--update trainers.replicas=8"
    assert str(after.locate(("spec", "volumes", 0, "claim"))) == "--update volumes[home].claim=d"
    assert str(after.locate_key(("spec", "env", "C"))) == "--update env.C=x"
    assert before.data == document(TEXT).data


PIECES = st.sampled_from(
    ("trainers", "replicas", "env", "A", "volumes", "home", ".", ":", "[", "]", "0", "9" * 5000, '"', "=",
     "+", "-", "@", "/", "\\", "\0", "\udcff", "x", "{", "}", "é", " ", "\n", "setup", "patches", "1", "٣")
)  # fmt: skip


@given(st.one_of(st.text(max_size=20), st.lists(PIECES, max_size=8).map("".join)))
def test_an_option_is_applied_or_rejected(option: str) -> None:
    try:
        result = updated(option)
    except InvalidSpec as error:
        str(error).encode()
    else:
        assert isinstance(result.data, dict)


def test_suggestions_can_be_used_as_options() -> None:
    for field in fields.known():
        if "profiles" not in field:
            message = refusal(f"{field}s_=null")
            offered = message.partition("did you mean ")[2].strip('"?)')
            if offered:
                parse(f"{offered}-")


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ('env.X="2"', "2"),
        ('parameters.tag="1"', "1"),
        ("parameters.tag=1", 1),
        ('env.X="a" "b"', '"a" "b"'),
        ('command="/opt/a b/run"', '"/opt/a b/run"'),
    ],
)
def test_quotes_make_text_where_a_number_is_allowed(option: str, expected: object) -> None:
    assert value(option) == expected
