"""Laws of patches."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.render.patch import apply_patches
from paddlespec.render.patch.pointer import json_patch
from paddlespec.render.patch.strategic import json_merge, strategic_merge
from paddlespec.render.patch.value import PatchFailed
from paddlespec.spec.frozen import job_of
from paddlespec.spec.source import read

if TYPE_CHECKING:
    from paddlespec.diagnostic import Diagnostic

# Versions whose fields are not known: otherwise most patches would be refused for a field.
JOB = """\
apiVersion: batch/v0
kind: Job
metadata: {name: fit, labels: {paddlespec.io/role: trainers}, finalizers: [a]}
spec:
  template:
    metadata: {labels: {paddlespec.io/role: trainers}}
    spec:
      containers:
        - name: a
          env: [{name: a, value: "1"}, {name: b}]
          ports: [{containerPort: 1}]
          args: [x]
      volumes: [{name: a, emptyDir: {}}]
      tolerations: [{key: a}]
"""
JOBSET = """\
apiVersion: jobset.x-k8s.io/v0
kind: JobSet
metadata: {name: fit}
spec: {replicatedJobs: [{name: a}]}
"""
FIELDS = (
    *("metadata", "labels", "annotations", "finalizers", "name", "spec", "template", "value"),
    *("containers", "initContainers", "env", "ports", "containerPort", "args", "volumes"),
    *("tolerations", "key", "emptyDir", "paddlespec.io/role", "a", "b", ""),
)
DIRECTIVES = (
    *("$patch", "$retainKeys", "$setElementOrder/env", "$setElementOrder/containers"),
    *("$deleteFromPrimitiveList/args", "$deleteFromPrimitiveList/finalizers", "$other"),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.sampled_from(("a", "b", "delete", "replace", "merge", "", "trainers")),
)


def values(keys: tuple[str, ...]) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(keys), inner, max_size=4)
        ),
        max_leaves=12,
    )


def mappings(keys: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Generate mappings that often reach deep into a real object."""
    bare = st.dictionaries(st.sampled_from(keys), values(keys), max_size=4)
    container = st.fixed_dictionaries(
        {"name": st.sampled_from("ab")},
        optional={
            "env": st.lists(
                st.fixed_dictionaries(
                    {"name": st.sampled_from("abc")}, optional={"value": scalars}
                ),
                max_size=3,
            ),
            "args": st.lists(scalars, max_size=2),
            "b": values(keys),
        },
    )
    pod = st.fixed_dictionaries(
        {}, optional={"containers": st.lists(container, max_size=2), "a": bare}
    )
    deep = pod.map(lambda pod_spec: {"spec": {"template": {"spec": pod_spec}}})
    return st.one_of(bare, deep)


pointers = st.one_of(
    st.lists(st.sampled_from((*FIELDS, "0", "1", "-", "01", "~0", "~2")), max_size=7).map(
        lambda parts: "".join("/" + part.replace("/", "~1") for part in parts)
    ),
    st.sampled_from(("/spec/template/spec/containers/0/env/0", "/metadata/labels", "x", "~")),
)
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(("add", "remove", "replace", "move", "copy", "test")), "path": pointers},
    optional={"value": values(FIELDS), "from": pointers},
)
plain, anything = mappings(FIELDS), mappings((*FIELDS, *DIRECTIVES))


def patched(*patches: Any) -> tuple[list[dict[str, Any]], list[Diagnostic]]:
    """Patch a Job and a JobSet with *patches*; asserts that the originals are not modified."""
    spec = {"patches": [{"target": {}, "patch": patch} for patch in patches]}
    document = read(json.dumps({"metadata": {"name": "fit"}, "spec": spec}), "job.yaml").documents[
        0
    ]
    before = [yaml.safe_load(JOB), yaml.safe_load(JOBSET)]
    kept, source = copy.deepcopy(before), copy.deepcopy(document.data)
    after, faults = apply_patches(before, job_of(document.data), document, "kubernetes")
    assert before == kept
    assert document.data == source
    return after, faults


def canonical(value: Any) -> str:
    return json.dumps(value)


