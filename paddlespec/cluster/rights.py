"""The rights that commands need, as the Roles in examples/rbac grant them, and who has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.manifest import Identity

if TYPE_CHECKING:
    from paddlespec.cluster.client import Client

_API, _KIND = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
_LOOK, _TRY = "get list", "get list create patch"
_CHANGE = "get list create patch delete"
ROLES: dict[str, dict[tuple[str, str], str]] = {
    "viewer": {
        ("", "configmaps"): _LOOK,
        ("", "persistentvolumeclaims"): _LOOK,
        ("", "services"): _LOOK,
        ("", "pods"): "list",
        ("apps", "statefulsets"): _LOOK,
        ("batch", "jobs"): _LOOK,
    },
    "differ": {
        ("", "configmaps"): _TRY,
        ("", "persistentvolumeclaims"): _TRY,
        ("", "services"): _TRY,
        ("", "pods"): "list",
        ("apps", "statefulsets"): _TRY,
        ("batch", "jobs"): _TRY,
    },
    "applier": {
        ("", "configmaps"): "get list create update patch delete",
        ("", "persistentvolumeclaims"): _CHANGE,
        ("", "services"): _CHANGE,
        ("", "pods"): "list",
        ("", "events"): "list",
        ("", "pods/log"): "get",
        ("apps", "statefulsets"): _CHANGE,
        ("batch", "jobs"): _CHANGE,
        ("coordination.k8s.io", "leases"): "get create update delete",
    },
}


class Right(NamedTuple):
    """One thing that somebody may or may not do."""

    group: str
    resource: str
    verb: str


def rights(role: str) -> list[Right]:
    """Everything that the commands of a role do."""
    return [Right(*where, verb) for where, verbs in ROLES[role].items() for verb in verbs.split()]


def lacking(client: Client, role: str) -> list[Right]:
    """The rights of *role* that the person who asks has not got in the namespace."""

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

    wanted = rights(role)
    found = client.each(is_allowed, wanted)
    return [each for each, allowed in zip(wanted, found) if not allowed]
