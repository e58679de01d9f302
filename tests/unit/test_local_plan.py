"""A rehearsal runs the same programs with the same variables as the pods."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich_specs import DOCUMENTS
from targets import HEAD, manifests

from paddlespec import targets
from paddlespec.pipeline import Choices, context, load
from paddlespec.render import roles, runtime
from paddlespec.render.manifest import JOB_LABEL, ROLE_LABEL, role
from paddlespec.render.runtime import Context
from paddlespec.render.template import Templates
from paddlespec.report.preview import preview
from paddlespec.spec.files import Files
from paddlespec.spec.frozen import job_of
from paddlespec.targets import fabric

if TYPE_CHECKING:
    from paddlespec.model import Job
    from paddlespec.render.manifest import Manifest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/paddlejob.yaml"))


def both(job: Job, ctx: Context) -> tuple[list[Manifest], list[Manifest]]:
    local, cluster = targets.load("local"), targets.load("kubernetes")
    return local.render(job, ctx, Templates()), cluster.render(job, ctx, Templates())


def processes(rendered: list[Manifest]) -> list[Manifest]:
    return [manifest for manifest in rendered if manifest["kind"] == "Process"]


# The Job controller adds it to the pods of indexed Jobs.
INDEX: dict[str, Any] = {
    "name": "JOB_COMPLETION_INDEX",
    "valueFrom": {
        "fieldRef": {
            "fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"
        }
    },
}


def pods(rendered: list[Manifest]) -> dict[str, tuple[int, dict[str, Any], bool]]:
    """Return the pod of every role, the number of its replicas, and whether a Job counts them."""
    kinds = ("Job", "StatefulSet")
    return {
        role(manifest) or "": (
            manifest["spec"].get("replicas") or manifest["spec"].get("parallelism") or 1,
            manifest["spec"]["template"]["spec"],
            manifest["spec"].get("completionMode") == "Indexed",
        )
        for manifest in rendered
        if manifest["kind"] in kinds
    }


def check(job: Job, ctx: Context) -> None:
    here, there = both(job, ctx)
    expected = pods(there)
    assert len(processes(here)) == sum(count for count, *_ in expected.values())
    for process in processes(here):
        count, pod, is_indexed = expected[str(role(process))]
        (container,) = pod["containers"]
        name = str(role(process))
        declared = roles.role(job.spec, name)
        # NCCL and RDMA belong to the network of a cluster.
        nccl = fabric.variables(job, name).keys() - {**job.spec.env, **declared.env}
        theirs = [entry for entry in container["env"] if entry["name"] not in nccl]
        assert process["spec"]["env"] == [*theirs, *([INDEX] if is_indexed else [])]
        workdir = container.get("workingDir", runtime.DELIVERED)
        assert process["spec"]["workdir"] == workdir
        assert process["spec"]["index"] in range(count)
        limited, own = (held.get("resources", {}) for held in (process["spec"], container))
        rdma = fabric.devices(job, name).keys() - declared.resources.extended
        kept = {
            kind: {resource: one for resource, one in amounts.items() if resource not in rdma}
            for kind, amounts in own.items()
            if kind != "claims"
        }
        assert limited == {kind: amounts for kind, amounts in kept.items() if amounts}
        mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
        ours = [mount["mountPath"] for mount in process["spec"].get("mounts", ())]
        reserved = {"/dev/shm", workdir} - {volume.mount_path for volume in job.spec.volumes}
        assert sorted(ours) == sorted(mount for mount in mounts if mount not in reserved)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name)
def test_a_process_of_every_example_has_the_variables_of_its_pod(file: Path) -> None:
    (loaded,), diagnostics = load(str(file), Files(), Choices())
    assert diagnostics == []
    check(loaded.job, context(loaded))


@pytest.mark.parametrize("mode", ["collective", "ps", "legacy", "parallel"])
@pytest.mark.parametrize("index", range(len(DOCUMENTS)))
def test_a_process_of_every_mode_has_the_variables_of_its_pod(index: int, mode: str) -> None:
    data = copy.deepcopy(DOCUMENTS[index])
    data["spec"]["mode"] = mode
    if mode in ("collective", "parallel"):
        data["spec"].pop("pservers", None)
    else:
        data["spec"].setdefault("pservers", {})
    check(job_of(data), Context("dc1", "ads"))


SPEC = """\
  mode: ps
  command: python train.py
  package: {path: ., pip: [six==1.17.0]}
  setup: [make all]
  trainers: {replicas: 2}
  pservers: {replicas: 2}
