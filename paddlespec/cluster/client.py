"""
Requests to the API server: raw objects, own words for refusals, patience with passing troubles.

The official client gives the connection and the credentials; its models, which are slow, and its
discovery of everything are not used.
"""

from __future__ import annotations

import json
import socket
import time
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import urllib3
from kubernetes.client.api_client import ApiClient

from paddlespec import __version__
from paddlespec.backend import OperationFailed, TimeRanOut
from paddlespec.cluster.kinds import Resource, group_path, known
from paddlespec.cluster.refusal import Refusal, Refused, Request, refusal

if TYPE_CHECKING:
    from paddlespec.cluster.connection import Connection
    from paddlespec.manifest import Identity, Manifest

MANAGER = "paddlespec"
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 30.0
_PAUSES = (0.1, 0.3, 1.0, 2.0, 4.0)
# An address that never answered is more likely wrong than down.
_PAUSES_AT_FIRST = _PAUSES[:2]
_LONGEST_RETRY_AFTER = 30.0

Query = dict[str, str]


class Client:
    """One connection; close it at the end."""

    def __init__(self, connection: Connection) -> None:
        self.namespace = connection.namespace
        self.deadline: float | None = None
        self._has_answered = False
        self._configuration = connection.configuration
        self._api = ApiClient(connection.configuration)
        self._resources: dict[tuple[str, str], Resource] = {}
        if not connection.configuration.verify_ssl:
            # The kubeconfig says so; a warning with every request tells nothing new.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def close(self) -> None:
        """Close the connection."""
        self._api.close()  # type: ignore[no-untyped-call]

    @property
    def host(self) -> str:
        """The address of the API server."""
        return str(self._configuration.host)

    def get(self, identity: Identity) -> Manifest | None:
        """The live object, if there is one."""
        resource = self._resource(identity.api_version, identity.kind)
        request = Request("get", resource.plural, resource.kind, identity.namespace, identity.name)
        try:
            return self._json(request, "GET", self._path(resource, identity))
        except Refused as error:
            if error.refusal.status == 404:
                return None
            raise

    def find(
        self, api_version: str, kind: str, namespace: str, selector: str = "", fields: str = ""
    ) -> list[Manifest]:
        """The live objects of a kind that match."""
        resource = self._resource(api_version, kind)
        request = Request("list", resource.plural, resource.kind, namespace)
        query = {"labelSelector": selector, "fieldSelector": fields}
        answer = self._json(
            request,
            "GET",
            resource.path(quote(namespace, safe="")),
            {k: v for k, v in query.items() if v},
        )
        # Only the list as a whole says what its items are.
        return [
            {"apiVersion": api_version, "kind": kind, **each} for each in answer.get("items") or ()
        ]

    def apply(
        self,
        manifest: Manifest,
        identity: Identity,
        *,
        dry_run: bool = False,
        force: bool = False,
    ) -> Manifest:
        """Server-side apply; a field that others have set is a conflict, unless *force* takes it."""
        resource = self._resource(identity.api_version, identity.kind)
        request = Request(
            "patch", resource.plural, resource.kind, identity.namespace, identity.name
        )
        query = {"fieldManager": MANAGER, "force": "true" if force else "false"}
        if dry_run:
            query["dryRun"] = "All"
        return self._json(
            request,
            "PATCH",
            self._path(resource, identity),
            query,
            manifest,
            "application/apply-patch+yaml",
        )

    def create(self, manifest: Manifest, identity: Identity) -> Manifest:
        """Create an object; one that is there already is a conflict."""
        resource = self._resource(identity.api_version, identity.kind)
        request = Request(
            "create", resource.plural, resource.kind, identity.namespace, identity.name
        )
        path = self._path(resource, identity).rpartition("/")[0]
        return self._json(request, "POST", path, {"fieldManager": MANAGER}, manifest)

    def update(self, manifest: Manifest, identity: Identity) -> Manifest:
        """Replace an object; its resourceVersion, if it has one, must be the one that is there."""
        resource = self._resource(identity.api_version, identity.kind)
        request = Request(
            "update", resource.plural, resource.kind, identity.namespace, identity.name
        )
        path = self._path(resource, identity)
        return self._json(request, "PUT", path, {"fieldManager": MANAGER}, manifest)

    def replace_value(self, live: Manifest, identity: Identity, path: str, value: object) -> None:
        """
        Set one field of exactly the object that *live* was.

        A JSON patch that tests the UID never creates, and its refusal quotes nothing.
        """
        resource = self._resource(identity.api_version, identity.kind)
        request = Request(
            "patch", resource.plural, resource.kind, identity.namespace, identity.name
        )
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]},
            {"op": "replace", "path": path, "value": value},
        ]
        self._json(
            request,
            "PATCH",
            self._path(resource, identity),
            {"fieldManager": MANAGER},
            patch,
            "application/json-patch+json",
        )

    def delete(self, identity: Identity, uid: str, version: str | None = None) -> None:
        """
        Delete exactly the object *uid* with all that it owns; it may be gone already.

        With a *version*, only as long as nobody has changed it since.
        """
        resource = self._resource(identity.api_version, identity.kind)
        request = Request(
            "delete", resource.plural, resource.kind, identity.namespace, identity.name
        )
        fence = {"uid": uid, **({"resourceVersion": version} if version else {})}
        body = {"propagationPolicy": "Background", "preconditions": fence}
        try:
            self._json(request, "DELETE", self._path(resource, identity), {}, body)
        except Refused as error:
            if error.refusal.status != 404:
                raise

    def logs(self, namespace: str, pod: str, container: str, lines: int) -> list[str]:
        """The last lines that a container wrote."""
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/log"
        query = {"container": container, "tailLines": str(lines)}
        request = Request("get", "pods/log", "Pod", namespace, pod)
        return self._send(request, "GET", path, query).decode("utf-8", "replace").splitlines()

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the cluster knows a kind that is not Kubernetes' own."""
        return self._discover(api_version, kind) is not None

    def preferred(self, group: str) -> str | None:
        """The version of a group that the cluster prefers; nothing where it has no such group."""
        try:
            answer = self._json(
                Request("get", group, group), "GET", f"/apis/{quote(group, safe='')}"
            )
        except Refused as error:
            if error.refusal.status == 404:
                return None
            raise
        version = (answer.get("preferredVersion") or {}).get("groupVersion")
        return str(version) if version else None

    def pause(self, seconds: float) -> None:
        """Wait a moment, but not beyond the deadline."""
        if self.deadline is None:
            time.sleep(seconds)
            return
        left = self.deadline - time.monotonic()
        time.sleep(max(0.0, min(seconds, left)))
        if left <= seconds:
            raise TimeRanOut("time ran out")

    def _resource(self, api_version: str, kind: str) -> Resource:
        key = (api_version, kind)
        if key not in self._resources:
            found = known(api_version, kind) or self._discover(api_version, kind)
            if found is None:
                raise Refused(refusal(Request("get", kind, kind), 404, b""))
            self._resources[key] = found
        return self._resources[key]

    def _discover(self, api_version: str, kind: str) -> Resource | None:
        """The resource of *kind*, asked of its own group version and of no other."""
        request = Request("get", api_version, kind)
        try:
            answer = self._json(request, "GET", group_path(api_version))
        except Refused as error:
            if error.refusal.status == 404:
                return None
            raise
        for each in answer.get("resources") or ():
            if each["kind"] == kind and "/" not in each["name"]:
                return Resource(api_version, kind, each["name"], bool(each["namespaced"]))
        return None

    def _path(self, resource: Resource, identity: Identity) -> str:
        namespace = quote(identity.namespace or self.namespace, safe="")
        return resource.path(namespace, quote(identity.name, safe=""))

    def _json(
        self,
        request: Request,
        method: str,
        path: str,
        query: Query | None = None,
        body: object = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        content = self._send(request, method, path, query, body, content_type)
        try:
            found = json.loads(content)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise self._no_server()
        return found

    def _no_server(self) -> OperationFailed:
        told = f"what answers at {self.host} is no API server"
        return OperationFailed(told, "a proxy or a login page?")

    def _send(
        self,
        request: Request,
        method: str,
        path: str,
        query: Query | None = None,
        body: object = None,
        content_type: str = "application/json",
    ) -> bytes:
        """Send until there is an answer that stays; every request of ours may be repeated."""
        url = f"{self.host}{path}{'?' + urlencode(query) if query else ''}"
        headers = {"Accept": "application/json", "User-Agent": f"paddlespec/{__version__}"}
        content = None
        if body is not None:
            content = json.dumps(body, ensure_ascii=False).encode()
            headers["Content-Type"] = content_type
        for attempt in count():
            trouble: OperationFailed
            after = None
            try:
                status, answer, after = self._once(method, url, headers, content)
            except urllib3.exceptions.HTTPError as error:
                trouble = self._unreachable(error)
                passes = not isinstance(error, urllib3.exceptions.SSLError)
            else:
                self._has_answered = True
                if 200 <= status < 300:
                    return answer
                if status in (405, 501) and not answer.lstrip().startswith(b"{"):
                    raise self._no_server()
                found: Refusal = refusal(request, status, answer)
                trouble, passes = Refused(found), found.may_pass
            pauses = _PAUSES if self._has_answered else _PAUSES_AT_FIRST
            if not passes or attempt >= len(pauses):
                raise trouble
            self._retry_in(after or pauses[attempt], trouble)
        raise AssertionError("not reached")

    def _retry_in(self, seconds: float, trouble: OperationFailed) -> None:
        try:
            self.pause(min(seconds, _LONGEST_RETRY_AFTER))
        except TimeRanOut:
            raise TimeRanOut(f"time ran out: {trouble.message}", trouble.hint) from None

    def _once(
        self, method: str, url: str, headers: dict[str, str], content: bytes | None
    ) -> tuple[int, bytes, float | None]:
        read = _READ_SECONDS
        if self.deadline is not None:
            read = max(0.5, min(read, self.deadline - time.monotonic()))
        response = self._api.rest_client.pool_manager.request(
            method,
            url,
            body=content,
            headers={**headers, **self._credentials()},
            timeout=urllib3.Timeout(connect=min(_CONNECT_SECONDS, read), read=read),
            retries=False,
        )
        after = response.headers.get("Retry-After", "")
        return response.status, response.data, float(after) if after.isdigit() else None

    def _credentials(self) -> dict[str, str]:
        """The header that says who asks; a token that ages is renewed on the way."""
        found = self._configuration.auth_settings().get("BearerToken")
        return {"Authorization": found["value"]} if found and found["value"] else {}

    def _unreachable(self, error: urllib3.exceptions.HTTPError) -> OperationFailed:
        """The trouble of a connection in one line; the library's own text spans objects."""
        hint = "is it the right context, and is its network (or VPN) up?"
        cause = error.__cause__ or error.__context__ or error
        if isinstance(error, urllib3.exceptions.ProxyError):
            return OperationFailed(
                f"cannot reach {self.host} through the proxy",
                "see proxy-url of the kubeconfig, HTTPS_PROXY and NO_PROXY",
            )
        if isinstance(error, urllib3.exceptions.SSLError):
            return OperationFailed(
                f"cannot trust {self.host}: its certificate is not the one that the kubeconfig "
                "expects",
                "see certificate-authority of the kubeconfig",
            )
        if isinstance(cause, socket.gaierror):
            return OperationFailed(f"cannot reach {self.host}: its name is not known", hint)
        if isinstance(error, urllib3.exceptions.TimeoutError) and not isinstance(
            error, urllib3.exceptions.NewConnectionError
        ):
            return OperationFailed(f"cannot reach {self.host}: no answer in time", hint)
        reason = getattr(cause, "strerror", None)
        return OperationFailed(
            f"cannot reach {self.host}: {str(reason or 'the connection broke').lower()}", hint
        )
