"""What a replica sees: its variables and its mounts, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.manifest import Manifest
    from paddlespec.report.totals import Workload

Json = dict[str, Any]
_FIELDS = {
    "metadata.namespace": "<its namespace>",
    "metadata.annotations['batch.kubernetes.io/job-completion-index']": "<its index>",
    "metadata.labels['apps.kubernetes.io/pod-index']": "<its index>",
}


def environment(container: Json) -> dict[str, str]:
    """The variables of a container; what only the cluster knows stands in angle brackets."""
    return {each["name"]: _value(each) for each in container.get("env", ())}


def _value(entry: Json) -> str:
    source = entry.get("valueFrom")
    if not source:
        return str(entry.get("value", ""))
    for kind, label in (("secretKeyRef", "secret"), ("configMapKeyRef", "configMap")):
        if kind in source:
            return f"<{label} {source[kind].get('name')}/{source[kind].get('key')}>"
    path = source.get("fieldRef", {}).get("fieldPath", next(iter(source)))
    return _FIELDS.get(path, f"<{path}>")


def mounts(workload: Workload, manifests: Sequence[Manifest]) -> Iterator[tuple[str, str, str]]:
    """Where the container sees which volume, and whether it may write there."""
    created = {
        each["metadata"]["name"]: each["spec"]["resources"]["requests"].get("storage", "")
        for each in manifests
        if each["kind"] == "PersistentVolumeClaim"
    }
    volumes = {each["name"]: each for each in workload.pod.get("volumes", ())}
    for mount in workload.container.get("volumeMounts", ()):
        source = _source(volumes.get(mount["name"], {}), created)
        if mount.get("subPath"):
            source += f", folder {mount['subPath']}"
        yield mount["mountPath"], source, "read only" if mount.get("readOnly") else ""


def _source(volume: Json, created: dict[str, str]) -> str:
    kind = next((key for key in volume if key != "name"), "")
    of = volume.get(kind) or {}
    if kind == "persistentVolumeClaim":
        name = of["claimName"]
        return f"new claim {name} of {created[name]}" if name in created else f"claim {name}"
    if kind == "emptyDir":
        limit = f", at most {of['sizeLimit']}" if "sizeLimit" in of else ""
        return (
            "memory" if of.get("medium") == "Memory" else "scratch, gone with the replica"
        ) + limit
    if kind == "text":
        return "a file of paddlespec's own"
    words = {
        "hostPath": lambda: f"folder {of['path']} of the node",
        "nfs": lambda: f"nfs {of['server']}:{of['path']}",
        "cephfs": lambda: f"cephfs {','.join(of['monitors'])}:{of['path']}",
        "configMap": lambda: f"configMap {of['name']}",
        "secret": lambda: f"secret {of['secretName']}",
    }
    return words[kind]() if kind in words else kind
