"""Layers: merging several files into one spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from front import document

from paddlespec.spec.document import Document, remove, walk
from paddlespec.spec.layer import merge, settle

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path

NAMES = ("defaults", "spec", "overlay", "profile")


def layered(*specs: str) -> Document:
    """Return the layers of a spec, lowest first, with tombstones."""
    return merge(
        document(f"spec: {{{spec}}}", f"{name}.yaml", name) for name, spec in zip(NAMES, specs)
    )


def spec(*specs: str) -> Any:
    return settle(layered(*specs)).data["spec"]


CASES: dict[str, tuple[list[str], Any]] = {
    "maps merge by key": (
        ["trainers: {replicas: 1, resources: {cpu: 1}}", "trainers: {resources: {gpu: 2}}"],
        {"trainers": {"replicas": 1, "resources": {"cpu": 1, "gpu": 2}}},
    ),
    "the last word wins": (["image: a", "image: b", "image: c"], {"image": "c"}),
    "a scalar replaces a mapping": (["env: {A: {secret: s, key: k}}", "env: {A: x}"], {"env": {"A": "x"}}),
    "a mapping replaces a scalar": (
        ["trainers: {resources: 1}", "trainers: {resources: {cpu: 1}}"],
        {"trainers": {"resources": {"cpu": 1}}},
    ),
    "a tombstone removes": (["image: a, target: b", "image: null"], {"target": "b"}),
    "what follows a tombstone starts anew": (
        ["env: {A: 1}", "env: null", "env: {B: 2}"], {"env": {"B": 2}},
    ),
    "null is a parameter without a value": (
        ["parameters: {a: 1, b: 2}", "parameters: {a: null}"], {"parameters": {"a": None, "b": 2}},
    ),
    "lists replace": (["setup: [a, b]", "setup: [c]"], {"setup": ["c"]}),
    "an empty list clears": (["volumes: [{name: a, claim: c}]", "volumes: []"], {"volumes": []}),
    "tolerations replace": (
        ["trainers: {tolerations: [{key: a}]}", "trainers: {tolerations: [{key: b}]}"],
        {"trainers": {"tolerations": [{"key": "b"}]}},
    ),
    "named things merge by name": (
        ["volumes: [{name: a, claim: x}, {name: b, claim: y}]",
         "volumes: [{name: b, readOnly: true}, {name: c, claim: z}]"],
        {"volumes": [
            {"name": "a", "claim": "x"},
            {"name": "b", "claim": "y", "readOnly": True},
            {"name": "c", "claim": "z"},
        ]},
    ),
    "a name that is there twice is no name": (
        ["volumes: [{name: a, claim: x}, {name: a, claim: y}]", "volumes: [{name: a, claim: z}]"],
        {"volumes": [{"name": "a", "claim": "z"}]},
    ),
    "patches append": (
        ["patches: [{target: {kind: Job}, patch: {a: null}}]", "patches: [{target: {}, patch: {b: 1}}]"],
        {"patches": [
            {"target": {"kind": "Job"}, "patch": {"a": None}}, {"target": {}, "patch": {"b": 1}},
        ]},
    ),
    "patches may be dropped": (["patches: [{patch: {}}]", "patches: null", "patches: []"], {"patches": []}),
    "a volume's source is replaced whole": (
        ["volumes: [{name: a, mountPath: /a, claim: {size: 1, access: x}}]",
         "volumes: [{name: a, nfs: {server: s}}]"],
        {"volumes": [{"name": "a", "mountPath": "/a", "nfs": {"server": "s"}}]},
    ),
    "a source of the same kind merges": (
        ["volumes: [{name: a, nfs: {server: s, path: /p}}]", "volumes: [{name: a, nfs: {path: /q}}]"],
        {"volumes": [{"name": "a", "nfs": {"server": "s", "path": "/q"}}]},
    ),
    "a source that comes back starts anew": (
        ["volumes: [{name: a, nfs: {server: s, path: /p}}]", "volumes: [{name: a, claim: c}]",
         "volumes: [{name: a, nfs: {path: /q}}]"],
        {"volumes": [{"name": "a", "nfs": {"path": "/q"}}]},
    ),
    "a source may be removed by name for another": (
        ["volumes: [{name: a, claim: c}]", "volumes: [{name: a, claim: null, nfs: {server: s}}]",
         "volumes: [{name: a, nfs: {path: /q}}]"],
        {"volumes": [{"name": "a", "nfs": {"server": "s", "path": "/q"}}]},
    ),
    "a reference of another kind is replaced whole": (
        ["env: {T: {secret: s, key: k}}", "env: {T: {configMap: m}}"], {"env": {"T": {"configMap": "m"}}},
    ),
    "a reference of the same kind merges": (
        ["env: {T: {secret: s, key: k}}", "env: {T: {secret: t}}"],
        {"env": {"T": {"secret": "t", "key": "k"}}},
    ),
    "a key belongs to the reference below it": (
        ["env: {T: {configMap: m}}", "env: {T: {key: k}}", "env: {T: {secret: s}}"],
        {"env": {"T": {"secret": "s"}}},
    ),
    "a value may become sensitive": (
        ["env: {T: {value: x}}", "env: {T: {sensitive: true}}"],
        {"env": {"T": {"value": "x", "sensitive": True}}},
    ),
    "variables of a role are unions too": (
        ["trainers: {env: {T: {secret: s, key: k}}}", "trainers: {env: {T: {value: v}}}"],
        {"trainers": {"env": {"T": {"value": "v"}}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_merging_two_layers(name: str) -> None:
    layers, expected = CASES[name]
    assert spec(*layers) == expected


def test_profiles_merge_like_specs() -> None:
    low = document("profiles: {p: {volumes: [{name: a, claim: c}], patches: [{patch: 1}]}}")
    high = document("profiles: {p: {volumes: [{name: a, hostPath: /h}], patches: [{patch: 2}]}}")
    assert merge([low, high]).data["profiles"]["p"] == {
        "volumes": [{"name": "a", "hostPath": "/h"}],
        "patches": [{"patch": 1}, {"patch": 2}],
    }


def test_every_value_has_the_origin_of_its_layer() -> None:
    merged = layered(
        "image: a, trainers: {replicas: 1, env: {A: x}}",
        "trainers: {replicas: 2}, volumes: [{name: v, claim: c}]",
        "trainers: {env: {B: y}}, volumes: [{name: v, readOnly: true}]",
    )
    assert {path[1:]: merged.origin(path).layer for path, _ in walk(merged.data)} == {
        ("image",): "defaults",
        ("trainers", "replicas"): "spec",
        ("trainers", "env", "A"): "defaults",
        ("trainers", "env", "B"): "overlay",
        ("volumes", 0, "name"): "overlay",
        ("volumes", 0, "claim"): "spec",
        ("volumes", 0, "readOnly"): "overlay",
    }
    assert str(merged.locate(("spec", "trainers", "env", "A"))) == "defaults.yaml:1:51"
    assert str(merged.locate(("spec", "volumes", 0, "claim"))) == "spec.yaml:1:60"


def test_a_missing_value_is_located_at_the_last_definition_of_its_mapping() -> None:
    merged = layered("trainers: {replicas: 1}", "trainers: {env: {A: x}}")
    assert str(merged.locate(("spec", "trainers", "image"))) == "spec.yaml:1:8"
    assert str(merged.locate_key(("spec", "missing", "image"))) == "spec.yaml:1:1"


def test_tombstones_are_kept_until_all_layers_are_merged() -> None:
    merged = layered("image: a", "image: null")
    assert merged.data == {"spec": {"image": None}}
    assert str(merged.locate(("spec", "image"))) == "spec.yaml:1:15"
    assert settle(merged).data == {"spec": {}}


def test_lists_keep_their_null_items() -> None:
    assert spec("setup: [a, null]", "image: null") == {"setup": ["a", None]}


def test_a_document_can_be_moved_and_renamed() -> None:
    moved = document("trainers: {replicas: 1}", "defaults.yaml").under("spec").labelled("defaults")
    path = ("spec", "trainers", "replicas")
    assert moved.at(path) == 1
    assert moved.origin(path).layer == "defaults"
    assert str(moved.locate(path)) == "defaults.yaml:1:22"
    part = moved.part("spec", "trainers")
    assert part is not None
    assert part.data == {"replicas": 1}
    assert moved.part("spec", "nothing") is None


def test_looking_up_missing_values() -> None:
    read = document("a: [1, {b: 2}]\nc: text\n")
    assert read.at(("a", 1, "b")) == 2
    paths: list[Path] = [("a", 2), ("a", "b"), ("c", 0, "x"), ("c", "d"), ("x", "y")]
    assert [read.at(path) for path in paths] == [None] * len(paths)


def test_layers_with_missing_parts_are_merged() -> None:
    before = {"a": [1, 2, {"b": 3}], "c": 4}
    assert remove(before, {("a", 0), ("a", 2, "b"), ("c",)}) == {"a": [2, {}]}
    assert before == {"a": [1, 2, {"b": 3}], "c": 4}
    assert remove(before, set()) is before


PARTS = ("{secret: s, key: k}", "{secret: t}", "{secret: null}", "{key: l}", "{configMap: m}",
         "{value: v}", "{value: null, key: n}", "{sensitive: true}", "{secret: null, value: w}",
         "{configMap: m, key: o}", "x", "null")  # fmt: skip
SOURCES = ("{claim: c}", "{claim: {size: 1}}", "{claim: {access: x}}", "{claim: null}", "{nfs: {path: p}}",
           "{nfs: {server: s}}", "{nfs: null, claim: d}", "{readOnly: true}", "{mountPath: m, secret: s}")  # fmt: skip


@pytest.mark.parametrize("low", range(len(PARTS)))
def test_merging_variables_is_associative(low: int) -> None:
    layers = [document(f"spec: {{env: {{T: {part}}}}}") for part in PARTS]
    grouped_alike(layers[low], layers)


@pytest.mark.parametrize("low", range(len(SOURCES)))
def test_merging_volumes_is_associative(low: int) -> None:
    layers = [document(f"spec: {{volumes: [{{name: a, {source[1:]}]}}") for source in SOURCES]
    grouped_alike(layers[low], layers)


def grouped_alike(low: Document, layers: list[Document]) -> None:
    for middle in layers:
        for high in layers:
            left = merge([merge([low, middle]), high])
            right = merge([low, merge([middle, high])])
            assert left.data == right.data
            assert settle(left).data == settle(right).data
