"""The configuration of one user: how to reach clusters. It contains no credentials."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from paddlespec.model.base import Label, Model, Text


class Connection(Model):
    """How the user reaches one datacenter."""

    name: Label = Field(description="Name of the datacenter.", examples=["dc1"])
    context: Text | None = Field(
        None,
        description="Kubeconfig context that provides the credentials.",
        examples=["alice@dc1"],
    )
    namespace: Label | None = Field(
        None, description="Namespace for jobs whose spec does not set one.", examples=["alice"]
    )


class Defaults(Model):
    """Settings shared by all connections."""

    context: Text | None = Field(None, description="Kubeconfig context.", examples=["minikube"])
    namespace: Label | None = Field(
        None, description="Namespace for jobs whose spec does not set one.", examples=["alice"]
    )


class Config(Model):
    """The configuration of one user. It selects connections and never affects rendering."""

    api_version: Literal["paddlespec.io/v1"] = Field(
        description="Version of the file format.", examples=["paddlespec.io/v1"]
    )
    kind: Literal["Config"] = Field(description="Kind of the document.", examples=["Config"])
    datacenter: Label | None = Field(
        None, description="Current datacenter, set by `config use`.", examples=["dc1"]
    )
    defaults: Defaults = Field(
        Defaults(context=None, namespace=None),
        description="Settings for connections that do not set them.",
        examples=[{"namespace": "alice"}],
    )
    connections: list[Connection] = Field(
        [],
        description="How to reach datacenters.",
        examples=[[{"name": "dc1", "context": "alice@dc1"}]],
    )
