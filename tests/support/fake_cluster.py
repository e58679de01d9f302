"""
A cluster in memory: as much of an API server as an apply needs.

It records who set which field, refuses changes that our own table calls immutable, collects what a
deleted object owned, and can stop responding at the nth write. It has no controllers: tests finish
Jobs by hand.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.api.refusal import Refusal, Refused, Request
from paddlespec.change.diff import Change, Effect
from paddlespec.render.manifest import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paddlespec.render.manifest import Identity, Manifest

NAMESPACE = "ads"


class Died(BaseException):
    """The client died before this write."""


class Cluster:
    """Objects by identity; implements what an apply uses of `Client`."""

    namespace = NAMESPACE
    host = "https://cluster.test"

    def __init__(self) -> None:
        self.objects: dict[Identity, Manifest] = {}
        self.writes_left: int | None = None
        self._count = 0

    # Reading

    def each(self, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return [work(item) for item in items]

    def get(self, target: Identity) -> Manifest | None:
        return copy.deepcopy(self.objects.get(self._key(target)))

    def find(
        self, api_version: str, kind: str, _namespace: str, selector: str = ""
    ) -> list[Manifest]:
        labels = dict(part.split("=") for part in selector.split(",") if part)
        return [
            copy.deepcopy(live)
            for target, live in self.objects.items()
            if (target.api_version, target.kind) == (api_version, kind)
            and labels.items() <= (live["metadata"].get("labels") or {}).items()
        ]

    def serves(self, *_: str) -> bool:
        return False

    # Writing

    def apply(self, manifest: Manifest, target: Identity, *, dry_run: bool = False) -> Manifest:
        key = self._key(target)
        live = self.objects.get(key)
        sent = copy.deepcopy(manifest)
        uid = sent["metadata"].pop("uid", None)
        if uid is not None and (live is None or live["metadata"]["uid"] != uid):
            raise _refused(key, 409, "uid mismatch", is_stale=True)
        after = self._merged(live, sent)
        if live is not None:
            effects = {field.effect for field in Change(live, after).fields if _counts(field.path)}
            held = (live.get("spec") or {}).get("suspend")
            if Effect.replacement in effects or (Effect.suspended in effects and not held):
                raise _refused(key, 422, "immutable", is_immutable=True)
            if after == live:
                return copy.deepcopy(live)
        if dry_run:
            # Only writes change versions.
            version = live["metadata"]["resourceVersion"] if live else "0"
            after["metadata"]["resourceVersion"] = version
            return after
        return self._store(key, after)

    def create(self, manifest: Manifest, target: Identity, *, dry_run: bool = False) -> Manifest:
        if dry_run:
            return manifest
        key = self._key(target)
        if key in self.objects:
            raise _refused(key, 409, "exists")
        return self._store(key, self._new(copy.deepcopy(manifest)))

    def update(self, manifest: Manifest, target: Identity) -> Manifest:
        key = self._key(target)
        live = self.objects.get(key)
        if live is None:
            raise _refused(key, 404, "absent")
        version = manifest["metadata"].get("resourceVersion")
        if version not in (None, live["metadata"]["resourceVersion"]):
            raise _refused(key, 409, "stale", is_stale=True)
        return self._store(key, copy.deepcopy(manifest))

    def replace_value(self, live: Manifest, target: Identity, path: str, value: object) -> None:
        key = self._key(target)
        known = self.objects.get(key)
        if known is None or known["metadata"]["uid"] != live["metadata"]["uid"]:
            raise _refused(key, 404 if known is None else 422, "another object")
        assert path == "/spec/suspend"
        after = copy.deepcopy(known)
        after["spec"]["suspend"] = value
        for entry in after["metadata"]["managedFields"]:
            entry["fieldsV1"].get("f:spec", {}).pop("f:suspend", None)
        self._store(key, after)

    def delete(self, target: Identity, uid: str, _version: str | None = None) -> None:
        live = self.objects.get(self._key(target))
        if live is None:
            return
        if live["metadata"]["uid"] != uid:
            raise _refused(target, 409, "another object", is_stale=True)
        self._write(target)
        self.collect(uid)

    def pause(self, _seconds: float) -> None:
        """Time passes: objects that are being deleted disappear."""
        for live in list(self.objects.values()):
            if "deletionTimestamp" in live["metadata"]:
                self.collect(live["metadata"]["uid"])

    @contextmanager
    def tidying(self) -> Iterator[None]:
        yield

    # Changes by others

    def collect(self, uid: str) -> None:
        """Delete an object and everything it owns."""
        self.objects = {
            target: live
            for target, live in self.objects.items()
            if uid != live["metadata"]["uid"]
            and uid not in [owner["uid"] for owner in live["metadata"].get("ownerReferences", ())]
        }

    def touch(self, target: Identity, change: Callable[[Manifest], object]) -> None:
        """Change an existing object, as another user would."""
        live = self.objects.get(self._key(target))
        if live is not None:
            change(live)
            live["metadata"]["resourceVersion"] = self._next()

    def plant(self, manifest: Manifest, *, ours: bool) -> None:
        """Add a foreign object."""
        key = self._key(identity(manifest))
        live = self._merged(None, copy.deepcopy(manifest)) if ours else self._new(manifest)
        self.objects.setdefault(key, live)

    def _merged(self, live: Manifest | None, sent: Manifest) -> Manifest:
        """What server-side apply makes of *live*: our fields as sent, those of others as they are."""
        entry = {
            "manager": "paddlespec",
            "operation": "Apply",
            "fieldsV1": _fields({k: v for k, v in sent.items() if k not in ("apiVersion", "kind")}),
        }
        if live is None:
            merged = self._new(sent)
        else:
            merged = copy.deepcopy(live)
            for known in live["metadata"].get("managedFields") or ():
                _remove(merged, known["fieldsV1"])
            merged = _overlaid(merged, sent)
        merged["metadata"]["managedFields"] = [entry]
        return merged

    def _new(self, manifest: Manifest) -> Manifest:
        own = {"uid": f"uid-{self._next()}", "resourceVersion": "0", "creationTimestamp": "t"}
        return {**manifest, "metadata": {**manifest["metadata"], **own, "namespace": NAMESPACE}}

    def _store(self, key: Identity, after: Manifest) -> Manifest:
        self._write(key)
        after["metadata"]["resourceVersion"] = self._next()
        self.objects[key] = after
        return copy.deepcopy(after)

    def _write(self, target: Identity) -> None:
        # A lock is released in its own thread; a client that dies leaves it.
        if self.writes_left is not None and target.kind != "Lease":
            if not self.writes_left:
                raise Died
            self.writes_left -= 1

    def _next(self) -> str:
        self._count += 1
        return str(self._count)

    def _key(self, target: Identity) -> Identity:
        return target._replace(namespace=NAMESPACE)


def _counts(path: tuple[str | int, ...]) -> bool:
    return path[0] not in ("metadata", "status") or path[:2] == ("metadata", "uid")


def _fields(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    return {f"f:{key}": _fields(inner) for key, inner in value.items()}


def _remove(value: Manifest, fields: dict[str, Any]) -> None:
    for name, inner in fields.items():
        key = name.removeprefix("f:")
        if inner and isinstance(value.get(key), dict):
            _remove(value[key], inner)
        else:
            value.pop(key, None)


def _overlaid(below: Any, above: Any) -> Any:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return {**below, **{key: _overlaid(below.get(key), value) for key, value in above.items()}}


def _refused(
    target: Identity,
    status: int,
    message: str,
    *,
    is_immutable: bool = False,
    is_stale: bool = False,
) -> Refused:
    request = Request("patch", target.kind.lower(), target.kind, target.namespace, target.name)
    refusal = Refusal(request, status, "", f"{target}: {message}", fields=("spec",))
    return Refused(refusal._replace(is_immutable=is_immutable, is_stale=is_stale))
