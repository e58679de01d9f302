"""The project file: what all jobs of a repository share."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from paddlespec.model.base import Label, Model, Object, ObjectName, QualifiedName, Text


class Storage(Model):
    """A named place for data in a datacenter."""

    claim: ObjectName | None = Field(
        None, description="Name of a PersistentVolumeClaim.", examples=["alice-home"]
    )
    url: Text | None = Field(None, description="URL of an object store.", examples=["s3://ads"])
    read_only: bool = Field(False, description="Nothing is written to it.", examples=[True])
    local: Text | None = Field(
        None,
        description="Folder of one's own machine that stands in for it on the target local; "
        "relative to the project file.",
        examples=["./data"],
    )


class Datacenter(Model):
    """A named place to run."""

    name: Label = Field(description="Name, as `--datacenter` takes it.", examples=["dc1"])
    context: Text | None = Field(
        None, description="Context of the kubeconfig.", examples=["k8s-dc1"]
    )
    namespace: Label | None = Field(None, description="Namespace of the jobs.", examples=["ads"])
    storages: dict[Label, Storage] = Field(
        {}, description="Named places for data.", examples=[{"home": {"claim": "alice-home"}}]
    )
    queues: dict[Label, Label] = Field(
        {}, description="Named queues.", examples=[{"default": "ads"}]
    )
    storage_classes: list[ObjectName] = Field(
        [], description="Storage classes for new claims.", examples=[["fast"]]
    )
    accelerators: list[QualifiedName] = Field(
        [], description="Resources by which nodes offer devices.", examples=[["nvidia.com/gpu"]]
    )
    spec: Object = Field(
        {},
        description="Layer of values for jobs that run here; the shape of a spec.",
        examples=[{"scheduling": {"queue": "ads"}}],
    )


class Project(Model):
    """What all jobs of a repository share; found from the spec's folder upward."""

    api_version: Literal["paddlespec.io/v1"] = Field(
        description="Version of the file.", examples=["paddlespec.io/v1"]
    )
    kind: Literal["Project"] = Field(description="Kind of the document.", examples=["Project"])
    project: Label = Field(
        description="Name that groups the jobs in the cluster.", examples=["ads-ranking"]
    )
    datacenter: Label | None = Field(
        None, description="The datacenter used unless --datacenter names one.", examples=["dc1"]
    )
    defaults: Object = Field(
        {},
        description="Lowest layer of every job; the shape of a spec.",
        examples=[{"imagePullPolicy": "Always"}],
    )
    datacenters: list[Datacenter] = Field(
        [], description="Places to run.", examples=[[{"name": "dc1", "context": "k8s-dc1"}]]
    )
