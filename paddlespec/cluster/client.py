"""What is asked of the API server: raw objects, and our own words for its refusals."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from paddlespec.cluster.discovery import Discovery, cache_folder
from paddlespec.cluster.kinds import Resource, group_path, known
from paddlespec.cluster.refusal import Refused, Request, refusal
from paddlespec.cluster.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.cluster.connection import Connection
    from paddlespec.cluster.survey import Survey
    from paddlespec.cluster.transport import Query
    from paddlespec.manifest import Identity, Manifest

MANAGER = "paddlespec"
_OURS = {"fieldManager": MANAGER}
_APPLY, _JSON_PATCH = "application/apply-patch+yaml", "application/json-patch+json"
_NAMES = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
# Names of a kind that are worth to be asked for at once.
_MANY = 2000


class Client(Transport):
    """One server, in which *namespace* is meant where an object names none."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.namespace = connection.namespace
        self.survey: Survey | None = None
        self._discovery = Discovery(self.host, self._listed, cache_folder())

    def surveyed(self, survey: Survey) -> Client:
        """The same connections with what a survey found: to look, and not to write."""
        found = copy(self)
        found.survey = survey
        return found

    def get(self, identity: Identity) -> Manifest | None:
        """The live object, if there is one."""
        known = self.survey.get(identity) if self.survey else None
        if known is not None:
            return known.live
        request, path = self._about("get", identity)
        return self._json_or_none(request, path)

    def find(
        self, api_version: str, kind: str, namespace: str, selector: str = "", fields: str = ""
    ) -> list[Manifest]:
        """The live objects of a kind that match."""
        if self.survey is not None:
            known = self.survey.find((api_version, kind), namespace, selector, fields)
            if known is not None:
                return known
        request, path = self._about_all(api_version, kind, namespace)
        query = {"labelSelector": selector, "fieldSelector": fields}
        answer = self.json(request, "GET", path, {k: v for k, v in query.items() if v})
        # Only the list as a whole says what its items are.
        return [
            {"apiVersion": api_version, "kind": kind, **each} for each in answer.get("items") or ()
        ]

    def names(self, api_version: str, kind: str, namespace: str) -> set[str] | None:
        """The names of all objects of a kind, whosever they are; nothing where they are many."""
        request, path = self._about_all(api_version, kind, namespace)
        answer = self.json(request, "GET", path, {"limit": str(_MANY)}, accept=_NAMES)
        if (answer.get("metadata") or {}).get("continue"):
            return None
        return {each["metadata"]["name"] for each in answer.get("items") or ()}

    def apply(
        self,
        manifest: Manifest,
        identity: Identity,
        *,
        dry_run: bool = False,
        force: bool = False,
    ) -> Manifest:
        """Server-side apply; a field that others have set is a conflict, unless *force* takes it."""
        request, path = self._about("patch", identity)
        query = {**_OURS, "force": "true" if force else "false"}
        if dry_run:
            query["dryRun"] = "All"
        return self.json(request, "PATCH", path, query, manifest, _APPLY)

    def create(self, manifest: Manifest, identity: Identity) -> Manifest:
        """Create an object; one that is there already is a conflict."""
        request, path = self._about("create", identity)
        return self.json(request, "POST", path.rpartition("/")[0], _OURS, manifest)

    def update(self, manifest: Manifest, identity: Identity) -> Manifest:
        """Replace an object; its resourceVersion, if it has one, must be the one that is there."""
        request, path = self._about("update", identity)
        return self.json(request, "PUT", path, _OURS, manifest)

    def replace_value(self, live: Manifest, identity: Identity, path: str, value: object) -> None:
        """
        Set one field of exactly the object that *live* was.

        A JSON patch that tests the UID never creates, and its refusal quotes nothing.
        """
        request, url = self._about("patch", identity)
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]},
            {"op": "replace", "path": path, "value": value},
        ]
        self.json(request, "PATCH", url, _OURS, patch, _JSON_PATCH)

    def delete(self, identity: Identity, uid: str, version: str | None = None) -> None:
        """
        Delete exactly the object *uid* with all that it owns; it may be gone already.

        With a *version*, only as long as nobody has changed it since.
        """
        request, path = self._about("delete", identity)
        fence = {"uid": uid, **({"resourceVersion": version} if version else {})}
        body = {"propagationPolicy": "Background", "preconditions": fence}
        try:
            self.json(request, "DELETE", path, {}, body)
        except Refused as error:
            if error.refusal.status != 404:
                raise

    def logs(self, namespace: str, pod: str, container: str, lines: int) -> list[str]:
        """The last lines that a container wrote."""
        request, path = _about_log(namespace, pod)
        query = {"container": container, "tailLines": str(lines)}
        return self.send(request, "GET", path, query).decode("utf-8", "replace").splitlines()

    def log(self, namespace: str, pod: str, query: Query) -> Iterator[bytes]:
        """A log as it comes, as `stream` does; nothing of a container that is not there yet."""
        request, path = _about_log(namespace, pod)
        return self.stream(request, path, query, lasting=query.get("follow") == "true")

    def kubelet_summary(self, node: str) -> Manifest:
        """What the kubelet of a node measures of its pods and their volumes."""
        request = Request("get", "nodes/proxy", "Node", None, node)
        return self.json(
            request, "GET", f"/api/v1/nodes/{quote(node, safe='')}/proxy/stats/summary"
        )

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the cluster knows a kind that is not Kubernetes' own."""
        return self._discovery.served(api_version, kind) is not None

    def server_version(self) -> str:
        """The version of Kubernetes that answers."""
        answer = self.json(Request("get", "version", "version"), "GET", "/version")
        return str(answer.get("gitVersion") or "unknown")

    def preferred(self, group: str) -> str | None:
        """The version of a group that the cluster prefers; nothing where it has no such group."""
        request = Request("get", group, group)
        answer = self._json_or_none(request, f"/apis/{quote(group, safe='')}") or {}
        version = (answer.get("preferredVersion") or {}).get("groupVersion")
        return str(version) if version else None

    def _listed(self, api_version: str) -> list[Any] | None:
        """The resources of a group version; nothing where the cluster has none."""
        request = Request("get", api_version, api_version)
        answer = self._json_or_none(request, group_path(api_version))
        return None if answer is None else list(answer.get("resources") or ())

    def _json_or_none(self, request: Request, path: str) -> dict[str, Any] | None:
        """What is at *path*, if anything is."""
        try:
            return self.json(request, "GET", path)
        except Refused as error:
            if error.refusal.status == 404:
                return None
            raise

    def _about(self, verb: str, identity: Identity) -> tuple[Request, str]:
        """A request for one object, and its path."""
        resource = self._resource(identity.api_version, identity.kind)
        namespace = (identity.namespace or self.namespace) if resource.namespaced else None
        path = resource.path(quote(namespace or "", safe=""), quote(identity.name, safe=""))
        named = namespace, identity.name
        return Request(verb, resource.plural, resource.kind, *named), path

    def _about_all(self, api_version: str, kind: str, namespace: str) -> tuple[Request, str]:
        """A request for all objects of a kind, and their path."""
        resource = self._resource(api_version, kind)
        path = resource.path(quote(namespace, safe=""))
        return Request("list", resource.plural, resource.kind, namespace), path

    def _resource(self, api_version: str, kind: str) -> Resource:
        found = known(api_version, kind) or self._discovery.resource(api_version, kind)
        if found is None:
            raise Refused(refusal(Request("get", kind, kind), 404, b""))
        return found


def _about_log(namespace: str, pod: str) -> tuple[Request, str]:
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/log"
    return Request("get", "pods/log", "Pod", namespace, pod), path