@given(st.one_of(anything, st.lists(operations, min_size=1, max_size=6)))
def test_a_hostile_patch_of_a_known_kind_never_raises(patch: Any) -> None:
    version = {"apiVersion": "batch/v1"}
    source = {"metadata": {"name": "fit"}, "spec": {"patches": [{"target": {}, "patch": patch}]}}
    document = read(json.dumps(source), "job.yaml").documents[0]
    before = [{**yaml.safe_load(JOB), **version}]
    after, faults = apply_patches(before, job_of(document.data), document, "kubernetes")
    assert not faults or after == before
    codes = {diagnostic.code for diagnostic in faults}
    assert codes <= {"patch-failed", "patch-field", "patch-refused"}


@given(st.one_of(anything, st.lists(operations, min_size=1, max_size=6)))
def test_a_hostile_patch_never_raises_or_changes_the_identity(patch: Any) -> None:
    after, faults = patched(patch, {})
    assert {diagnostic.code for diagnostic in faults} <= {"patch-failed", "patch-refused"}
    for manifest, kind in zip(after, ("Job", "JobSet")):
        assert (manifest["kind"], manifest["metadata"]["name"]) == (kind, "fit")
    assert after[0]["metadata"]["labels"]["paddlespec.io/role"] == "trainers"
    names = [
        volume["name"]
        for volume in after[0]["spec"]["template"]["spec"].get("volumes") or ()
        if isinstance(volume, dict) and "name" in volume
    ]
    assert len(names) == len(set(map(canonical, names)))


@given(anything)
def test_an_object_is_patched_or_reported(patch: Any) -> None:
    after, faults = patched(patch)
    for manifest, before in zip(after, (JOB, JOBSET)):
        if canonical(manifest) != canonical(yaml.safe_load(before)):
            assert not [one for one in faults if one.message.startswith(f"{manifest['kind']} fit:")]


def test_an_empty_patch_is_the_identity() -> None:
    assert patched({}) == ([yaml.safe_load(JOB), yaml.safe_load(JOBSET)], [])


@given(plain)
def test_applying_a_patch_twice_equals_once(patch: Any) -> None:
    try:
        once = strategic_merge(yaml.safe_load(JOB), patch)
    except PatchFailed:
        return
    assert canonical(strategic_merge(once, patch)) == canonical(once)


@given(plain)
def test_a_strategic_merge_leaves_no_null_and_no_directive(patch: Any) -> None:
    try:
        after = strategic_merge(yaml.safe_load(JOB), patch)
    except PatchFailed:
        return
    assert not list(_null_members(after))


def _null_members(value: Any) -> Any:
    if isinstance(value, dict):
        for key, member in value.items():
            if member is None or key.startswith("$"):
                yield key
            yield from _null_members(member)
    elif isinstance(value, list):
        for item in value:
            yield from _null_members(item)


@given(values(FIELDS), values(FIELDS))
def test_applying_a_json_merge_twice_equals_once(before: Any, patch: Any) -> None:
    once = json_merge(before, patch)
    assert canonical(json_merge(once, patch)) == canonical(once)


@given(values(FIELDS))
def test_an_empty_json_merge_is_the_identity_on_mappings(before: Any) -> None:
    assert json_merge(before, {}) == (before if isinstance(before, dict) else {})


@given(values(FIELDS), values(FIELDS))
def test_a_json_merge_contains_the_patch(before: Any, patch: Any) -> None:
    after = json_merge(before, patch)
    if not isinstance(patch, dict):
        assert canonical(after) == canonical(patch)
        return
    was = before if isinstance(before, dict) else {}
    assert after.keys() == (was.keys() | patch.keys()) - {
        key for key, value in patch.items() if value is None
    }
    for key in after:
        expected = json_merge(was.get(key), patch[key]) if key in patch else was[key]
        assert canonical(after[key]) == canonical(expected)


@given(st.dictionaries(st.sampled_from(FIELDS), values(FIELDS)), st.sampled_from(FIELDS), scalars)
def test_remove_undoes_add(before: Any, key: str, value: Any) -> None:
    path = "/" + key.replace("~", "~0").replace("/", "~1")
    without = {name: value for name, value in before.items() if name != key}
    added = json_patch(without, [{"op": "add", "path": path, "value": value}])
    assert added == {**without, key: value}
    assert json_patch(added, [{"op": "remove", "path": path}]) == without
    json_patch(added, [{"op": "test", "path": path, "value": value}])
