"""
Install kinds of other projects, from their published Go modules, in the test control plane.

No controller runs here (`controllers.py` runs those of JobSet and Kueue): tests write what a
controller would. The definitions are read once and cached beside the binaries, under a key made
from the module files and this file.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError

import yaml

from control_plane.toolchain import MODULES, cache, download, locked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from control_plane.plane import ControlPlane

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Source(NamedTuple):
    """Where a module stores its definitions, and which of them are used."""

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
    """Let the cluster serve the kinds of an extension; remove them afterwards."""
    with served(plane, definitions(name)):
        yield


@contextmanager
def served(plane: ControlPlane, definitions: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Let the cluster serve these definitions; remove them afterwards."""
    try:
        for definition in definitions:
            plane.request("POST", DEFINITIONS, definition)
        for definition in definitions:
            plane.eventually(partial(_is_served, plane, definition), within=60)
        yield
    finally:
        for definition in definitions:
            with suppress(HTTPError):
                plane.request("DELETE", f"{DEFINITIONS}/{definition['metadata']['name']}")
        for definition in definitions:
            plane.eventually(partial(_is_forgotten, plane, definition), within=60)


def definitions(name: str) -> list[dict[str, Any]]:
    """Return the definitions of an extension, each with its newest version only."""
    folder = _folder()
    path = folder / f"{name}.json"
    with locked(folder.parent / f"{folder.name}.lock"):
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
                json.dump(_read(SOURCES[name]), file)
            Path(file.name).rename(path)
    kept: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return kept


def _folder() -> Path:
    digest = hashlib.sha256()
    for path in (MODULES / "go.mod", MODULES / "go.sum", Path(__file__)):
        digest.update(path.read_bytes())
    return cache() / "control-plane" / f"crds-{digest.hexdigest()[:16]}"


def _read(source: Source) -> list[dict[str, Any]]:
    folder = download(source.module) / source.folder
    texts = [(folder / f"{source.group}_{name}.yaml").read_text("utf-8") for name in source.plurals]
    return [newest_alone(yaml.safe_load(text)) for text in texts]


def newest_alone(definition: dict[str, Any]) -> dict[str, Any]:
    """Return a definition with its newest version only: others need a conversion webhook."""
    spec = {key: value for key, value in definition["spec"].items() if key != "conversion"}
    newest = {**spec["versions"][-1], "served": True, "storage": True}
    return {
        "apiVersion": definition["apiVersion"],
        "kind": definition["kind"],
        "metadata": {
            "name": definition["metadata"]["name"],
            # Required to define kinds below k8s.io.
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {**spec, "versions": [_plain(newest)]},
    }


def _plain(schema: Any) -> Any:
    """Return a schema without its descriptions, which are most of it."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _plain(value)
        for key, value in schema.items()
        if key != "description" or not isinstance(value, str)
    }


def _is_served(plane: ControlPlane, definition: dict[str, Any]) -> bool:
    """Check the group, its resources and their objects: the API server adds each on its own."""
    spec = definition["spec"]
    group, plural = f"/apis/{spec['group']}", spec["names"]["plural"]
    version = f"{group}/{spec['versions'][0]['name']}"
    try:
        plane.request("GET", group)
        resources = plane.request("GET", version)["resources"]
        plane.request("GET", f"{version}/{plural}")
    except HTTPError:
        return False
    return any(resource["name"] == plural for resource in resources)


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
