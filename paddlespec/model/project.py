"""The project file: settings shared by all jobs of a repository."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from paddlespec.model.base import (
    Label,
    Model,
    Object,
    ObjectName,
    QualifiedName,
    Text,
)


class Storage(Model):
    """A named storage location in a datacenter."""

    claim: ObjectName | None = Field(
        None, description="Name of a PersistentVolumeClaim.", examples=["alice-home"]
    )
    url: Text | None = Field(None, description="URL of an object store.", examples=["s3://ads"])
    read_only: bool = Field(False, description="Mount without write access.", examples=[True])
    local: Text | None = Field(
        None,
        description="Local folder to use instead on target local, relative to the project file.",
        examples=["./data"],
    )


class Datacenter(Model):
    """A named place to run jobs."""

    name: Label = Field(description="Name for `--datacenter`.", examples=["dc1"])
    context: Text | None = Field(None, description="Kubeconfig context.", examples=["k8s-dc1"])
    namespace: Label | None = Field(None, description="Namespace of the jobs.", examples=["ads"])
    storages: dict[Label, Storage] = Field(
        {},
        description="Storages by the name that volumes refer to.",
        examples=[{"home": {"claim": "alice-home"}}],
    )
    queues: dict[Label, Label] = Field(
        {},
        description="Queues by the name that specs use. `default` is used if a spec names none.",
        examples=[{"default": "ads"}],
    )
    storage_classes: list[ObjectName] = Field(
        [], description="Storage classes available for new claims.", examples=[["fast"]]
    )
    accelerators: list[QualifiedName] = Field(
        [],
        description="Names of the accelerator resources of the nodes.",
        examples=[["nvidia.com/gpu"]],
    )
    spec: Object = Field(
        {},
        description="Spec fields for jobs that run in this datacenter.",
        examples=[{"scheduling": {"queue": "ads"}}],
    )


class Project(Model):
    """Settings shared by all jobs of a repository, found in the spec's folder or above."""

    api_version: Literal["paddlespec.io/v1"] = Field(
        description="Version of the file format.", examples=["paddlespec.io/v1"]
    )
    kind: Literal["Project"] = Field(description="Kind of the document.", examples=["Project"])
    project: Label = Field(
        description="Name that groups the jobs in a cluster.", examples=["ads-ranking"]
    )
    datacenter: Label | None = Field(
        None,
        description="Default datacenter. Overridden by --datacenter.",
        examples=["dc1"],
    )
    defaults: Object = Field(
        {},
        description="Spec fields for every job. The lowest layer.",
        examples=[{"imagePullPolicy": "Always"}],
    )
    datacenters: list[Datacenter] = Field(
        [], description="Places to run jobs.", examples=[[{"name": "dc1", "context": "k8s-dc1"}]]
    )
