"""Describe why a server cannot be reached."""

from __future__ import annotations

import socket
import ssl

import urllib3

from paddlespec.runs.failures import OperationFailed


def unreachable(host: str, error: urllib3.exceptions.HTTPError) -> OperationFailed:
    """Describe a connection error in one line; the text of the library names internal objects."""
    hint = "check the context, and that its network or VPN is up"
    cause = error.__cause__ or error.__context__ or error
    if isinstance(error, urllib3.exceptions.ProxyError):
        return OperationFailed(
            f"cannot reach {host} through the proxy",
            "check proxy-url in the kubeconfig, HTTPS_PROXY and NO_PROXY",
        )
    if is_untrusted(error):
        return OperationFailed(
            f"cannot verify the certificate of {host}",
            "check certificate-authority in the kubeconfig",
        )
    if isinstance(error, urllib3.exceptions.SSLError):
        return OperationFailed(
            f"cannot reach {host}: the TLS handshake failed", "check that the server speaks TLS"
        )
    if isinstance(cause, socket.gaierror):
        return OperationFailed(f"cannot reach {host}: unknown host", hint)
    if is_timeout(error):
        return OperationFailed(f"cannot reach {host}: timed out", hint)
    reason = getattr(cause, "strerror", None)
    return OperationFailed(f"cannot reach {host}: {str(reason or 'connection lost').lower()}", hint)


def is_untrusted(error: urllib3.exceptions.HTTPError) -> bool:
    """Report whether a certificate is not trusted; a handshake that breaks off is something else."""
    causes = (error.__cause__, error.__context__, *error.args)
    return any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes)


def is_timeout(error: urllib3.exceptions.HTTPError) -> bool:
    """Report whether a server is silent, rather than absent."""
    return isinstance(error, urllib3.exceptions.TimeoutError) and not isinstance(
        error, urllib3.exceptions.NewConnectionError
    )
