"""Image registries: pull secrets as Kubernetes keeps them, and whether a registry has an image."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from paddlespec.backend import OperationFailed
from paddlespec.checks.reference import fault, host_and_rest

if TYPE_CHECKING:
    import urllib3

SECRET_TYPE = "kubernetes.io/dockerconfigjson"
KEY = ".dockerconfigjson"
DOCKER_HUB = "docker.io"
# Docker Hub has one name in images, one in configurations and one on the wire.
HUB_CONFIGURED = "https://index.docker.io/v1/"
_HUB_HOSTS = frozenset((DOCKER_HUB, "index.docker.io", "registry-1.docker.io"))
_HUB_ADDRESS = "registry-1.docker.io"
_LOCAL = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?\Z")
_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?\Z|\[[0-9a-fA-F:]+\](:[0-9]{1,5})?\Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')
_SECONDS = 15.0
_MANIFESTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)


class Credentials(NamedTuple):
    """A user and a password, which shows itself nowhere."""

    username: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.username!r}, ...)"

    @property
    def basic(self) -> str:
        return _encoded(f"{self.username}:{self.password}")


class Image(NamedTuple):
    """An image's name in its parts."""

    host: str
    name: str
    reference: str


def server_of(text: str) -> str:
    """The host of a registry as a person writes it; raises `ValueError` when it is none."""
    host = text.removeprefix("https://").removeprefix("http://").partition("/")[0]
    if not _HOST.match(host):
        raise ValueError(text)
    return DOCKER_HUB if host in _HUB_HOSTS else host


def image_of(text: str) -> Image:
    """The parts of an image's name; raises `ValueError` when it is none."""
    if fault(text):
        raise ValueError(text)
    host, rest = host_and_rest(text)
    name, _, digest = rest.partition("@")
    tag = ""
    if ":" in name.rpartition("/")[2]:
        name, _, tag = name.rpartition(":")
    host = server_of(host or DOCKER_HUB)
    if host == DOCKER_HUB and "/" not in name:
        name = f"library/{name}"
    return Image(host, name, digest or tag or "latest")


def secret(name: str, namespace: str, server: str, credentials: Credentials) -> dict[str, Any]:
    """The pull secret for one registry."""
    known = HUB_CONFIGURED if server == DOCKER_HUB else server
    entry = {**credentials._asdict(), "auth": credentials.basic}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app.kubernetes.io/managed-by": "paddlespec"},
        },
        "type": SECRET_TYPE,
        "data": {KEY: _encoded(json.dumps({"auths": {known: entry}}))},
    }


def known_to(live: dict[str, Any]) -> dict[str, Credentials]:
    """The registries of a pull secret, by host; nothing where it cannot be read."""
    try:
        held = json.loads(base64.b64decode((live.get("data") or {}).get(KEY, "")))
        auths = held["auths"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    found = {}
    for server, each in auths:
        entry = each if isinstance(each, dict) else {}
        user, password = entry.get("username"), entry.get("password")
        if not user and isinstance(entry.get("auth"), str):
            try:
                decoded = base64.b64decode(entry["auth"]).decode()
            except ValueError:
                decoded = ""
            user, _, password = decoded.partition(":")
        try:
            found[server_of(server)] = Credentials(str(user or ""), str(password or ""))
        except ValueError:
            continue
    return found


def digest_of(image: Image, credentials: Credentials | None = None) -> str:
    """
    Ask the registry for the manifest of *image*; its digest.

    Raises `OperationFailed` when there is none, or when nobody can say. No text of the registry's
    is shown, and a password goes only where the registry itself would have it, encrypted.
    """
    import urllib3

    address = _HUB_ADDRESS if image.host == DOCKER_HUB else image.host
    scheme = "http" if _LOCAL.match(address) else "https"
    url = f"{scheme}://{address}/v2/{image.name}/manifests/{image.reference}"
    pool = _pool(scheme, address)
    try:
        answer = _head(pool, url, {})
        if answer.status == 401:
            challenge = answer.headers.get("WWW-Authenticate", "")
            header = _authorization(pool, challenge, scheme, image, credentials)
            answer = _head(pool, url, {"Authorization": header})
    except urllib3.exceptions.HTTPError as error:
        reason = getattr(error, "reason", None) or error
        raise OperationFailed(
            f"registry {image.host} cannot be reached: {type(reason).__name__}",
            "nodes of the cluster may reach what this machine does not",
        ) from None
    return _digest(answer, image, credentials)


def _digest(answer: urllib3.BaseHTTPResponse, image: Image, credentials: Credentials | None) -> str:
    named = f"{image.name}{'@' if ':' in image.reference else ':'}{image.reference}"
    if answer.status == 200:
        found = answer.headers.get("Docker-Content-Digest", "")
        return found if _DIGEST.match(found) else "unknown digest"
    if answer.status == 404:
        raise OperationFailed(f"registry {image.host} has no {named}")
    if answer.status in (401, 403):
        who = f"user {credentials.username}" if credentials else "anybody without a password"
        raise OperationFailed(
            f"registry {image.host} does not give {named} to {who}, or there is no such image",
            None if credentials else "--registry NAME asks with a pull secret of the cluster",
        )
    if answer.status == 429:
        raise OperationFailed(f"registry {image.host} has been asked too often; try again later")
    raise OperationFailed(f"registry {image.host} answers {answer.status} for {named}")


def _authorization(
    pool: urllib3.PoolManager,
    challenge: str,
    scheme: str,
    image: Image,
    credentials: Credentials | None,
) -> str:
    """The header that the registry's *challenge* asks for: a password, or a token for it."""
    kind, _, rest = challenge.partition(" ")
    basic = {"Authorization": f"Basic {credentials.basic}"} if credentials else {}
    if kind.lower() == "basic":
        return basic.get("Authorization", "Basic")
    said = dict(_PARAMETER.findall(rest))
    realm = said.get("realm", "")
    where = urlsplit(realm)
    if kind.lower() != "bearer" or where.scheme not in ("https", scheme) or not where.hostname:
        raise OperationFailed(f"registry {image.host} asks for credentials in an unknown way")
    query = {key: said[key] for key in ("service", "scope") if key in said}
    query.setdefault("scope", f"repository:{image.name}:pull")
    url = f"{realm}{'&' if where.query else '?'}{urlencode(query)}"
    answer = pool.request("GET", url, headers=basic, redirect=False)
    try:
        given = json.loads(answer.data) if answer.status == 200 else {}
    except ValueError:
        given = {}
    token = (given.get("token") or given.get("access_token")) if isinstance(given, dict) else None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        who = f"user {credentials.username}" if credentials else "anybody without a password"
        raise OperationFailed(f"registry {image.host} gives no token to {who} ({answer.status})")
    return f"Bearer {token}"


def _head(pool: urllib3.PoolManager, url: str, headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
    sent = {"Accept": ", ".join(_MANIFESTS), **headers}
    answer = pool.request("HEAD", url, headers=sent, redirect=False)
    if answer.status == 405:
        answer = pool.request("GET", url, headers=sent, redirect=False)
    return answer


def _pool(scheme: str, address: str) -> urllib3.PoolManager:
    """Connections, through a proxy where the environment says so."""
    from urllib.request import getproxies, proxy_bypass

    import urllib3

    proxy = None if proxy_bypass(address) else getproxies().get(scheme)
    timeout = urllib3.Timeout(total=_SECONDS)
    if proxy:
        return urllib3.ProxyManager(proxy, timeout=timeout, retries=False)
    return urllib3.PoolManager(timeout=timeout, retries=False)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
