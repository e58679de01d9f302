"""The network of a job: pods or nodes, ports, and RDMA devices."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from paddlespec.model.base import WHOLE, Model, Port, QualifiedName


class NetworkPorts(Model):
    """Ports on which replicas meet. Unset ports have fixed defaults, or depend on the job's name."""

    master: Port | None = Field(
        None,
        description="Port of the rendezvous of Paddle's launcher, in mode collective. "
        "Defaults to 6768.",
        examples=[20768],
    )
    pserver: Port | None = Field(
        None,
        description="Port of the pservers, in modes ps and legacy; in legacy, the first one. "
        "Defaults to 6174, in legacy to 7164.",
        examples=[20174],
    )
    gloo: Port | None = Field(
        None,
        description="Port of gloo's rendezvous on the first pserver, in mode ps. Defaults to 6175.",
        examples=[20175],
    )


class Rdma(Model):
    """RDMA devices of a trainer."""

    resource: QualifiedName = Field(
        "rdma/hca",
        description="Name of the resource, as registered by the device plugin.",
        examples=["rdma/hca", "nvidia.com/hostdev"],
    )
    count: Annotated[int, Field(ge=1, le=64), WHOLE] = Field(
        1, description="Devices per trainer.", examples=[1]
    )


class Network(Model):
    """How replicas reach each other."""

    host: bool = Field(
        False,
        description="Use the network of the nodes instead of the pod network. Ports that "
        "`ports` leaves unset are derived from the name of the job.",
        examples=[True],
    )
    ports: NetworkPorts = Field(
        NetworkPorts(), description="Ports on which replicas meet.", examples=[{"master": 20768}]
    )
    rdma: bool | Rdma = Field(
        False,
        description="Give every trainer RDMA devices and the capability to lock memory. "
        "`true` requests one `rdma/hca`.",
        examples=[True, {"resource": "rdma/hca", "count": 1}],
    )
