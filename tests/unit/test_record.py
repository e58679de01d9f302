"""Records: valid documents as objects with all defaults."""

from __future__ import annotations

import copy
import json

import pytest
from front import JOB, data
from rich_specs import DOCUMENTS, PS

from paddlespec.model import Job
from paddlespec.spec.frozen import job_of, snake
from paddlespec.spec.gate import EFFECTIVE, schema


def test_defaults_are_filled_in() -> None:
    job = job_of(data(JOB))
    assert (job.metadata.name, job.metadata.namespace, job.metadata.labels) == ("a", None, {})
    assert job.spec.trainers.replicas == 1
    assert (job.spec.trainers.resources.cpu, job.spec.trainers.resources.memory) == (None, None)
    assert job.spec.policy.when_changed == "replace-finished"
    assert job.spec.workdir is None
    assert job.spec.pservers is None
    assert job.spec.volumes == []


def test_fields_are_attributes_and_free_names_are_kept() -> None:
    job = job_of(PS)
    assert job.spec.allow_managed_env == ["PADDLE_LOG_LEVEL"]
    assert job.spec.volumes[1].claim.storage_class == "fast"  # type: ignore[union-attr]
    assert job.spec.volumes[0].claim == "alice-home"
    assert job.spec.env["TOKEN"].secret == "team-token"  # type: ignore[union-attr]
    assert job.spec.env["PASSES"] == 10
    assert job.spec.trainers.node_selector == {"example.com/gpu": "a100"}
    assert job.spec.patches[1].patch[1].from_ == "/spec/b"  # type: ignore[index]
    assert job.spec.patches[0].patch == PS["spec"]["patches"][0]["patch"]


def test_whole_numbers_are_integers() -> None:
    job = job_of(
        data(f"{JOB}  trainers: {{replicas: 4.0, ports: {{a: 80.0}}}}\n  env: {{A: 4.0}}\n")
    )
    assert repr(job.spec.trainers.replicas) == "4"
    assert repr(job.spec.trainers.ports) == "{'a': 80}"
    assert repr(job.spec.env) == "{'A': 4.0}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_record_equals_the_model(document: object) -> None:
    model = Job.model_validate_json(json.dumps(document))
    written = repr(job_of(document)).replace(" ", "")
    assert written == repr(model).replace(" ", "")


def test_equal_documents_give_equal_records() -> None:
    assert job_of(PS) == job_of(copy.deepcopy(PS))
    changed = copy.deepcopy(PS)
    changed["spec"]["trainers"]["resources"]["gpu"] = 2
    assert job_of(PS) != job_of(changed)
    other: object = "a job"
    assert job_of(PS) != other


def test_a_record_is_frozen() -> None:
    job = job_of(PS)
    with pytest.raises(AttributeError, match="Job is frozen"):
        job.spec = None  # type: ignore[misc,assignment]
    with pytest.raises(AttributeError):
        job.spec.trainers.other = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        hash(job)


def test_the_document_is_not_modified() -> None:
    before = copy.deepcopy(PS)
    job_of(PS)
    assert before == PS


def test_a_record_of_a_pruned_document_lacks_the_removed_parts() -> None:
    job = job_of({"metadata": {}, "spec": {"volumes": [{"name": "a"}], "trainers": {}}})
    left: list[object] = [job.metadata.name, job.spec.mode, job.spec.volumes[0].mount_path]
    assert left == [None, None, None]
    assert job.spec.trainers.replicas == 1


def test_attributes_have_python_names() -> None:
    assert [snake(key) for key in ("mountPath", "gpu", "from", "allowManagedEnv")] == [
        "mount_path",
        "gpu",
        "from_",
        "allow_managed_env",
    ]
    effective = schema(EFFECTIVE)
    names = {
        snake(key)
        for definition in [effective, *effective["$defs"].values()]
        for key in definition.get("properties", {})
    }
    assert all(name.isidentifier() for name in names)
