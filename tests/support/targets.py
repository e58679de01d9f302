"""Helpers for specs rendered to plain Kubernetes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.render.manifest import Manifest

HEAD = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: a}
spec:
  image: team/train:1
"""


def manifests(folder: Path, spec: str, *updates: str) -> list[Manifest]:
    """Render a spec whose remaining fields are *spec*, indented by two."""
    file = folder / "paddlejob.yaml"
    file.write_text(HEAD + spec, encoding="utf-8")
    jobs, diagnostics = load(str(file), Files(), Choices(updates=updates))
    assert diagnostics == []
    (loaded,) = jobs
    return build(loaded, Templates()).manifests


def workload(folder: Path, spec: str, name: str = "a-trainer") -> Manifest:
    """Return the Job or StatefulSet *name*."""
    kinds = ("Job", "StatefulSet")
    (matching,) = [
        manifest
        for manifest in manifests(folder, spec)
        if manifest["kind"] in kinds and manifest["metadata"]["name"] == name
    ]
    return matching


def container(folder: Path, spec: str, name: str = "a-trainer") -> dict[str, Any]:
    """Return the main container of the workload *name*."""
    pod = workload(folder, spec, name)["spec"]["template"]["spec"]
    main: dict[str, Any] = pod["containers"][0]
    return main
