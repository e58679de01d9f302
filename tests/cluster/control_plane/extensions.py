"""Kinds that others define, out of their published Go modules, in the test control plane.

No controller of theirs runs: tests write what those would write. The definitions are read once and
kept beside the binaries, under a key made from the module files and this file.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError

import yaml

from control_plane.build import binaries_folder, find_go, locked, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from control_plane.plane import ControlPlane

HERE = Path(__file__).resolve().parent
FILES = HERE / "crds"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Source(NamedTuple):
    """Where a module keeps its definitions, and which of them are wanted."""

    module: str
    folder: str
    group: str
    plurals: tuple[str, ...]


SOURCES = {
    "kueue": Source(
        "sigs.k8s.io/kueue",
        "config/components/crd/bases",
        "kueue.x-k8s.io",
        ("clusterqueues", "localqueues", "resourceflavors", "workloads"),
    ),
    "volcano": Source(
        "volcano.sh/volcano",
        "config/crd/volcano/bases",
        "scheduling.volcano.sh",
        ("podgroups", "queues"),
    ),
    "jobset": Source(
        "sigs.k8s.io/jobset", "config/components/crd/bases", "jobset.x-k8s.io", ("jobsets",)
    ),
    "kubeflow": Source(
        "github.com/kubeflow/training-operator",
        "manifests/base/crds",
        "kubeflow.org",
        ("paddlejobs",),
    ),
}


@contextmanager
def installed(plane: ControlPlane, name: str) -> Iterator[None]:
    """Let the cluster serve the kinds of an extension; afterwards it knows nothing of them."""
    found = definitions(name)
    try:
        for each in found:
            plane.request("POST", DEFINITIONS, each)
        for each in found:
            plane.eventually(partial(_is_served, plane, each), within=60)
        yield
    finally:
        for each in found:
            with suppress(HTTPError):
                plane.request("DELETE", f"{DEFINITIONS}/{each['metadata']['name']}")
        for each in found:
            plane.eventually(partial(_is_forgotten, plane, each), within=60)


def definitions(name: str) -> list[dict[str, Any]]:
    """The definitions of an extension, each in its newest version alone."""
    folder = _folder()
    path = folder / f"{name}.json"
    with locked(folder.parent / f"{folder.name}.lock"):
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
                json.dump(_read(SOURCES[name]), file)
            Path(file.name).rename(path)
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _folder() -> Path:
    digest = hashlib.sha256()
    for path in (FILES / "go.mod", FILES / "go.sum", Path(__file__)):
        digest.update(path.read_bytes())
    return binaries_folder().parent / f"crds-{digest.hexdigest()[:16]}"


def _read(source: Source) -> list[dict[str, Any]]:
    folder = _module(source.module) / source.folder
    texts = [(folder / f"{source.group}_{each}.yaml").read_text("utf-8") for each in source.plurals]
    return [_alone(yaml.safe_load(each)) for each in texts]


def _module(module: str) -> Path:
    """Download a module in the version that go.mod pins; Go compares it with go.sum."""
    go = find_go()
    words = (FILES / "go.mod").read_text(encoding="utf-8").split()
    version = words[words.index(module) + 1]
    say(f"downloading {module} {version}")
    done = subprocess.run(
        [go, "mod", "download", "-json", f"{module}@{version}"],
        cwd=FILES,
        env={**os.environ, "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{module} {version}:\n{done.stdout}{done.stderr}"
    return Path(json.loads(done.stdout)["Dir"])


def _alone(definition: dict[str, Any]) -> dict[str, Any]:
    """A definition with its newest version only: others need a webhook that converts."""
    spec = definition["spec"]
    spec.pop("conversion", None)
    newest = {**spec["versions"][-1], "served": True, "storage": True}
    return {
        "apiVersion": definition["apiVersion"],
        "kind": definition["kind"],
        "metadata": {
            "name": definition["metadata"]["name"],
            # Without it nobody may define kinds below k8s.io.
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {**spec, "versions": [_plain(newest)]},
    }


def _plain(schema: Any) -> Any:
    """A schema without its descriptions, which are most of it."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _plain(value)
        for key, value in schema.items()
        if key != "description" or not isinstance(value, str)
    }


def _is_served(plane: ControlPlane, definition: dict[str, Any]) -> bool:
    spec = definition["spec"]
    try:
        plane.request("GET", f"/apis/{spec['group']}")
        plane.request(
            "GET", f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
        )
    except HTTPError:
        return False
    return True


def _is_forgotten(plane: ControlPlane, definition: dict[str, Any]) -> bool:
    spec = definition["spec"]
    for path in (f"{DEFINITIONS}/{definition['metadata']['name']}", f"/apis/{spec['group']}"):
        try:
            plane.request("GET", path)
        except HTTPError as error:
            if error.code == 404:
                continue
        return False
    return True
