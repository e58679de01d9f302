"""Environment variables and commands, of replicas and of sidecars."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from paddlespec.model.base import EnvName, Model, ObjectName, Quantity, Scalar, Text


class EnvSource(Model):
    """
    The source of a variable's value.

    One of `secret` with `key`, `configMap` with `key`, `field`, `resource`, or `value` with
    `sensitive`.
    """

    secret: ObjectName | None = Field(
        None, description="Name of the Secret with the value.", examples=["team-token"]
    )
    config_map: ObjectName | None = Field(
        None, description="Name of the ConfigMap with the value.", examples=["team-settings"]
    )
    key: Text | None = Field(
        None, description="Key in the Secret or ConfigMap.", examples=["token"]
    )
    field: Text | None = Field(
        None, description="Field of the pod.", examples=["status.hostIP", "metadata.name"]
    )
    resource: Text | None = Field(
        None,
        description="Request or limit of the container, in cores or bytes.",
        examples=["limits.memory", "requests.cpu"],
    )
    divisor: Quantity | None = Field(
        None, description="Unit in which `resource` is counted, rounded up.", examples=["1Mi"]
    )
    value: Scalar | None = Field(None, description="Literal value.", examples=["abc"])
    sensitive: bool = Field(
        False, description="Mask the value in all output of paddlespec.", examples=[True]
    )


class EnvFrom(Model):
    """All keys of a Secret or ConfigMap as variables. Set `secret` or `configMap`."""

    secret: ObjectName | None = Field(
        None, description="Name of the Secret.", examples=["team-credentials"]
    )
    config_map: ObjectName | None = Field(
        None, description="Name of the ConfigMap.", examples=["team-settings"]
    )
    prefix: EnvName | None = Field(
        None, description="Text before the names of the variables.", examples=["TEAM_"]
    )
    optional: bool = Field(
        False, description="Start without it if it does not exist.", examples=[True]
    )


EnvValue = Scalar | EnvSource
Env = dict[EnvName, EnvValue]
Command = Text | Annotated[list[str], Field(min_length=1)]
