"""The backend `cluster`: Kubernetes, as kubectl would reach it. Loads no client."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from paddlespec.backends.protocols import Knowledge

if TYPE_CHECKING:
    from paddlespec.backends.protocols import Engine, Place, Request

name = "cluster"
target = "kubernetes"
where = "the cluster"
options = frozenset({"--kubeconfig", "--context"})
has_datacenters = True
is_foreground = False


def check(request: Request) -> None:
    """Accept every value: the kubeconfig is read when an operation needs it."""


def open_engine(request: Request, place: Place) -> Engine:
    """Return an engine that connects at its first operation."""
    from paddlespec.backends.cluster.api.connection import resolve
    from paddlespec.backends.cluster.engine import Engine as ClusterEngine

    kubeconfig, context = request.option("--kubeconfig"), request.option("--context")
    namespace = request.namespace or place.namespace
    connection = partial(resolve, kubeconfig, context, namespace, place.context)
    return ClusterEngine(connection, request.deadline, request.report)


def is_available() -> bool:
    """Report whether kubectl would find a cluster."""
    files = (os.environ.get("KUBECONFIG") or "~/.kube/config").split(os.pathsep)
    in_pod = bool(os.environ.get("KUBERNETES_SERVICE_HOST"))
    return in_pod or any(os.path.exists(os.path.expanduser(file)) for file in files if file)


def contexts(kubeconfig: str | None) -> list[str]:
    """Return the contexts that --context takes."""
    from paddlespec.backends.cluster.api.kubeconfig import load

    return load(kubeconfig, os.environ).contexts


def knowledge(name: str, namespace: str | None) -> Knowledge:  # noqa: ARG001 - only the server knows
    """Return nothing, because only a request could answer."""
    return Knowledge.nothing
