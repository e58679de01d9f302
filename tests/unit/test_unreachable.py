"""How a failed connection is described."""

from __future__ import annotations

import ssl

import pytest
import urllib3

from paddlespec.backends.cluster.api.unreachable import is_untrusted, unreachable


@pytest.mark.parametrize(
    ("cause", "untrusted", "message"),
    [
        (ssl.SSLCertVerificationError(1, "x"), True, "cannot verify the certificate of h"),
        (ssl.SSLEOFError(8, "x"), False, "cannot reach h: the TLS handshake failed"),
        (ssl.SSLError(1, "x"), False, "cannot reach h: the TLS handshake failed"),
    ],
)
def test_only_a_certificate_that_is_not_trusted_is_final(
    cause: ssl.SSLError, untrusted: bool, message: str
) -> None:
    """A server that restarts breaks off handshakes."""
    error = urllib3.exceptions.SSLError(cause)
    assert is_untrusted(error) is untrusted
    assert unreachable("h", error).message == message
