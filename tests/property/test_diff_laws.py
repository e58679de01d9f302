"""Laws of the diff, over manifests made of anything."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paddlespec.change.diff import (
    MISSING,
    Operation,
    diff,
    differences,
)

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"])
NAMES = st.sampled_from(["a", "b", "c"])
ITEMS = st.lists(st.fixed_dictionaries({"name": NAMES, "value": SCALARS}), max_size=3)
VALUES = st.recursive(
    SCALARS | ITEMS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
MANIFESTS = st.builds(
    lambda kind, name, spec: {
        "apiVersion": "batch/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    },
    st.sampled_from(["Job", "Service"]),
    NAMES,
    st.dictionaries(NAMES, VALUES, max_size=3),
)
SETS = st.lists(
    MANIFESTS, max_size=4, unique_by=lambda each: (each["kind"], each["metadata"]["name"])
)


@given(SETS)
def test_nothing_changes_into_itself(manifests: list[dict[str, Any]]) -> None:
    assert all(each.operation is Operation.keep for each in diff(manifests, manifests))


@given(SETS, SETS)
def test_what_comes_after_is_the_second(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    changes = diff(before, after)
    assert [each.after for each in changes if each.after is not None] == after
    assert all(each.before in before for each in changes if each.before is not None)
    assert len([each for each in changes if each.before is not None]) == len(before)


@given(VALUES, VALUES)
def test_values_differ_exactly_when_a_difference_is_found(before: Any, after: Any) -> None:
    same = repr(before) == repr(after)  # True is no 1 here
    if same:
        assert list(differences(before, after)) == []
    elif before != after:
        assert list(differences(before, after))


@given(VALUES, VALUES)
def test_a_difference_seen_from_the_other_side(before: Any, after: Any) -> None:
    there = {(path, repr(old), repr(new)) for path, old, new in differences(before, after)}
    back = {(path, repr(new), repr(old)) for path, old, new in differences(after, before)}
    assert there == back
    assert all(str(MISSING) not in (old, new) or old != new for _, old, new in there)
