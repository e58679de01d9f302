"""Fingerprints change if the pods change, and only then."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import pytest
from rich_specs import DOCUMENTS, LEGACY, PS, SMALL

from paddlespec.model import Job
from paddlespec.pipeline import Choices, context, load
from paddlespec.render.fingerprint import fingerprint
from paddlespec.render.runtime import Archive, Context
from paddlespec.spec.files import Files
from paddlespec.spec.frozen import job_of

if TYPE_CHECKING:
    from pathlib import Path

CODE = Context(code=Archive(b"", "0123456789"))


def taken(document: dict[str, Any], context: Context = CODE, target: str = "kubernetes") -> str:
    return fingerprint(job_of(document), context, target)


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return *document* with *value* at a dotted path."""
    result = copy.deepcopy(document)
    *parents, last = path.split(".")
    inner = result
    for parent in parents:
        inner = inner.setdefault(parent, {})
    inner[last] = value
    return result


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_keys_does_not_count(document: dict[str, Any], seed: int) -> None:
    assert taken(shuffled(document, random.Random(seed))) == taken(document)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_explicit_defaults_do_not_count(document: dict[str, Any]) -> None:
    whole = Job.model_validate(document).model_dump(by_alias=True)
    assert whole["spec"]["trainers"]["replicas"]
    assert whole != document
    assert taken(_without_nulls(whole)) == taken(document)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


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
def test_fields_that_do_not_affect_pods_do_not_count(path: str, value: Any) -> None:
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
def test_fields_that_affect_pods_count(path: str, value: Any) -> None:
    assert taken(changed(PS, path, value)) != taken(PS)


def test_a_workspace_counts_through_its_output() -> None:
    one, other = (changed(SMALL, "spec.workspace", path) for path in ("/a", "/b"))
    assert taken(one) != taken(other)
    assert taken(changed(PS, "spec.workspace", "/b")) == taken(PS)


def test_passes_count_in_mode_legacy() -> None:
    one, other = (changed(LEGACY, "spec.parameters", {"passes": passes}) for passes in (1, 2))
    assert taken(one) != taken(other)


def test_the_kind_of_a_claim_counts_but_not_its_size() -> None:
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


def test_the_fingerprint_is_stable() -> None:
    """The values of a released version: other values would rerun every finished job."""
    assert taken(SMALL) == "944132262223f89b"
