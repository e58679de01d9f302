"""The rights that commands need, as the Roles in examples/rbac grant them, and who has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.manifest import Identity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.cluster.client import Client

_API, _KIND = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
_LOOK, _TRY = "get list", "get list create patch"
_CHANGE = "get list create patch delete"
_OBJECTS = (
    ("", "configmaps"),
    ("", "persistentvolumeclaims"),
    ("", "services"),
    ("apps", "statefulsets"),
    ("batch", "jobs"),
)
_READ = {("", "pods"): "list", ("", "pods/log"): "get"}
_LEASES = {("coordination.k8s.io", "leases"): "get create update delete"}
ROLES: dict[str, dict[tuple[str, str], str]] = {
    "viewer": {**dict.fromkeys(_OBJECTS, _LOOK), **_READ},
    "differ": {**dict.fromkeys(_OBJECTS, _TRY), **_READ},
    "applier": {
        **dict.fromkeys(_OBJECTS, _CHANGE),
        **_READ,
        **_LEASES,
        ("", "configmaps"): "get list create update patch delete",
    },
    "operator": {
        **dict.fromkeys(_OBJECTS, "get list delete"),
        **_READ,
        **_LEASES,
        ("", "configmaps"): "get list create update delete",
        ("", "persistentvolumeclaims"): _LOOK,
        ("", "pods"): _LOOK,
        ("", "pods/exec"): "get create",
        ("", "pods/portforward"): "get create",
        ("batch", "jobs"): "get list create delete",
    },
    "registry": {("", "secrets"): _CHANGE},
}
# Of every role that reads: what is allowed of these is used, to tell more of what keeps a job.
OPTIONAL: dict[tuple[str, str], str] = {
    ("", "events"): "list",
    ("", "resourcequotas"): "list",
}


class Right(NamedTuple):
    """One thing that somebody may or may not do."""

    group: str
    resource: str
    verb: str


def needed(role: str) -> list[Right]:
    """What the commands of a role cannot do without."""
    return _each(ROLES[role])


def optional(role: str) -> list[Right]:
    """What the commands of a role use if they may."""
    return _each(OPTIONAL) if ("", "pods") in ROLES[role] else []


def lacking(client: Client, wanted: list[Right]) -> list[Right]:
    """Those that the person who asks has not got in the namespace."""

    def is_allowed(right: Right) -> bool:
        resource, _, subresource = right.resource.partition("/")
        asked = {
            "namespace": client.namespace,
            "group": right.group,
            "resource": resource,
            "subresource": subresource,
            "verb": right.verb,
        }
        review = {"apiVersion": _API, "kind": _KIND, "spec": {"resourceAttributes": asked}}
        answer = client.create(review, Identity(_API, _KIND, None, "review"))
        return bool((answer.get("status") or {}).get("allowed"))

    found = client.each(is_allowed, wanted)
    return [each for each, allowed in zip(wanted, found) if not allowed]


def _each(listed: Mapping[tuple[str, str], str]) -> list[Right]:
    return [Right(*where, verb) for where, verbs in listed.items() for verb in verbs.split()]
