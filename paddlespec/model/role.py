"""Roles: sets of equal replicas, and what each replica asks for."""

from __future__ import annotations

from typing import Annotated, Literal, Union

from pydantic import Field

from paddlespec.model.base import (
    WHOLE,
    EnvName,
    LabelValue,
    Model,
    Object,
    ObjectName,
    Port,
    PortName,
    QualifiedName,
    Quantity,
    Scalar,
    Text,
    described,
)


class EnvSource(Model):
    """
    A variable's value that is not written in the open.

    Either `secret` and `key` (a reference), or `configMap` and `key`, or `value` with `sensitive`.
    """

    secret: ObjectName | None = Field(
        None, description="Name of the Secret that holds the value.", examples=["team-token"]
    )
    config_map: ObjectName | None = Field(
        None, description="Name of the ConfigMap that holds the value.", examples=["team-settings"]
    )
    key: Text | None = Field(
        None, description="Key inside the Secret or ConfigMap.", examples=["token"]
    )
    value: Scalar | None = Field(None, description="The value itself.", examples=["abc"])
    sensitive: bool = Field(
        False, description="Mask the value in every output of this tool.", examples=[True]
    )


EnvValue = Union[Scalar, EnvSource]
Env = dict[EnvName, EnvValue]
Command = Union[Text, Annotated[list[str], Field(min_length=1)]]


class Resources(Model):
    """What one replica asks of its node; limits equal requests."""

    cpu: Quantity = Field(1, description="CPU cores of each replica.", examples=[2, "500m"])
    memory: Quantity = Field(
        "1Gi", description="Memory of each replica.", examples=["4Gi", "512Mi"]
    )
    gpu: Annotated[int, Field(ge=0, le=1024), WHOLE] = Field(
        0, description="Accelerators of each replica.", examples=[1, 8]
    )
    accelerator: QualifiedName = Field(
        "nvidia.com/gpu",
        description="Resource name that `gpu` counts, as the cluster's device plugin calls it.",
        examples=["nvidia.com/gpu", "huawei.com/Ascend910"],
    )
    shared_memory: Quantity | None = Field(
        None,
        description="Size of the memory-backed `/dev/shm`; part of `memory`. "
        "Half of the memory when absent.",
        examples=["1Gi"],
    )


class Toleration(Model):
    """A taint that the replicas put up with, as Kubernetes defines it."""

    key: QualifiedName | None = Field(
        None, description="Taint key; absent matches every key.", examples=["nvidia.com/gpu"]
    )
    operator: Literal["Exists", "Equal"] = Field(
        "Equal", description="How key and value are compared.", examples=["Exists"]
    )
    value: LabelValue | None = Field(
        None, description="Taint value for `Equal`.", examples=["training"]
    )
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        None, description="Taint effect; absent matches every effect.", examples=["NoSchedule"]
    )
    toleration_seconds: Annotated[int, Field(ge=0, le=2**31), WHOLE] | None = Field(
        None, description="Seconds that a `NoExecute` taint is put up with.", examples=[300]
    )


class Role(Model):
    """A set of equal replicas."""

    replicas: Annotated[int, Field(ge=1, le=10_000), WHOLE] = Field(
        1, description="How many replicas run.", examples=[4]
    )
    resources: Resources = Field(
        Resources(), description="What each replica asks of its node.", examples=[{"cpu": 2}]
    )
    ports: dict[PortName, Port] = Field(
        {}, description="Named ports that the replicas listen on.", examples=[{"tensorboard": 6006}]
    )
    env: Env = Field(
        {}, description="Variables of this role; they win over `spec.env`.", examples=[{"A": "1"}]
    )
    image: Text | None = Field(
        None, description="Image of this role instead of `spec.image`.", examples=["team/ps:1.2"]
    )
    command: Command | None = Field(
        None,
        description="Command of this role instead of `spec.command`.",
        examples=["python serve.py"],
    )
    node_selector: dict[QualifiedName, LabelValue] = Field(
        {}, description="Labels that a node must have.", examples=[{"gpu": "a100"}]
    )
    tolerations: list[Toleration] = Field(
        [],
        description="Taints that the replicas put up with.",
        examples=[[{"key": "gpu", "operator": "Exists"}]],
    )
    affinity: Object | None = Field(
        None,
        description="Kubernetes affinity, passed on as it is.",
        examples=[{"podAntiAffinity": {}}],
    )


class Trainers(Role):
    """The replicas that train."""

    processes_per_replica: Annotated[int, Field(ge=1, le=1024), WHOLE] = Field(
        1,
        description="Training processes of each replica in mode collective "
        "(`--nproc_per_node` of Paddle's launcher).",
        examples=[8],
    )


class Pservers(Role):
    """The replicas that hold the parameters, in modes ps and legacy."""

    workload: Literal["Job", "StatefulSet"] = Field(
        "Job",
        description="Kubernetes object that runs them. A lost pserver fails the run with `Job`; "
        "`StatefulSet` restarts it empty and is only for programs that reload their own state.",
        examples=["Job"],
        json_schema_extra=described(
            Job="A lost pserver fails the run.",
            StatefulSet="A lost pserver is restarted empty.",
        ),
    )
