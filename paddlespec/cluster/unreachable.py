"""A server that cannot be reached, in words."""

from __future__ import annotations

import socket

import urllib3

from paddlespec.backend import OperationFailed


def unreachable(host: str, error: urllib3.exceptions.HTTPError) -> OperationFailed:
    """The trouble of a connection in one line; the library's own text spans objects."""
    hint = "is it the right context, and is its network (or VPN) up?"
    cause = error.__cause__ or error.__context__ or error
    if isinstance(error, urllib3.exceptions.ProxyError):
        return OperationFailed(
            f"cannot reach {host} through the proxy",
            "see proxy-url of the kubeconfig, HTTPS_PROXY and NO_PROXY",
        )
    if isinstance(error, urllib3.exceptions.SSLError):
        return OperationFailed(
            f"cannot trust {host}: its certificate is not the one that the kubeconfig expects",
            "see certificate-authority of the kubeconfig",
        )
    if isinstance(cause, socket.gaierror):
        return OperationFailed(f"cannot reach {host}: its name is not known", hint)
    if isinstance(error, urllib3.exceptions.TimeoutError) and not isinstance(
        error, urllib3.exceptions.NewConnectionError
    ):
        return OperationFailed(f"cannot reach {host}: no answer in time", hint)
    reason = getattr(cause, "strerror", None)
    return OperationFailed(
        f"cannot reach {host}: {str(reason or 'the connection broke').lower()}", hint
    )
