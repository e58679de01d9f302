"""Sidecars: containers that run beside the command of a replica and stop with it."""

from __future__ import annotations

from pydantic import Field

from paddlespec.model.base import AbsolutePath, Label, Model, Quantity, Text
from paddlespec.model.env import Command, Env


class SidecarMount(Model):
    """A volume of the replica, mounted in a sidecar."""

    name: Label = Field(description="Name of a volume of the replica.", examples=["output"])
    mount_path: AbsolutePath | None = Field(
        None,
        description="Path of the volume in the sidecar. Defaults to the path in the replica.",
        examples=["/logs"],
    )
    sub_path: Text | None = Field(
        None,
        description="Folder in the volume to mount instead of its root.",
        examples=["logs"],
    )
    read_only: bool = Field(False, description="Mount without write access.", examples=[True])


class SidecarResources(Model):
    """Resources of a sidecar, as requests and limits. What is unset has neither."""

    cpu: Quantity | None = Field(None, description="CPU cores.", examples=["100m"])
    memory: Quantity | None = Field(None, description="Memory.", examples=["256Mi"])


class Sidecar(Model):
    """A container beside the command of a replica."""

    name: Label = Field(
        description="Name of the container. Layers merge sidecars by name.",
        examples=["tensorboard"],
    )
    image: Text | None = Field(
        None,
        description="Image of the sidecar. Defaults to that of the role.",
        examples=["team/exporter:1.0"],
    )
    command: Command | None = Field(
        None,
        description="Command of the sidecar. A string is run by a shell. Defaults to that of the "
        "image.",
        examples=["tensorboard --logdir /output --bind_all"],
    )
    args: list[str] = Field(
        [],
        description="Arguments of the command, or of the entry point of the image.",
        examples=[["--port", "9100"]],
    )
    env: Env = Field(
        {},
        description="Environment variables of the sidecar, beside PADDLESPEC_*.",
        examples=[{"A": "1"}],
    )
    resources: SidecarResources = Field(
        SidecarResources(), description="Resources of the sidecar.", examples=[{"memory": "256Mi"}]
    )
    volume_mounts: list[SidecarMount] = Field(
        [],
        description="Volumes of the replica that the sidecar mounts.",
        examples=[[{"name": "output"}]],
    )
