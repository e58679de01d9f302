"""The rights that commands need, as granted by the Roles in examples/rbac."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.render.manifest import Identity
from paddlespec.workloads import job, job_set, stateful_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.cluster.api.client import Client

_API, _KIND = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
_LOOK, _TRY = "get list", "get list create patch"
_CHANGE = "get list create patch delete"
_OBJECTS = (
    ("", "configmaps"),
    ("", "persistentvolumeclaims"),
    ("", "services"),
    *((known.KIND.group, known.KIND.plural) for known in (stateful_set, job)),
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
        (job.KIND.group, job.KIND.plural): "get list create delete",
    },
    "registry": {("", "secrets"): _CHANGE},
}
# Used by every role that reads, if allowed: to explain the state of a job, and to find JobSets.
OPTIONAL: dict[tuple[str, str], str] = {
    ("", "events"): "list",
    ("", "resourcequotas"): "list",
    (job_set.KIND.group, job_set.KIND.plural): "list",
}
# Used to ask whether pods would be accepted, before a run begins.
OPTIONAL_TRY = {role: {("", "pods"): "create"} for role in ("differ", "applier")}


class Right(NamedTuple):
    """One verb on one resource."""

    group: str
    resource: str
    verb: str


def needed(role: str) -> list[Right]:
    """List the rights that the commands of a role require."""
    return _flat(ROLES[role])


def optional(role: str) -> list[Right]:
    """List the rights that the commands of a role use if granted."""
    if ("", "pods") not in ROLES[role]:
        return []
    return _flat(OPTIONAL) + _flat(OPTIONAL_TRY.get(role, {}))


def lacking(client: Client, rights: list[Right]) -> list[Right]:
    """List those of *rights* that the user lacks in the namespace."""

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

    results = client.each(is_allowed, rights)
    return [right for right, allowed in zip(rights, results) if not allowed]


def _flat(listed: Mapping[tuple[str, str], str]) -> list[Right]:
    return [Right(*where, verb) for where, verbs in listed.items() for verb in verbs.split()]
