"""The laws of layers, over documents with everything that layers treat in a way of its own."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paddlespec import source
from paddlespec.document import Document, Place, walk
from paddlespec.layer import merge, settle
from paddlespec.update import Update, apply

WORDS = st.sampled_from(("a", "b", "c"))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(0, 3), WORDS)


def mapping(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


REFERENCES = st.one_of(
    mapping(secret=WORDS, key=WORDS),
    mapping(configMap=WORDS, key=WORDS),
    mapping(value=SCALARS, sensitive=st.booleans()),
    mapping(key=WORDS),
    mapping(secret=st.none(), value=WORDS),
)
ENV = st.dictionaries(WORDS, st.one_of(SCALARS, REFERENCES), max_size=3)
SOURCES = st.one_of(
    mapping(claim=st.one_of(WORDS, st.none(), mapping(size=WORDS, access=WORDS))),
    mapping(nfs=st.one_of(mapping(server=WORDS, path=WORDS), st.none())),
    mapping(hostPath=WORDS),
    mapping(cephfs=mapping(monitors=st.lists(WORDS, max_size=2), user=WORDS)),
    mapping(emptyDir=mapping(medium=WORDS)),
    mapping(configMap=WORDS),
    mapping(secret=WORDS),
)
VOLUMES = st.tuples(
    mapping(mountPath=WORDS, readOnly=st.booleans(), subPath=SCALARS), SOURCES, WORDS
).map(lambda parts: {"name": parts[2], **parts[0], **parts[1]})
PATCHES = st.builds(
    lambda kind, patch: {"target": {"kind": kind}, "patch": patch},
    WORDS,
    st.one_of(mapping(spec=mapping(a=SCALARS)), st.lists(mapping(op=WORDS, value=SCALARS))),
)
ROLES = mapping(
    replicas=SCALARS,
    env=ENV,
    resources=st.one_of(SCALARS, mapping(cpu=SCALARS, memory=SCALARS)),
    tolerations=st.lists(mapping(key=WORDS), max_size=2),
    affinity=st.recursive(SCALARS, lambda inner: st.dictionaries(WORDS, inner, max_size=2)),
)
SPECS = mapping(
    image=SCALARS,
    command=st.one_of(SCALARS, st.lists(WORDS, max_size=2)),
    setup=st.one_of(SCALARS, st.lists(SCALARS, max_size=3)),
    parameters=st.one_of(st.none(), st.dictionaries(WORDS, SCALARS, max_size=3)),
    env=st.one_of(SCALARS, ENV),
    trainers=st.one_of(SCALARS, ROLES),
    pservers=st.one_of(SCALARS, ROLES),
    volumes=st.one_of(
        SCALARS,
        st.lists(VOLUMES, max_size=3),
        st.lists(VOLUMES, max_size=3, unique_by=lambda each: each["name"]),
        st.lists(SCALARS, max_size=2),
    ),
    patches=st.one_of(st.none(), st.lists(PATCHES, max_size=2)),
)
DATA = mapping(
    metadata=st.one_of(SCALARS, mapping(name=WORDS, labels=st.dictionaries(WORDS, SCALARS))),
    spec=st.one_of(SCALARS, SPECS, SPECS, SPECS, SPECS),
    profiles=st.dictionaries(WORDS, st.one_of(SCALARS, SPECS), max_size=2),
)
# All layers speak of the same thing: where laws break.
ONE_VARIABLE = st.one_of(SCALARS, REFERENCES, REFERENCES).map(lambda each: {"env": {"a": each}})
ONE_VOLUME = st.one_of(VOLUMES, VOLUMES, st.just(None)).map(
    lambda each: {"volumes": [{**each, "name": "a"}] if each else []}
)
ONE_MAPPING = st.one_of(SCALARS, mapping(cpu=SCALARS), st.just([])).map(
    lambda each: {"trainers": {"resources": each}}
)
SUBJECTS = [
    DATA,
    *(each.map(lambda spec: {"spec": spec}) for each in (ONE_VARIABLE, ONE_VOLUME, ONE_MAPPING)),
]
LAYERS = ("defaults", "spec", "overlay", "profile")


def documents(data: list[Any]) -> list[Document]:
    """One layer for each of *data*, read from text so that its places are real."""
    found = []
    for layer, each in zip(LAYERS, data):
        (document,) = source.read(json.dumps(each, indent=1), f"{layer}.yaml", layer).documents
        found.append(document)
    return found


def stacks(least: int, most: int = len(LAYERS)) -> st.SearchStrategy[list[Document]]:
    return st.one_of([st.lists(each, min_size=least, max_size=most) for each in SUBJECTS]).map(
        documents
    )


def empty() -> Document:
    return source.read("{}", "empty.yaml", "empty").documents[0]


@given(stacks(1, 1))
def test_an_empty_layer_changes_nothing(stack: list[Document]) -> None:
    (only,) = stack
    assert merge([only]).data == only.data
    assert merge([empty(), only]).data == only.data
    assert merge([only, empty()]).data == only.data


@given(stacks(3, 3))
def test_layers_may_be_grouped_in_any_way(stack: list[Document]) -> None:
    low, middle, high = stack
    left = merge([merge([low, middle]), high])
    right = merge([low, merge([middle, high])])
    assert left.data == right.data
    assert settle(left).data == settle(right).data
    assert origins(left) == origins(right)


@given(stacks(4, 4))
def test_any_grouping_of_four_layers_is_the_same(stack: list[Document]) -> None:
    one, two, three, four = stack
    expected = merge(stack).data
    assert merge([one, merge([two, merge([three, four])])]).data == expected
    assert merge([merge([one, two]), merge([three, four])]).data == expected
    assert merge([one, merge([merge([two, three]), four])]).data == expected


@given(stacks(2))
def test_the_last_word_wins(stack: list[Document]) -> None:
    merged = merge(stack)
    for path, value in walk(stack[-1].data):
        if value not in ({}, []) and not any(isinstance(part, int) for part in path):
            assert merged.at(path) == value
            assert merged.origin(path).layer == stack[-1].place.origin.layer


@given(stacks(1, 1))
def test_the_same_layer_twice_is_that_layer_once(stack: list[Document]) -> None:
    """Except for patches, which are done twice."""
    (only,) = stack
    twice = settle(merge([only, only])).data
    assert without_patches(twice) == without_patches(settle(only).data)


@given(stacks(1))
def test_every_value_has_a_place_that_a_layer_wrote(stack: list[Document]) -> None:
    sources = {each.place.origin for each in stack}
    for document in (merge(stack), settle(merge(stack))):
        assert holes(document.data, document.place) == []
        for path in [(), *paths(document.data)]:
            assert document.nearest(path)[0] == path
            assert document.origin(path) in sources
            assert 0 < document.locate(path).line <= lines(document, path)
            assert 0 < document.locate_key(path).line <= lines(document, path)


@given(stacks(1))
def test_the_place_of_a_scalar_is_where_its_layer_wrote_it(stack: list[Document]) -> None:
    merged = merge(stack)
    for path, value in walk(merged.data):
        if not isinstance(value, (dict, list)):
            span = merged.locate(path)
            line = merged.origin(path).text.split("\n")[span.line - 1]
            assert json.loads(line[span.column - 1 : span.end_column - 1]) == value


@given(stacks(1))
def test_a_key_is_told_where_the_layer_of_its_value_wrote_it(stack: list[Document]) -> None:
    merged = merge(stack)
    for path in paths(merged.data):
        if isinstance(path[-1], str):
            span = merged.locate_key(path)
            line = merged.origin(path).text.split("\n")[span.line - 1]
            assert json.loads(line[span.column - 1 : span.end_column - 1]) == path[-1]


@given(stacks(1))
def test_no_tombstone_is_left_but_where_null_means_something(stack: list[Document]) -> None:
    settled = settle(merge(stack))
    for path, value in walk(settled.data):
        inside = path[2:] if path[:1] == ("profiles",) else path[1:]
        if value is None and isinstance(path[-1], str):
            assert inside[:1] in (("parameters",), ("patches",))
    assert settle(settled).data == settled.data


@given(stacks(2))
def test_layers_are_never_changed(stack: list[Document]) -> None:
    before = [json.dumps(each.data) for each in stack]
    settle(merge(stack))
    assert [json.dumps(each.data) for each in stack] == before


@given(stacks(2))
def test_a_union_is_of_one_kind_when_every_layer_says_one(stack: list[Document]) -> None:
    merged = settle(merge(stack))
    for path in paths(merged.data):
        if len(path) == 3 and path[:2] == ("spec", "env") and isinstance(merged.at(path), dict):
            assert len(kinds(merged.at(path))) < 2


@given(stacks(1, 2), st.sampled_from(("spec.image", "spec.trainers.replicas", "spec.env.a.value")))
def test_an_override_loses_no_place(stack: list[Document], dotted: str) -> None:
    merged = merge(stack)
    path = tuple(dotted.split("."))
    update = Update(f"{dotted}=9", path, "set", 9)
    after = apply(merged, update)
    assert after.at(path) == 9
    assert after.origin(path).is_option
    assert holes(after.data, after.place) == []
    for each in paths(after.data):
        if each[: len(path)] != path and path[: len(each)] != each:
            assert after.locate(each) == merged.locate(each)
            assert after.locate_key(each) == merged.locate_key(each)


def kinds(reference: dict[str, Any]) -> set[str]:
    groups = {"secret": "secret", "configMap": "configMap", "value": "value", "sensitive": "value"}
    return {groups[key] for key in reference if key in groups}


def without_patches(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_patches(each) for key, each in value.items() if key != "patches"}
    return [without_patches(each) for each in value] if isinstance(value, list) else value


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    for part, each in members(value):
        found += paths(each, (*path, part))
    return found


def members(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def holes(value: Any, place: Place | None, path: tuple[Any, ...] = ()) -> list[Any]:
    """The paths at which data and places have another shape."""
    if place is None:
        return [path]
    if isinstance(value, dict):
        alike = isinstance(place.children, dict) and place.children.keys() == value.keys()
    elif isinstance(value, list):
        alike = isinstance(place.children, list) and len(place.children) == len(value)
    else:
        alike = place.children is None
    if not alike:
        return [path]
    return [
        hole
        for part, each in members(value)
        for hole in holes(each, place.child(part), (*path, part))
    ]


def origins(document: Document) -> dict[Any, Any]:
    return {path: document.locate(path) for path, _ in walk(document.data)}


def lines(document: Document, path: tuple[Any, ...]) -> int:
    return document.origin(path).text.count("\n") + 1
