"""Volumes: where the data of a job is stored and where the replicas mount it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from paddlespec.model.base import (
    AbsolutePath,
    FileMode,
    Label,
    Model,
    ObjectName,
    Quantity,
    Text,
)


class NewClaim(Model):
    """A PersistentVolumeClaim that is created and deleted with the job."""

    size: Quantity = Field(description="Requested capacity.", examples=["100Gi"])
    storage_class: ObjectName | None = Field(
        None,
        description="Storage class. Defaults to the default class of the cluster.",
        examples=["fast"],
    )
    access: Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"] = Field(
        "ReadWriteMany", description="Access mode of the claim.", examples=["ReadWriteMany"]
    )


class Nfs(Model):
    """An NFS export."""

    server: Text = Field(description="Host name or address.", examples=["nfs.example.com"])
    path: AbsolutePath = Field(description="Exported path.", examples=["/exports/data"])


class CephFs(Model):
    """A CephFS file system."""

    monitors: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Addresses of the monitors.", examples=[["10.0.0.1:6789"]]
    )
    path: AbsolutePath = Field("/", description="Path inside the file system.", examples=["/home"])
    user: Text = Field("admin", description="Ceph user.", examples=["admin"])
    secret: ObjectName | None = Field(
        None, description="Name of the Secret with the key of the user.", examples=["ceph-secret"]
    )


class EmptyDir(Model):
    """Scratch space that lives as long as its replica."""

    medium: Literal["Disk", "Memory"] = Field(
        "Disk", description="Storage medium.", examples=["Memory"]
    )
    size_limit: Quantity | None = Field(
        None,
        description="Maximum size. A replica that stores more is evicted.",
        examples=["10Gi"],
    )


class Volume(Model):
    """A volume mounted in every replica, or in those of one role. Set exactly one source."""

    name: Label = Field(
        description="Name of the volume. Layers merge volumes by name.", examples=["home"]
    )
    mount_path: AbsolutePath = Field(
        description="Path of the volume in the replicas.", examples=["/pfs/dc1/home/alice"]
    )
    sub_path: Text | None = Field(
        None,
        description="Folder in the volume to mount instead of its root.",
        examples=["alice"],
    )
    read_only: bool = Field(False, description="Mount without write access.", examples=[True])
    claim: ObjectName | NewClaim | None = Field(
        None,
        description="Name of an existing PersistentVolumeClaim, or size and class of a new one.",
        examples=["alice-home", {"size": "100Gi"}],
    )
    storage: Label | None = Field(
        None,
        description="Name of a storage of the datacenter, whose claim is mounted.",
        examples=["home"],
    )
    host_path: AbsolutePath | None = Field(
        None, description="Folder on the node.", examples=["/mnt/data"]
    )
    nfs: Nfs | None = Field(
        None,
        description="An NFS export.",
        examples=[{"server": "nfs.example.com", "path": "/exports/data"}],
    )
    cephfs: CephFs | None = Field(
        None, description="A CephFS file system.", examples=[{"monitors": ["10.0.0.1:6789"]}]
    )
    empty_dir: EmptyDir | None = Field(
        None, description="Scratch space per replica.", examples=[{"sizeLimit": "10Gi"}]
    )
    config_map: ObjectName | None = Field(
        None,
        description="Name of a ConfigMap, mounted as one file per key.",
        examples=["team-settings"],
    )
    secret: ObjectName | None = Field(
        None,
        description="Name of a Secret, mounted as one file per key.",
        examples=["team-certificates"],
    )
    default_mode: FileMode | None = Field(
        None,
        description="Permissions of the files of `configMap` or `secret`, in octal digits. "
        'Defaults to "0644".',
        examples=["0400"],
    )
