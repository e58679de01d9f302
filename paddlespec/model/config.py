"""A person's own configuration: which clusters they reach how; it holds no credentials."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from paddlespec.model.base import Label, Model, Text


class Connection(Model):
    """How one person reaches a datacenter."""

    name: Label = Field(description="Name of the datacenter.", examples=["dc1"])
    context: Text | None = Field(
        None,
        description="Context of the kubeconfig, which has the credentials.",
        examples=["alice@dc1"],
    )
    namespace: Label | None = Field(
        None, description="Namespace for jobs whose spec names none.", examples=["alice"]
    )


class Defaults(Model):
    """What all connections of a person share."""

    context: Text | None = Field(
        None, description="Context of the kubeconfig.", examples=["minikube"]
    )
    namespace: Label | None = Field(
        None, description="Namespace for jobs whose spec names none.", examples=["alice"]
    )


class Config(Model):
    """A person's own configuration; it chooses connections and never changes what is rendered."""

    api_version: Literal["paddlespec.io/v1"] = Field(
        description="Version of the file.", examples=["paddlespec.io/v1"]
    )
    kind: Literal["Config"] = Field(description="Kind of the document.", examples=["Config"])
    datacenter: Label | None = Field(
        None, description="The current datacenter, as `config use` sets it.", examples=["dc1"]
    )
    defaults: Defaults = Field(
        Defaults(context=None, namespace=None),
        description="What holds for connections that do not say it themselves.",
        examples=[{"namespace": "alice"}],
    )
    connections: list[Connection] = Field(
        [],
        description="How to reach datacenters.",
        examples=[[{"name": "dc1", "context": "alice@dc1"}]],
    )
