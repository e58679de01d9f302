"""What a rehearsal consists of: the same programs with the same variables as the pods."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich_specs import DOCUMENTS
from targets import HEAD, manifests

from paddlespec import targets
from paddlespec.contract import Context
from paddlespec.files import Files
from paddlespec.manifest import JOB_LABEL, ROLE_LABEL, role
from paddlespec.pipeline import Choices, context, load
from paddlespec.record import job_of
from paddlespec.report.preview import preview
from paddlespec.template import Templates

if TYPE_CHECKING:
    from paddlespec.manifest import Manifest
    from paddlespec.model import Job

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/paddlejob.yaml"))


def both(job: Job, given: Context) -> tuple[list[Manifest], list[Manifest]]:
    local, cluster = targets.load("local"), targets.load("kubernetes")
    return local.render(job, given, Templates()), cluster.render(job, given, Templates())


def processes(found: list[Manifest]) -> list[Manifest]:
    return [each for each in found if each["kind"] == "Process"]


def pods(found: list[Manifest]) -> dict[str, tuple[int, dict[str, Any]]]:
    """The pod of each role, and how many of them there are."""
    kinds = ("Job", "StatefulSet")
    return {
        role(each) or "": (
            each["spec"].get("replicas") or each["spec"].get("parallelism") or 1,
            each["spec"]["template"]["spec"],
        )
        for each in found
        if each["kind"] in kinds
    }


def check(job: Job, given: Context) -> None:
    here, there = both(job, given)
    expected = pods(there)
    assert len(processes(here)) == sum(count for count, _ in expected.values())
    for each in processes(here):
        count, pod = expected[str(role(each))]
        (container,) = pod["containers"]
        assert each["spec"]["env"] == container["env"]
        assert each["spec"]["workdir"] == container["workingDir"]
        assert each["spec"]["index"] in range(count)
        assert each["spec"]["resources"] == container["resources"]["limits"]
        mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
        ours = [mount["mountPath"] for mount in each["spec"].get("mounts", ())]
        own = {"/dev/shm", job.spec.workdir} - {each.mount_path for each in job.spec.volumes}
        assert sorted(ours) == sorted(mount for mount in mounts if mount not in own)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name)
def test_a_process_of_every_example_has_the_variables_of_its_pod(file: Path) -> None:
    (loaded,), found = load(str(file), Files(), Choices())
    assert found == []
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


def test_what_the_package_requires_is_not_installed_by_each_process(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    found = manifests(tmp_path, SPEC, "target=local")
    (script,) = {each["spec"]["command"][-1] for each in processes(found)}
    assert "make all" in script
    assert "pip install" not in script
    (rehearsal,) = [each["spec"] for each in found if each["kind"] == "Rehearsal"]
    assert rehearsal["code"]["pip"] == ["six==1.17.0"]


def test_trainers_wait_for_every_pserver_and_only_the_first_is_the_gloo_server(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    found = {
        each["metadata"]["name"]: each["spec"]
        for each in processes(manifests(tmp_path, SPEC, "target=local"))
    }
    waits = [f"a-pserver-{index}.a-pserver.$(NS).svc:6174" for index in range(2)]
    waits[0] += "|6175"  # which opens first: fleet's first pserver serves once all have met
    assert found["a-trainer-1"]["waitsFor"] == waits
    assert "waitsFor" not in found["a-pserver-0"]
    assert found["a-pserver-0"]["ports"] == {"pserver": 6174, "gloo": 6175}
    assert found["a-pserver-1"]["ports"] == {"pserver": 6174}


def test_a_process_says_whose_it_is(tmp_path: Path) -> None:
    spec = "  mode: parallel\n  command: x\n  trainers: {replicas: 2}\n"
    found = manifests(tmp_path, spec, "target=local")
    labels = [each["metadata"]["labels"] for each in processes(found)]
    assert [each[JOB_LABEL] for each in labels] == ["a", "a"]
    assert [each[ROLE_LABEL] for each in labels] == ["trainers", "trainers"]
    assert [each["metadata"]["name"] for each in found] == ["a", "a-trainer-0", "a-trainer-1"]


def findings(folder: Path, spec: str) -> list[str]:
    file = folder / "paddlejob.yaml"
    file.write_text(HEAD + spec, encoding="utf-8")
    (loaded,), found = load(str(file), Files(), Choices(target="local"))
    return [f"{each.severity.value} {each.message}" for each in [*found, *loaded.diagnostics]]


def test_the_command_of_an_image_cannot_be_rehearsed(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, "  mode: parallel\n")
    assert found == "error trainers run the image's own command, and here is no image"


def test_the_command_of_a_role_is_enough(tmp_path: Path) -> None:
    assert findings(tmp_path, "  mode: parallel\n  trainers: {command: x}\n") == []


def test_programs_of_old_images_cannot_be_rehearsed(tmp_path: Path) -> None:
    spec = "  mode: legacy\n  legacy: {topology: conf.py}\n  pservers: {}\n"
    found = [each for each in findings(tmp_path, spec) if "here is no image" in each]
    assert len(found) == 2
    own = "  mode: legacy\n  command: python train.py\n  pservers: {command: python serve.py}\n"
    assert not [each for each in findings(tmp_path, own) if "error" in each]


def test_what_restarts_pservers_is_told_to_be_missing(tmp_path: Path) -> None:
    spec = "  mode: ps\n  command: x\n  pservers: {workload: StatefulSet}\n"
    assert any("nothing restarts a lost pserver" in each for each in findings(tmp_path, spec))


def test_the_whole_job_may_be_tried_again_here(tmp_path: Path) -> None:
    spec = "  mode: ps\n  command: x\n  pservers: {}\n  policy: {retries: 2, timeout: 1h}\n"
    assert findings(tmp_path, spec) == []
    (rehearsal,) = [
        each["spec"]
        for each in manifests(tmp_path, spec, "target=local")
        if each["kind"] == "Rehearsal"
    ]
    assert (rehearsal["retries"], rehearsal["timeout"], rehearsal["keepFinished"]) == (
        2,
        3600,
        7 * 86400,
    )


def test_the_page_tells_of_processes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    (tmp_path / "paddlejob.yaml").write_text(HEAD + SPEC, encoding="utf-8")
    (loaded,), _ = load(str(tmp_path / "paddlejob.yaml"), Files(), Choices(target="local"))
    found = targets.load("local").render(loaded.job, context(loaded), Templates())
    page = preview(loaded, found, width=100, color=False)
    assert "Process/a-trainer-{0..1}" in page
    assert re.search("a-pserver-0 +pserver 6174, gloo 6175", page)
    assert "bytes>" in page  # the archive by its size
