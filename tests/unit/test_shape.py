"""Shapes of objects: what is wrong with one, and an interrupt while a shape is compiled."""

from __future__ import annotations

from typing import NoReturn

import pytest

from paddlespec.render import shape


def test_the_path_of_a_wrong_value_is_reported() -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a"},
        "spec": {"template": 1},
    }
    assert shape.manifest("Job").fault(job) == "spec.template"


def test_any_fields_of_an_unknown_kind_are_accepted() -> None:
    crowd = {"apiVersion": "a/v1", "kind": "Crowd", "metadata": {"name": "a"}, "spec": {"x": 1}}
    assert shape.manifest("Crowd").fault(crowd) is None


def test_an_interrupted_compilation_is_an_interrupt() -> None:
    class Interrupted(shape.Shape):
        def compiled(self) -> NoReturn:
            raise ValueError from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        Interrupted({}).wrong({})


def test_only_what_a_dry_run_creates_has_no_version() -> None:
    metadata = {"name": "j", "namespace": "default", "uid": "u"}
    live = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {}}
    versioned = {**live, "metadata": {**metadata, "resourceVersion": "1"}}
    assert shape.stored("Service").fault(live) == "metadata"
    assert shape.stored("Service").fault(versioned) is None
    assert shape.stored("Service", versioned=False).fault(live) is None
    items = shape.listed("Service", namespaced=True)
    assert items.fault({"items": [live]}) == "items[0].metadata"
    assert items.fault({"items": [versioned]}) is None


@pytest.mark.parametrize("mode", [[1], 3, {"a": 1}])
def test_a_recorded_rehearsal_has_a_mode_that_is_text(mode: object) -> None:
    recorded = {
        "apiVersion": "v1",
        "kind": "Rehearsal",
        "metadata": {"name": "j"},
        "spec": {"mode": "collective"},
    }
    assert shape.is_manifest(recorded)
    assert not shape.is_manifest({**recorded, "spec": {"mode": mode}})
