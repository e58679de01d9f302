"""What a spec becomes on plain Kubernetes, as a test speaks of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.files import Files
from paddlespec.pipeline import Choices, build, load
from paddlespec.template import Templates

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.manifest import Manifest

HEAD = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: a}
spec:
  image: team/train:1
"""


def manifests(folder: Path, spec: str, *updates: str) -> list[Manifest]:
    """The objects of a spec of which *spec* is the rest, indented by two."""
    file = folder / "paddlejob.yaml"
    file.write_text(HEAD + spec, encoding="utf-8")
    jobs, found = load(str(file), Files(), Choices(updates=updates))
    assert found == []
    (loaded,) = jobs
    return build(loaded, Templates()).manifests


def workload(folder: Path, spec: str, name: str = "a-trainer") -> Manifest:
    """The Job or StatefulSet called *name*."""
    kinds = ("Job", "StatefulSet")
    (found,) = [
        each
        for each in manifests(folder, spec)
        if each["kind"] in kinds and each["metadata"]["name"] == name
    ]
    return found


def container(folder: Path, spec: str, name: str = "a-trainer") -> dict[str, Any]:
    """The main container of the workload called *name*."""
    pod = workload(folder, spec, name)["spec"]["template"]["spec"]
    found: dict[str, Any] = pod["containers"][0]
    return found
