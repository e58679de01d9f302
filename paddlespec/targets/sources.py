"""Convert the volumes of a spec to volume sources of pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.quantity import canonical

if TYPE_CHECKING:
    from paddlespec.model import Job, Volume


def source(job: Job, volume: Volume) -> dict[str, Any]:
    """Return the source of a volume, as in the volumes of a pod."""
    read_only = {"readOnly": True} if volume.read_only else {}
    if volume.claim is not None:
        name = volume.claim if isinstance(volume.claim, str) else claim_name(job, volume)
        return {"persistentVolumeClaim": {"claimName": name, **read_only}}
    if volume.host_path is not None:
        return {"hostPath": {"path": volume.host_path}}
    if volume.nfs is not None:
        return {"nfs": {"server": volume.nfs.server, "path": volume.nfs.path, **read_only}}
    if volume.cephfs is not None:
        ceph = volume.cephfs
        secret = {"secretRef": {"name": ceph.secret}} if ceph.secret else {}
        source = {"monitors": ceph.monitors, "path": ceph.path, "user": ceph.user}
        return {"cephfs": {**source, **secret, **read_only}}
    if volume.config_map is not None:
        return {"configMap": {"name": volume.config_map, **_mode(volume)}}
    if volume.secret is not None:
        return {"secret": {"secretName": volume.secret, **_mode(volume)}}
    scratch = volume.empty_dir
    medium = {"medium": "Memory"} if scratch and scratch.medium == "Memory" else {}
    limit = {}
    if scratch and scratch.size_limit is not None:
        limit = {"sizeLimit": canonical(scratch.size_limit)}
    return {"emptyDir": {**medium, **limit}}


def _mode(volume: Volume) -> dict[str, int]:
    return {"defaultMode": int(volume.default_mode, 8)} if volume.default_mode else {}


def claim_name(job: Job, volume: Volume) -> str:
    """Return the name of a claim that is created with the job."""
    return f"{job.metadata.name}-{volume.name}"
