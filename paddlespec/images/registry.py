"""Image registries: pull secrets of Kubernetes, and digests of images."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from paddlespec.answers import MIB, Limits, bounded, content, limited, parsed
from paddlespec.images.reference import fault, host_and_rest
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    import urllib3

SECRET_TYPE = "kubernetes.io/dockerconfigjson"
KEY = ".dockerconfigjson"
DOCKER_HUB = "docker.io"
# Docker Hub has different names in images, in configurations and on the network.
HUB_CONFIGURED = "https://index.docker.io/v1/"
_HUB_HOSTS = frozenset((DOCKER_HUB, "index.docker.io", "registry-1.docker.io"))
_HUB_ADDRESS = "registry-1.docker.io"
_LOCAL = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?\Z")
_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?\Z|\[[0-9a-fA-F:]+\](:[0-9]{1,5})?\Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')
_SECONDS = 15.0
# Tokens are a few kilobytes, manifests less than one.
_LARGEST = 4 * MIB
_MANIFESTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)


class Credentials(NamedTuple):
    """A user and a password, which is never printed."""

    username: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.username!r}, ...)"

    @property
    def basic(self) -> str:
        return _encoded(f"{self.username}:{self.password}")


class Image(NamedTuple):
    """The parts of an image name."""

    host: str
    name: str
    reference: str


def server_of(text: str) -> str:
    """Parse the host of a registry; raises `ValueError` if it is invalid."""
    host = text.removeprefix("https://").removeprefix("http://").partition("/")[0]
    if not _HOST.match(host):
        raise ValueError(text)
    return DOCKER_HUB if host in _HUB_HOSTS else host


def image_of(text: str) -> Image:
    """Parse an image name; raises `ValueError` if it is invalid."""
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
    """Build the pull secret for one registry."""
    key = HUB_CONFIGURED if server == DOCKER_HUB else server
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
        "data": {KEY: _encoded(json.dumps({"auths": {key: entry}}))},
    }


def known_to(live: dict[str, Any]) -> dict[str, Credentials]:
    """Return the credentials in a pull secret by host; empty if it cannot be read."""
    try:
        config = json.loads(base64.b64decode((live.get("data") or {}).get(KEY, "")))
        auths = config["auths"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    by_host = {}
    for server, auth in auths:
        entry = auth if isinstance(auth, dict) else {}
        user, password = entry.get("username"), entry.get("password")
        if not user and isinstance(entry.get("auth"), str):
            try:
                decoded = base64.b64decode(entry["auth"]).decode()
            except ValueError:
                decoded = ""
            user, _, password = decoded.partition(":")
        try:
            by_host[server_of(server)] = Credentials(str(user or ""), str(password or ""))
        except ValueError:
            continue
    return by_host


def digest_of(image: Image, credentials: Credentials | None = None) -> str:
    """
    Request the manifest of *image* from its registry and return the digest.

    Raises `OperationFailed` if the image does not exist or the registry does not answer. Text from
    the registry is never shown. A password is sent only to the registry or the token service it
    names, and only encrypted.
    """
    import urllib3

    address = _HUB_ADDRESS if image.host == DOCKER_HUB else image.host
    scheme = "http" if _LOCAL.match(address) else "https"
    url = f"{scheme}://{address}/v2/{image.name}/manifests/{image.reference}"
    pool = _pool(scheme, address)
    try:
        answer = _head(pool, url, {}, image.host)
        if answer.status == 401:
            challenge = answer.headers.get("WWW-Authenticate", "")
            header = _authorization(pool, challenge, scheme, image, credentials)
            answer = _head(pool, url, {"Authorization": header}, image.host)
    except urllib3.exceptions.HTTPError as error:
        reason = getattr(error, "reason", None) or error
        raise OperationFailed(
            f"cannot reach registry {image.host}: {type(reason).__name__}",
            "check the network of this machine; nodes of the cluster may still reach the registry",
        ) from None
    return _digest(answer, image, credentials)


def _digest(answer: urllib3.BaseHTTPResponse, image: Image, credentials: Credentials | None) -> str:
    name = f"{image.name}{'@' if ':' in image.reference else ':'}{image.reference}"
    if answer.status == 200:
        digest = answer.headers.get("Docker-Content-Digest", "")
        return digest if _DIGEST.match(digest) else "unknown digest"
    if answer.status == 404:
        raise OperationFailed(f"image {name} not found in registry {image.host}")
    if answer.status in (401, 403):
        raise OperationFailed(
            f"access to image {name} in registry {image.host} denied for {_user(credentials)}, "
            "or the image does not exist",
            None if credentials else "use a pull secret of the cluster with --registry NAME",
        )
    if answer.status == 429:
        raise OperationFailed(f"registry {image.host} limits requests", "try again later")
    raise OperationFailed(f"registry {image.host} returned status {answer.status} for {name}")


def _user(credentials: Credentials | None) -> str:
    return f"user {credentials.username}" if credentials else "anonymous users"


def _authorization(
    pool: urllib3.PoolManager,
    challenge: str,
    scheme: str,
    image: Image,
    credentials: Credentials | None,
) -> str:
    """Return the header for the registry's *challenge*: a password, or a token for it."""
    kind, _, rest = challenge.partition(" ")
    basic = {"Authorization": f"Basic {credentials.basic}"} if credentials else {}
    if kind.lower() == "basic":
        return basic.get("Authorization", "Basic")
    parameters = dict(_PARAMETER.findall(rest))
    realm = parameters.get("realm", "")
    where = urlsplit(realm)
    if kind.lower() != "bearer" or where.scheme not in ("https", scheme) or not where.hostname:
        raise OperationFailed(f"registry {image.host} uses an unknown authentication scheme")
    query = {key: parameters[key] for key in ("service", "scope") if key in parameters}
    query.setdefault("scope", f"repository:{image.name}:pull")
    url = f"{realm}{'&' if where.query else '?'}{urlencode(query)}"
    answer, text = _request(pool, "GET", url, basic, image.host)
    try:
        body = parsed(text) if answer.status == 200 else {}
    except ValueError:
        body = {}
    token = (body.get("token") or body.get("access_token")) if isinstance(body, dict) else None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise OperationFailed(
            f"registry {image.host} denied a token for {_user(credentials)} (status {answer.status})"
        )
    return f"Bearer {token}"


def _head(
    pool: urllib3.PoolManager, url: str, headers: dict[str, str], server: str
) -> urllib3.BaseHTTPResponse:
    sent = {"Accept": ", ".join(_MANIFESTS), **headers}
    answer, _ = _request(pool, "HEAD", url, sent, server)
    if answer.status == 405:
        answer, _ = _request(pool, "GET", url, sent, server)
    return answer


def _request(
    pool: urllib3.PoolManager, method: str, url: str, headers: dict[str, str], server: str
) -> tuple[urllib3.BaseHTTPResponse, bytes]:
    limits = Limits(f"registry {server}", _SECONDS, _LARGEST)
    with limited(limits):
        answer = pool.request(method, url, headers=headers, redirect=False, preload_content=False)
    return answer, content(answer, limits)


def _pool(scheme: str, address: str) -> urllib3.PoolManager:
    """Create a connection pool, with the proxy set in the environment."""
    from urllib.request import getproxies, proxy_bypass

    import urllib3

    proxy = None if proxy_bypass(address) else getproxies().get(scheme)
    timeout = urllib3.Timeout(total=_SECONDS)
    if proxy:
        return bounded(urllib3.ProxyManager(proxy, timeout=timeout, retries=False))
    return bounded(urllib3.PoolManager(timeout=timeout, retries=False))


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
