"""Requests for objects of the API server; refusals are translated."""

from __future__ import annotations

import re
from copy import copy
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from paddlespec.backends.cluster.api.discovery import Discovery, cache_folder
from paddlespec.backends.cluster.api.kinds import Resource, group_path, known
from paddlespec.backends.cluster.api.refusal import Refused, Request, refusal
from paddlespec.backends.cluster.api.transport import AT_ONCE, PATIENCE_SECONDS, Transport
from paddlespec.render import shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paddlespec.backends.cluster.api.connection import Connection
    from paddlespec.backends.cluster.api.server_warnings import ServerWarnings
    from paddlespec.backends.cluster.api.transport import Query
    from paddlespec.backends.cluster.observe.batch_read import Survey
    from paddlespec.render.manifest import Identity, Manifest
    from paddlespec.render.shape import Shape

MANAGER = "paddlespec"
_OURS = {"fieldManager": MANAGER}
_APPLY, _JSON_PATCH = "application/apply-patch+yaml", "application/json-patch+json"
_NAMES = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
# Larger lists of names are not worth requesting.
_MAX_NAMES = 2000


class Client(Transport):
    """A client for one server; *namespace* is used for objects that name none."""

    def __init__(
        self,
        connection: Connection,
        deadline: float | None = None,
        at_once: int = AT_ONCE,
        report: Callable[[str], None] | None = None,
        warnings: ServerWarnings | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        super().__init__(connection, deadline, at_once, report, warnings, patience)
        self.namespace = connection.namespace
        self.survey: Survey | None = None
        self._discovery = Discovery(self.host, self._listed, cache_folder())

    def surveyed(self, survey: Survey) -> Client:
        """Return a read-only client on the same connections that answers from *survey* first."""
        clone = copy(self)
        clone.survey = survey
        return clone

    def get(self, identity: Identity) -> Manifest | None:
        """Return the live object, if it exists."""
        known = self.survey.get(identity) if self.survey else None
        if known is not None:
            return known.live
        request, path = self._about("get", identity)
        return self._json_or_none(request, path, shape.stored(identity.kind))

    def find(
        self, api_version: str, kind: str, namespace: str, selector: str = "", fields: str = ""
    ) -> list[Manifest]:
        """List the live objects of a kind that match."""
        if self.survey is not None:
            known = self.survey.find((api_version, kind), namespace, selector, fields)
            if known is not None:
                return known
        request, path = self._about_all(api_version, kind, namespace)
        query = {"labelSelector": selector, "fieldSelector": fields}
        namespaced = self._resource(api_version, kind).namespaced
        answer = self.json(
            request,
            "GET",
            path,
            shape.listed(kind, namespaced=namespaced),
            {k: v for k, v in query.items() if v},
        )
        # Items of a list lack apiVersion and kind.
        own = {"apiVersion": api_version, "kind": kind}
        keys = _labels(selector)
        return [
            {**own, **item, **own}
            for item in answer["items"] or ()
            if keys <= (item["metadata"].get("labels") or {}).keys()
        ]

    def names(self, api_version: str, kind: str, namespace: str) -> set[str] | None:
        """List the names of all objects of a kind; None if there are too many."""
        request, path = self._about_all(api_version, kind, namespace)
        limit = {"limit": str(_MAX_NAMES)}
        answer = self.json(request, "GET", path, shape.NAMES, limit, accept=_NAMES)
        if (answer.get("metadata") or {}).get("continue"):
            return None
        return {item["metadata"]["name"] for item in answer["items"] or ()}

    def apply(
        self,
        manifest: Manifest,
        identity: Identity,
        *,
        dry_run: bool = False,
        force: bool = False,
    ) -> Manifest:
        """Apply an object server-side; *force* overwrites fields owned by other managers."""
        request, path = self._about("patch", identity)
        query = {**_OURS, "force": "true" if force else "false"}
        if dry_run:
            query["dryRun"] = "All"
        own = shape.stored(identity.kind, versioned=not dry_run)
        return self.json(request, "PATCH", path, own, query, manifest, _APPLY)

    def create(self, manifest: Manifest, identity: Identity, *, dry_run: bool = False) -> Manifest:
        """Create an object; it is a conflict if it already exists."""
        request, path = self._about("create", identity)
        query = {**_OURS, **({"dryRun": "All"} if dry_run else {})}
        own = shape.stored(identity.kind, versioned=not dry_run)
        return self.json(request, "POST", path.rpartition("/")[0], own, query, manifest)

    def update(self, manifest: Manifest, identity: Identity) -> Manifest:
        """Replace an object; its resourceVersion, if given, must match."""
        request, path = self._about("update", identity)
        return self.json(request, "PUT", path, shape.stored(identity.kind), _OURS, manifest)

    def replace_value(self, live: Manifest, identity: Identity, path: str, value: object) -> None:
        """
        Set one field of exactly the object *live*.

        A JSON patch that tests the UID never creates an object, and its refusal quotes no values.
        """
        request, url = self._about("patch", identity)
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]},
            {"op": "replace", "path": path, "value": value},
        ]
        self.json(request, "PATCH", url, shape.ANY, _OURS, patch, _JSON_PATCH)

    def delete(self, identity: Identity, uid: str, version: str | None = None) -> None:
        """
        Delete exactly the object *uid* and everything it owns, if it still exists.

        With a *version*, delete it only if it has not changed since.
        """
        request, path = self._about("delete", identity)
        fence = {"uid": uid, **({"resourceVersion": version} if version else {})}
        body = {"propagationPolicy": "Background", "preconditions": fence}
        try:
            self.json(request, "DELETE", path, shape.ANY, {}, body)
        except Refused as error:
            if error.refusal.status != 404:
                raise

    def logs(self, namespace: str, pod: str, container: str, lines: int) -> list[str]:
        """Read the last lines of a container's log."""
        request, path = _about_log(namespace, pod)
        query = {"container": container, "tailLines": str(lines)}
        return self.send(request, "GET", path, query).decode("utf-8", "replace").splitlines()

    def log(self, namespace: str, pod: str, query: Query) -> Iterator[bytes]:
        """Stream a log; empty if the container has not started yet."""
        request, path = _about_log(namespace, pod)
        return self.stream(request, path, query, lasting=query.get("follow") == "true")

    def kubelet_summary(self, node: str) -> Manifest:
        """Read the kubelet's measurements of the pods and volumes of a node."""
        request = Request("get", "nodes/proxy", "Node", None, node)
        path = f"/api/v1/nodes/{quote(node, safe='')}/proxy/stats/summary"
        return self.json(request, "GET", path, shape.SUMMARY)

    def serves(self, api_version: str, kind: str) -> bool:
        """Report whether the cluster serves a kind of an extension."""
        return self._discovery.served(api_version, kind) is not None

    def server_version(self) -> str:
        """Return the Kubernetes version of the server."""
        answer = self.json(Request("get", "version", "version"), "GET", "/version", shape.VERSION)
        return str(answer["gitVersion"])

    def preferred(self, group: str) -> str | None:
        """Return the version of a group that the cluster prefers; None if it does not serve the group."""
        request = Request("get", group, group)
        answer = self._json_or_none(request, f"/apis/{quote(group, safe='')}", shape.GROUP) or {}
        version = (answer.get("preferredVersion") or {}).get("groupVersion")
        return str(version) if version else None

    def _listed(self, api_version: str) -> list[Any] | None:
        """List the resources of a group version; None if the cluster does not serve it."""
        request = Request("get", api_version, api_version)
        answer = self._json_or_none(request, group_path(api_version), shape.RESOURCES)
        return None if answer is None else list(answer.get("resources") or ())

    def _json_or_none(self, request: Request, path: str, own: Shape) -> dict[str, Any] | None:
        """Return the object at *path*, if it exists."""
        try:
            return self.json(request, "GET", path, own)
        except Refused as error:
            if error.refusal.status == 404:
                return None
            raise

    def _about(self, verb: str, identity: Identity) -> tuple[Request, str]:
        """Describe a request for one object, and return its path."""
        resource = self._resource(identity.api_version, identity.kind)
        namespace = (identity.namespace or self.namespace) if resource.namespaced else None
        path = resource.path(quote(namespace or "", safe=""), quote(identity.name, safe=""))
        named = namespace, identity.name
        return Request(verb, resource.plural, resource.kind, *named), path

    def _about_all(self, api_version: str, kind: str, namespace: str) -> tuple[Request, str]:
        """Describe a request for all objects of a kind, and return its path."""
        resource = self._resource(api_version, kind)
        path = resource.path(quote(namespace, safe=""))
        return Request("list", resource.plural, resource.kind, namespace), path

    def _resource(self, api_version: str, kind: str) -> Resource:
        resource = known(api_version, kind) or self._discovery.resource(api_version, kind)
        if resource is None:
            raise Refused(refusal(Request("get", kind, kind), 404, b""))
        return resource


def _labels(selector: str) -> set[str]:
    """Return the labels that every object matching *selector* has."""
    parts = re.sub(r"\([^)]*\)", "", selector).split(",")
    negative = re.compile(r"!| notin ")
    return {
        re.split(r"=| in ", part)[0].strip()
        for part in parts
        if part and not negative.search(part + " ")
    }


def _about_log(namespace: str, pod: str) -> tuple[Request, str]:
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/log"
    return Request("get", "pods/log", "Pod", namespace, pod), path
