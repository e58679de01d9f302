"""The part of a live object that is ours, from the account that the API server keeps."""

from __future__ import annotations

from typing import Any

import pytest

from paddlespec.backends.cluster.change.managed_fields import own


def live(spec: dict[str, Any], fields: dict[str, Any], **entry: str) -> dict[str, Any]:
    ours = {"manager": "paddlespec", "operation": "Apply", "fieldsV1": {"f:spec": fields}}
    managed = [{**ours, **entry}]
    metadata = {"name": "a", "namespace": "b", "uid": "u", "managedFields": managed}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def spec_of(found: dict[str, Any], fields: dict[str, Any], ours: dict[str, Any]) -> Any:
    return own(live(found, fields), {"spec": ours}).get("spec")


def test_defaults_and_what_others_set_are_left_out() -> None:
    found = {"suspend": False, "backoffLimit": 3, "template": {"a": 1, "b": 2}}
    fields: dict[str, Any] = {"f:backoffLimit": {}, "f:template": {"f:b": {}}}
    assert spec_of(found, fields, {}) == {"backoffLimit": 3, "template": {"b": 2}}


@pytest.mark.parametrize(
    "entry", [{"manager": "kubectl"}, {"operation": "Update"}, {"subresource": "status"}]
)
def test_only_an_apply_of_ours_counts(entry: dict[str, str]) -> None:
    found = own(live({"suspend": True}, {"f:suspend": {}}, **entry), {})
    assert found == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "b"},
    }


def test_items_are_found_by_their_keys_and_stay_in_order() -> None:
    found = {"env": [{"name": "B", "value": "2"}, {"name": "X"}, {"name": "A", "value": "1"}]}
    keyed: dict[str, Any] = {
        f'k:{{"name":"{name}"}}': {".": {}, "f:name": {}, "f:value": {}} for name in "AB"
    }
    told = spec_of(found, {"f:env": keyed}, {})
    assert told == {"env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]}


def test_a_key_that_we_leave_to_the_server_still_finds_its_item() -> None:
    found = {"ports": [{"containerPort": 1, "protocol": "TCP", "name": "x"}]}
    keyed: dict[str, Any] = {
        'k:{"containerPort":1,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}
    }
    ours = {"ports": [{"containerPort": 1}]}
    assert spec_of(found, {"f:ports": keyed}, ours) == ours


def test_values_of_a_set() -> None:
    found = {"finalizers": ["theirs", "ours"]}
    assert spec_of(found, {"f:finalizers": {'v:"ours"': {}}}, {}) == {"finalizers": ["ours"]}


@pytest.mark.parametrize(
    ("stored", "ours"),
    [
        ({"limits": {"memory": "1Gi"}}, {"limits": {"memory": "1024Mi"}}),
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": 1}}),
        ({"sizeLimit": "1Gi"}, {"sizeLimit": "1024Mi"}),
        ({"fieldRef": {"apiVersion": "v1", "fieldPath": "x"}}, {"fieldRef": {"fieldPath": "x"}}),
        ({}, {"limits": {}}),
        ({"name": "A"}, {"name": "A", "value": ""}),
    ],
)
def test_what_means_the_same_is_spelled_as_ours(
    stored: dict[str, Any], ours: dict[str, Any]
) -> None:
    assert spec_of(stored, {f"f:{key}": {} for key in ours}, ours) == ours


@pytest.mark.parametrize(
    ("stored", "ours"),
    [
        ({"value": "1"}, {"value": "1000m"}),
        ({"limits": {"memory": "1Gi"}}, {"limits": {"memory": "1G"}}),
        ({"limits": {"memory": "1Gi", "cpu": "1"}}, {"limits": {"memory": "1Gi"}}),
        ({"fieldRef": {"apiVersion": "v2", "fieldPath": "x"}}, {"fieldRef": {"fieldPath": "x"}}),
        ({"args": ["a", "b"]}, {"args": ["a"]}),
    ],
)
def test_what_differs_stays_as_it_is(stored: dict[str, Any], ours: dict[str, Any]) -> None:
    assert spec_of(stored, {f"f:{key}": {} for key in stored}, ours) == stored
