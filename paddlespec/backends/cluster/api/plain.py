"""
Connect with the credentials that most kubeconfigs hold: tokens, and certificates of clients.

The official client knows every kind of credential, and takes a third of the time of a short command
to import. It is loaded for all others: plugins, identity providers, passwords, proxies.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

import urllib3
from urllib3.util.ssl_ import create_urllib3_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.cluster.api.kubeconfig import Entry

_CERTIFICATE, _KEY = "client-certificate", "client-key"
_USER = frozenset(
    ("token", "tokenFile", _CERTIFICATE, _KEY, f"{_CERTIFICATE}-data", f"{_KEY}-data")
)
_AUTHORITY = "certificate-authority"
_CLUSTER = frozenset(
    (
        *("server", "insecure-skip-tls-verify", "tls-server-name", "extensions"),
        *(_AUTHORITY, f"{_AUTHORITY}-data"),
    )
)


class Plain(NamedTuple):
    """A cluster and a user that need no library, and how to encrypt what they exchange."""

    cluster: Entry
    user: Entry
    context: ssl.SSLContext

    def pool(self, size: int) -> urllib3.PoolManager:
        """Open connections, *size* at once."""
        name = self.cluster.content.get("tls-server-name")
        names = {"server_hostname": name, "assert_hostname": name} if name else {}
        return urllib3.PoolManager(num_pools=4, maxsize=size, ssl_context=self.context, **names)

    def authorization(self) -> str | None:
        """Return the value of the header; a token in a file is rotated, so the file is read anew."""
        path, token = self.user.path("tokenFile"), self.user.content.get("token")
        if path is not None:
            with open(path, encoding="utf-8") as file:
                token = file.read().strip()
        return f"Bearer {token}" if token else None


def plain(
    cluster: Entry | None, user: Entry | None, environment: Mapping[str, str]
) -> Plain | None:
    """Return the connection if it needs no library; the library also reports what is wrong."""
    if cluster is None or user is None or _has_proxy(environment):
        return None
    known = cluster.content.keys() <= _CLUSTER and user.content.keys() <= _USER
    texts = [*user.content.values(), cluster.content.get("server")]
    if not known or not all(isinstance(text, str) for text in texts):
        return None
    try:
        connection = Plain(cluster, user, _context(cluster, user))
        connection.authorization()
    except (OSError, ValueError):
        return None
    return connection


def _has_proxy(environment: Mapping[str, str]) -> bool:
    """Report whether a proxy may apply; which hosts it serves is left to the library."""
    values = {key.lower(): value for key, value in environment.items()}
    direct = values.pop("no_proxy", "").strip() == "*"
    return not direct and any(value for key, value in values.items() if key.endswith("_proxy"))


def _context(cluster: Entry, user: Entry) -> ssl.SSLContext:
    """Trust the authority of the cluster, and present the certificate of the user."""
    context = create_urllib3_context()
    authority = _content(cluster, _AUTHORITY)
    if cluster.content.get("insecure-skip-tls-verify"):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif authority is not None:
        context.load_verify_locations(cadata=authority.decode("ascii"))
    elif not cluster.content["server"].startswith("http://"):
        context.load_default_certs()
    certificate, key = _content(user, _CERTIFICATE), _content(user, _KEY)
    if certificate is not None and key is not None:
        _load(context, certificate, key)
    return context


def _content(entry: Entry, key: str) -> bytes | None:
    """Return the certificate or key under *key*, which is a path or the content itself."""
    data, path = entry.content.get(f"{key}-data"), entry.path(key)
    if data:
        try:
            return base64.b64decode(data, validate=True)
        except binascii.Error:
            raise ValueError(key) from None
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()


def _load(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load the certificate of a client; OpenSSL reads it only from files."""
    with tempfile.TemporaryDirectory(prefix="paddlespec-") as folder:
        paths: list[Any] = [os.path.join(folder, name) for name in ("certificate", "key")]
        for path, content in zip(paths, (certificate, key), strict=True):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
        context.load_cert_chain(*paths)
