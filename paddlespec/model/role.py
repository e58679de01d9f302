"""Roles: sets of equal replicas and their resource requests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from paddlespec.model.base import (
    WHOLE,
    Label,
    LabelValue,
    LimitQuantity,
    Model,
    Object,
    ObjectName,
    Port,
    PortName,
    QualifiedName,
    Quantity,
    Text,
    described,
)
from paddlespec.model.env import Command, Env, EnvFrom
from paddlespec.model.pod import Pod
from paddlespec.model.sidecar import Sidecar
from paddlespec.model.volume import Volume


class Limits(Model):
    """Limits that differ from the requests."""

    cpu: LimitQuantity | None = Field(
        None, description="Maximum CPU cores per replica, or none.", examples=[8, "none"]
    )
    memory: LimitQuantity | None = Field(
        None,
        description="Maximum memory per replica, or none. A replica that uses more is killed.",
        examples=["16Gi"],
    )
    ephemeral_storage: LimitQuantity | None = Field(
        None,
        description="Maximum disk space per replica, or none. A replica that uses more is evicted.",
        examples=["100Gi"],
    )


class ResourceClaim(Model):
    """Devices of Dynamic Resource Allocation. Set `claim` or `template`."""

    name: Label = Field(
        description="Name of the claim in the replicas. Layers merge claims by name.",
        examples=["gpus"],
    )
    template: ObjectName | None = Field(
        None,
        description="Name of the ResourceClaimTemplate from which every replica gets its own claim.",
        examples=["eight-gpus"],
    )
    claim: ObjectName | None = Field(
        None,
        description="Name of an existing ResourceClaim that all replicas share.",
        examples=["shared-nic"],
    )
    request: Label | None = Field(
        None,
        description="Request of the claim to use. If unset, all of its requests.",
        examples=["gpu"],
    )


class Resources(Model):
    """
    Resources of one replica.

    `cpu`, `memory` and `ephemeralStorage` are requests and limits, unless `limits` changes the limit.
    What is unset has neither.
    """

    cpu: Quantity | None = Field(None, description="CPU cores per replica.", examples=[2, "500m"])
    memory: Quantity | None = Field(
        None, description="Memory per replica.", examples=["4Gi", "512Mi"]
    )
    ephemeral_storage: Quantity | None = Field(
        None,
        description="Disk space of the node per replica, for its files, logs and scratch volumes.",
        examples=["50Gi"],
    )
    limits: Limits = Field(
        Limits(),
        description="Limits that differ from the requests; `none` for no limit.",
        examples=[{"memory": "16Gi"}, {"cpu": "none"}],
    )
    gpu: Annotated[int, Field(ge=0, le=1024), WHOLE] = Field(
        0, description="Accelerators per replica.", examples=[1, 8]
    )
    accelerator: QualifiedName = Field(
        "nvidia.com/gpu",
        description="Name of the resource that `gpu` requests, as registered by the device plugin.",
        examples=["nvidia.com/gpu", "huawei.com/Ascend910"],
    )
    extended: dict[QualifiedName, Quantity] = Field(
        {},
        description="Other resources of nodes by name, such as network devices and huge pages.",
        examples=[{"rdma/hca": 1}],
    )
    claims: list[ResourceClaim] = Field(
        [],
        description="Devices of Dynamic Resource Allocation.",
        examples=[[{"name": "gpus", "template": "eight-gpus"}]],
    )
    shared_memory: Quantity | None = Field(
        None,
        description="Size of `/dev/shm`, which counts towards `memory`. "
        "Defaults to half of the memory limit.",
        examples=["1Gi"],
    )


class Toleration(Model):
    """A Kubernetes toleration: a taint that the replicas tolerate."""

    key: QualifiedName | None = Field(
        None, description="Taint key. If unset, matches every key.", examples=["nvidia.com/gpu"]
    )
    operator: Literal["Exists", "Equal"] = Field(
        "Equal", description="How to compare key and value.", examples=["Exists"]
    )
    value: LabelValue | None = Field(
        None, description="Taint value for `Equal`.", examples=["training"]
    )
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        None, description="Taint effect. If unset, matches every effect.", examples=["NoSchedule"]
    )
    toleration_seconds: Annotated[int, Field(ge=0, le=2**31), WHOLE] | None = Field(
        None, description="Seconds to tolerate a `NoExecute` taint.", examples=[300]
    )


class Role(Model):
    """A set of equal replicas."""

    replicas: Annotated[int, Field(ge=1, le=10_000), WHOLE] = Field(
        1, description="Number of replicas.", examples=[4]
    )
    resources: Resources = Field(
        Resources(), description="Resources per replica.", examples=[{"cpu": 2}]
    )
    ports: dict[PortName, Port] = Field(
        {}, description="Ports of the replicas by name.", examples=[{"tensorboard": 6006}]
    )
    env: Env = Field(
        {},
        description="Environment variables of this role. Override `spec.env`.",
        examples=[{"A": "1"}],
    )
    env_from: list[EnvFrom] = Field(
        [],
        description="Secrets and ConfigMaps whose keys are variables of this role, after those of "
        "`spec.envFrom`.",
        examples=[[{"secret": "team-credentials"}]],
    )
    image: Text | None = Field(
        None, description="Image of this role. Overrides `spec.image`.", examples=["team/ps:1.2"]
    )
    command: Command | None = Field(
        None,
        description="Command of this role. Overrides `spec.command`.",
        examples=["python serve.py"],
    )
    args: list[str] = Field(
        [],
        description="Arguments for the entry point of the image of this role. Override `spec.args`.",
        examples=[["--port", "80"]],
    )
    volumes: list[Volume] = Field(
        [],
        description="Volumes mounted in this role, beside those of `spec.volumes`.",
        examples=[[{"name": "cache", "mountPath": "/cache", "emptyDir": {}}]],
    )
    sidecars: list[Sidecar] = Field(
        [],
        description="Containers beside those of this role, and beside `spec.sidecars`.",
        examples=[[{"name": "exporter", "image": "team/exporter:1.0"}]],
    )
    node_selector: dict[QualifiedName, LabelValue] = Field(
        {}, description="Required labels of the nodes.", examples=[{"gpu": "a100"}]
    )
    tolerations: list[Toleration] = Field(
        [],
        description="Taints that the replicas tolerate.",
        examples=[[{"key": "gpu", "operator": "Exists"}]],
    )
    affinity: Object | None = Field(
        None,
        description="Kubernetes affinity, passed through unchanged.",
        examples=[{"podAntiAffinity": {}}],
    )
    pod: Pod = Field(
        Pod(),
        description="Settings of the pods of this role. Override `spec.pod`.",
        examples=[{"annotations": {"k8s.v1.cni.cncf.io/networks": "rdma-net"}}],
    )


class Trainers(Role):
    """Replicas that train."""

    processes_per_replica: Annotated[int, Field(ge=1, le=1024), WHOLE] | None = Field(
        None,
        description="Training processes per replica in mode collective "
        "(`--nproc_per_node` of Paddle's launcher). Defaults to the number of accelerators, or 1.",
        examples=[8],
    )


class Pservers(Role):
    """Replicas that hold the parameters, in modes ps and legacy."""

    workload: Literal["Job", "StatefulSet"] = Field(
        "Job",
        description="Kubernetes workload of the pservers. With `Job`, a lost pserver fails the "
        "run. `StatefulSet` restarts it empty; use it only for programs that reload their state.",
        examples=["Job"],
        json_schema_extra=described(
            Job="A lost pserver fails the run.",
            StatefulSet="A lost pserver restarts empty.",
        ),
    )
