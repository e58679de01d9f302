"""Fingerprints: what makes other pods changes them, and nothing else does."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import pytest
from rich_specs import DOCUMENTS, LEGACY, PS, SMALL

from paddlespec.contract import Archive, Context
from paddlespec.files import Files
from paddlespec.fingerprint import fingerprint
from paddlespec.model import Job
from paddlespec.pipeline import Choices, context, load
from paddlespec.record import job_of

if TYPE_CHECKING:
    from pathlib import Path

CODE = Context(code=Archive(b"", "0123456789"))


def taken(document: dict[str, Any], found: Context = CODE, target: str = "kubernetes") -> str:
    return fingerprint(job_of(document), found, target)


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """*document* with *value* at a dotted path."""
    found = copy.deepcopy(document)
    *parents, last = path.split(".")
    inner = found
    for each in parents:
        inner = inner.setdefault(each, {})
    inner[last] = value
    return found


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(each, chance) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_keys_says_nothing(document: dict[str, Any], seed: int) -> None:
    assert taken(shuffled(document, random.Random(seed))) == taken(document)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_defaults_may_be_written_out(document: dict[str, Any]) -> None:
    whole = Job.model_validate(document).model_dump(by_alias=True)
    assert whole["spec"]["trainers"]["replicas"]
    assert whole != document
    assert taken(_without_nulls(whole)) == taken(document)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.labels", {"team": "search"}),
        ("metadata.annotations", {"example.com/owner": "nobody"}),
        ("spec.policy", {}),
        ("spec.policy.timeout", "1h"),
        ("spec.policy.retries", 7),
        ("spec.policy.keepFinished", "1h"),
        ("spec.policy.whenChanged", "replace-running"),
        ("spec.parameters", {"unused": 1}),
        ("spec.allowManagedEnv", []),
        ("spec.package.exclude", []),
    ],
)
def test_what_shapes_no_pod_does_not_count(path: str, value: Any) -> None:
    assert changed(PS, path, value) != PS
    assert taken(changed(PS, path, value)) == taken(PS)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.mode", "collective"),
        ("spec.image", "team/train:2"),
        ("spec.imagePullPolicy", "Always"),
        ("spec.registry", "other"),
        ("spec.command", "python other.py"),
        ("spec.command", ["python train.py"]),
        ("spec.setup", []),
        ("spec.teardown", []),
        ("spec.workdir", "/elsewhere"),
        ("spec.env.LOG_LEVEL", "debug"),
        ("spec.env.TOKEN.key", "other"),
        ("spec.env.SALT.sensitive", False),
        ("spec.trainers.replicas", 5),
        ("spec.trainers.resources.gpu", 2),
        ("spec.trainers.env.A", "2"),
        ("spec.trainers.nodeSelector", {}),
        ("spec.trainers.tolerations", []),
        ("spec.trainers.affinity", None),
        ("spec.pservers.replicas", 1),
        ("spec.pservers.workload", "StatefulSet"),
        ("spec.volumes", []),
        ("spec.input", "/home/alice/other"),
        ("spec.output", "/home/alice/other"),
        ("spec.outputPolicy", "clear"),
        ("spec.scheduling.queue", "other"),
        ("spec.patches", []),
        ("spec.package.into", "elsewhere"),
        ("spec.package.pip", []),
    ],
)
def test_what_shapes_pods_counts(path: str, value: Any) -> None:
    assert taken(changed(PS, path, value)) != taken(PS)


def test_a_workspace_counts_by_the_output_that_it_gives() -> None:
    one, other = (changed(SMALL, "spec.workspace", each) for each in ("/a", "/b"))
    assert taken(one) != taken(other)
    assert taken(changed(PS, "spec.workspace", "/b")) == taken(PS)


def test_passes_count_where_they_are_told_to_paddle() -> None:
    one, other = (changed(LEGACY, "spec.parameters", {"passes": each}) for each in (1, 2))
    assert taken(one) != taken(other)


def test_the_size_of_a_claim_does_not_count_and_its_kind_does() -> None:
    def mounted(claim: Any) -> dict[str, Any]:
        return changed(SMALL, "spec.volumes", [{"name": "a", "mountPath": "/a", "claim": claim}])

    assert taken(mounted({"size": "1Gi"})) == taken(mounted({"size": "2Gi"}))
    assert taken(mounted({"size": "1Gi"})) != taken(mounted("new"))


def test_only_patches_that_apply_count() -> None:
    patch = {"target": {"kind": "Job"}, "patch": {"spec": {"backoffLimit": 1}}}
    elsewhere = changed(SMALL, "spec.patches", [{**patch, "when": {"target": "jobset"}}])
    assert taken(elsewhere) == taken(SMALL)
    assert taken(changed(SMALL, "spec.patches", [patch])) != taken(SMALL)


def test_target_and_datacenter_count() -> None:
    assert taken(SMALL, target="jobset") != taken(SMALL)
    assert taken(SMALL, Context(datacenter="dc1")) != taken(SMALL, Context())
    assert taken(SMALL, Context(project="ads")) == taken(SMALL, Context())


def test_the_content_of_the_package_counts(tmp_path: Path) -> None:
    spec = "{mode: collective, image: 'x:1', command: python train.py, package: {path: code}}"
    file = tmp_path / "paddlejob.yaml"
    file.write_text(
        f"apiVersion: paddlespec.io/v1\nkind: PaddleJob\nmetadata: {{name: a}}\nspec: {spec}\n"
    )
    program = tmp_path / "code" / "train.py"
    program.parent.mkdir()

    def of(content: str) -> str:
        program.write_text(content)
        [loaded], _ = load(str(file), Files(), Choices())
        assert loaded.is_valid
        return fingerprint(loaded.job, context(loaded), loaded.target)

    first = of("print(1)\n")
    assert of("print(2)\n") != first
    assert of("print(1)\n") == first


def test_it_stays_what_it_was() -> None:
    """Of a released version: another value would run every finished job again."""
    assert taken(SMALL) == "944132262223f89b"