"""


def test_requirements_are_not_installed_by_every_process(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    rendered = manifests(tmp_path, SPEC, "target=local")
    (script,) = {process["spec"]["command"][-1] for process in processes(rendered)}
    assert "make all" in script
    assert "pip install" not in script
    (rehearsal,) = [manifest["spec"] for manifest in rendered if manifest["kind"] == "Rehearsal"]
    assert rehearsal["code"]["pip"] == ["six==1.17.0"]


def test_trainers_wait_for_every_pserver_and_only_the_first_is_the_gloo_server(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    specs = {
        process["metadata"]["name"]: process["spec"]
        for process in processes(manifests(tmp_path, SPEC, "target=local"))
    }
    waits = [f"a-pserver-{index}.a-pserver.$(NS).svc:6174" for index in range(2)]
    waits[0] += "|6175"  # which opens first: fleet's first pserver serves once all have met
    assert specs["a-trainer-1"]["waitsFor"] == waits
    assert "waitsFor" not in specs["a-pserver-0"]
    assert specs["a-pserver-0"]["ports"] == {"pserver": 6174, "gloo": 6175}
    assert specs["a-pserver-1"]["ports"] == {"pserver": 6174}


def test_a_process_has_the_labels_of_its_job_and_role(tmp_path: Path) -> None:
    spec = "  mode: parallel\n  command: x\n  trainers: {replicas: 2}\n"
    rendered = manifests(tmp_path, spec, "target=local")
    labels = [process["metadata"]["labels"] for process in processes(rendered)]
    assert [label[JOB_LABEL] for label in labels] == ["a", "a"]
    assert [label[ROLE_LABEL] for label in labels] == ["trainers", "trainers"]
    assert [manifest["metadata"]["name"] for manifest in rendered] == [
        "a",
        "a-trainer-0",
        "a-trainer-1",
    ]


def findings(folder: Path, spec: str) -> list[str]:
    file = folder / "paddlejob.yaml"
    file.write_text(HEAD + spec, encoding="utf-8")
    (loaded,), diagnostics = load(str(file), Files(), Choices(target="local"))
    return [
        f"{diagnostic.severity.value} {diagnostic.message}"
        for diagnostic in [*diagnostics, *loaded.diagnostics]
    ]


def test_the_command_of_an_image_cannot_be_rehearsed(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, "  mode: parallel\n")
    assert finding == "error trainers use the command of the image, but target local has no image"


def test_arguments_of_an_image_are_where_its_command_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "paddlejob.yaml"
    file.write_text(HEAD + "  mode: parallel\n  args: [--epochs, '3']\n", encoding="utf-8")
    ((loaded,), _) = load(str(file), Files(), Choices(target="local"))
    (finding,) = loaded.diagnostics
    assert finding.path == ("spec", "args")


def test_the_command_of_a_role_is_sufficient(tmp_path: Path) -> None:
    assert findings(tmp_path, "  mode: parallel\n  trainers: {command: x}\n") == []


def test_programs_of_old_images_cannot_be_rehearsed(tmp_path: Path) -> None:
    spec = "  mode: legacy\n  legacy: {topology: conf.py}\n  pservers: {}\n"
    errors = [finding for finding in findings(tmp_path, spec) if "has no image" in finding]
    assert len(errors) == 2
    own = "  mode: legacy\n  command: python train.py\n  pservers: {command: python serve.py}\n"
    assert not [finding for finding in findings(tmp_path, own) if "error" in finding]


def test_missing_restarts_of_pservers_are_reported(tmp_path: Path) -> None:
    spec = "  mode: ps\n  command: x\n  pservers: {workload: StatefulSet}\n"
    assert any("does not restart a lost pserver" in finding for finding in findings(tmp_path, spec))


def test_retries_are_supported_for_the_whole_job(tmp_path: Path) -> None:
    spec = "  mode: ps\n  command: x\n  pservers: {}\n  policy: {retries: 2, timeout: 1h}\n"
    assert findings(tmp_path, spec) == []
    (rehearsal,) = [
        manifest["spec"]
        for manifest in manifests(tmp_path, spec, "target=local")
        if manifest["kind"] == "Rehearsal"
    ]
    assert (rehearsal["retries"], rehearsal["timeout"], rehearsal["keepFinished"]) == (
        2,
        3600,
        7 * 86400,
    )


def test_the_preview_shows_processes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    (tmp_path / "paddlejob.yaml").write_text(HEAD + SPEC, encoding="utf-8")
    (loaded,), _ = load(str(tmp_path / "paddlejob.yaml"), Files(), Choices(target="local"))
    rendered = targets.load("local").render(loaded.job, context(loaded), Templates())
    page = preview(loaded, rendered, width=100, color=False)
    assert "Process/a-trainer-{0..1}" in page
    assert re.search("a-pserver-0 +pserver 6174, gloo 6175", page)
    assert "bytes>" in page  # the archive by its size
