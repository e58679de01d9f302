"""Laws of merging, over documents with all kinds of values that merge differently."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paddlespec.spec import source
from paddlespec.spec.document import Document, Place, walk
from paddlespec.spec.layer import merge, settle
from paddlespec.spec.update import Update, apply

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
    mapping(storage=st.one_of(WORDS, st.none())),
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
        st.lists(VOLUMES, max_size=3, unique_by=lambda volume: volume["name"]),
        st.lists(SCALARS, max_size=2),
    ),
    patches=st.one_of(st.none(), st.lists(PATCHES, max_size=2)),
)
DATA = mapping(
    metadata=st.one_of(SCALARS, mapping(name=WORDS, labels=st.dictionaries(WORDS, SCALARS))),
    spec=st.one_of(SCALARS, SPECS, SPECS, SPECS, SPECS),
    profiles=st.dictionaries(WORDS, st.one_of(SCALARS, SPECS), max_size=2),
)
# All layers set the same value, where merging is most likely to break laws.
ONE_VARIABLE = st.one_of(SCALARS, REFERENCES, REFERENCES).map(lambda value: {"env": {"a": value}})
ONE_VOLUME = st.one_of(VOLUMES, VOLUMES, st.just(None)).map(
    lambda volume: {"volumes": [{**volume, "name": "a"}] if volume else []}
)
ONE_MAPPING = st.one_of(SCALARS, mapping(cpu=SCALARS), st.just([])).map(
    lambda resources: {"trainers": {"resources": resources}}
)
SUBJECTS = [
    DATA,
    *(
        strategy.map(lambda spec: {"spec": spec})
        for strategy in (ONE_VARIABLE, ONE_VOLUME, ONE_MAPPING)
    ),
]
LAYERS = ("defaults", "spec", "overlay", "profile")


def documents(data: list[Any]) -> list[Document]:
    """Parse every item of *data* to a layer, so that it has real positions."""
    layers = []
    for layer, values in zip(LAYERS, data):
        (document,) = source.read(json.dumps(values, indent=1), f"{layer}.yaml", layer).documents
        layers.append(document)
    return layers


def stacks(least: int, most: int = len(LAYERS)) -> st.SearchStrategy[list[Document]]:
    return st.one_of(
        [st.lists(subject, min_size=least, max_size=most) for subject in SUBJECTS]
    ).map(documents)


def empty() -> Document:
    return source.read("{}", "empty.yaml", "empty").documents[0]


@given(stacks(1, 1))
def test_an_empty_layer_changes_nothing(stack: list[Document]) -> None:
    (only,) = stack
    assert merge([only]).data == only.data
    assert merge([empty(), only]).data == only.data
    assert merge([only, empty()]).data == only.data


@given(stacks(3, 3))
def test_merging_is_associative(stack: list[Document]) -> None:
    low, middle, high = stack
    left = merge([merge([low, middle]), high])
    right = merge([low, merge([middle, high])])
    assert left.data == right.data
    assert settle(left).data == settle(right).data
    assert origins(left) == origins(right)


@given(stacks(4, 4))
def test_merging_four_layers_is_associative(stack: list[Document]) -> None:
    one, two, three, four = stack
    expected = merge(stack).data
    assert merge([one, merge([two, merge([three, four])])]).data == expected
    assert merge([merge([one, two]), merge([three, four])]).data == expected
    assert merge([one, merge([merge([two, three]), four])]).data == expected


@given(stacks(2))
def test_the_highest_layer_wins(stack: list[Document]) -> None:
    merged = merge(stack)
    for path, value in walk(stack[-1].data):
        if value not in ({}, []) and not any(isinstance(part, int) for part in path):
            assert merged.at(path) == value
            assert merged.origin(path).layer == stack[-1].place.origin.layer


@given(stacks(1, 1))
def test_merging_a_layer_with_itself_changes_nothing(stack: list[Document]) -> None:
    """Patches are an exception: they are appended twice."""
    (only,) = stack
    twice = settle(merge([only, only])).data
    assert without_patches(twice) == without_patches(settle(only).data)


@given(stacks(1))
def test_every_value_has_a_place_in_a_layer(stack: list[Document]) -> None:
    sources = {layer.place.origin for layer in stack}
    for document in (merge(stack), settle(merge(stack))):
        assert holes(document.data, document.place) == []
        for path in [(), *paths(document.data)]:
            assert document.nearest(path)[0] == path
            assert document.origin(path) in sources
            assert 0 < document.locate(path).line <= lines(document, path)
            assert 0 < document.locate_key(path).line <= lines(document, path)


@given(stacks(1))
def test_the_place_of_a_scalar_is_that_in_its_layer(stack: list[Document]) -> None:
    merged = merge(stack)
    for path, value in walk(merged.data):
        if not isinstance(value, (dict, list)):
            span = merged.locate(path)
            line = merged.origin(path).text.split("\n")[span.line - 1]
            assert json.loads(line[span.column - 1 : span.end_column - 1]) == value


@given(stacks(1))
def test_the_place_of_a_key_is_that_in_the_layer_of_its_value(stack: list[Document]) -> None:
    merged = merge(stack)
    for path in paths(merged.data):
        if isinstance(path[-1], str):
            span = merged.locate_key(path)
            line = merged.origin(path).text.split("\n")[span.line - 1]
            assert json.loads(line[span.column - 1 : span.end_column - 1]) == path[-1]


@given(stacks(1))
def test_no_tombstone_is_left_except_where_null_has_a_meaning(stack: list[Document]) -> None:
    settled = settle(merge(stack))
    for path, value in walk(settled.data):
        inside = path[2:] if path[:1] == ("profiles",) else path[1:]
        if value is None and isinstance(path[-1], str):
            assert inside[:1] in (("parameters",), ("patches",))
    assert settle(settled).data == settled.data


@given(stacks(2))
def test_layers_are_never_modified(stack: list[Document]) -> None:
    before = [json.dumps(layer.data) for layer in stack]
    settle(merge(stack))
    assert [json.dumps(layer.data) for layer in stack] == before


@given(stacks(2))
def test_a_union_has_one_kind_if_every_layer_sets_one(stack: list[Document]) -> None:
    merged = settle(merge(stack))
    for path in paths(merged.data):
        if len(path) == 3 and path[:2] == ("spec", "env") and isinstance(merged.at(path), dict):
            assert len(kinds(merged.at(path))) < 2


@given(stacks(1, 2), st.sampled_from(("spec.image", "spec.trainers.replicas", "spec.env.a.value")))
def test_an_override_keeps_all_places(stack: list[Document], dotted: str) -> None:
    merged = merge(stack)
    path = tuple(dotted.split("."))
    update = Update(f"{dotted}=9", path, "set", 9)
    after = apply(merged, update)
    assert after.at(path) == 9
    assert after.origin(path).is_option
    assert holes(after.data, after.place) == []
    for path in paths(after.data):
        if path[: len(path)] != path and path[: len(path)] != path:
            assert after.locate(path) == merged.locate(path)
            assert after.locate_key(path) == merged.locate_key(path)


def kinds(reference: dict[str, Any]) -> set[str]:
    groups = {"secret": "secret", "configMap": "configMap", "value": "value", "sensitive": "value"}
    return {groups[key] for key in reference if key in groups}


def without_patches(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_patches(member) for key, member in value.items() if key != "patches"}
    return [without_patches(item) for item in value] if isinstance(value, list) else value


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    result = [path] if path else []
    for part, member in members(value):
        result += paths(member, (*path, part))
    return result


def members(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def holes(value: Any, place: Place | None, path: tuple[Any, ...] = ()) -> list[Any]:
    """Return the paths at which data and places have different shapes."""
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
        for part, member in members(value)
        for hole in holes(member, place.child(part), (*path, part))
    ]


def origins(document: Document) -> dict[Any, Any]:
    return {path: document.locate(path) for path, _ in walk(document.data)}


def lines(document: Document, path: tuple[Any, ...]) -> int:
    return document.origin(path).text.count("\n") + 1
