"""
The settings of the pods of a role: those of the spec, overridden by those of the role.

Defaults are strict and give way where the spec says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.render import roles
from paddlespec.spec.frozen import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.model import Job
    from paddlespec.render.roles import RoleName

# Set by paddlespec, by the controllers of pods, or read from workloads alone.
_RESERVED = (
    "app.kubernetes.io/name",
    "app.kubernetes.io/managed-by",
    "paddlespec.io/",
    "applyset.kubernetes.io/",
    "batch.kubernetes.io/",
    "apps.kubernetes.io/",
    "statefulset.kubernetes.io/",
    "jobset.sigs.k8s.io/",
)
_RESERVED_NAMES = frozenset(("controller-uid", "job-name", "controller-revision-hash"))
# Kueue reads its queue from workloads; on pods, the label asks it to queue them one by one.
_OF_WORKLOADS = ("kueue.x-k8s.io/",)
_RUNTIME_DEFAULT = {"seccompProfile": {"type": "RuntimeDefault"}}
_NO_ESCALATION = "allowPrivilegeEscalation"

Json = dict[str, Any]


def is_reserved(label: str) -> bool:
    """Whether a spec cannot set the label or annotation *label* of pods."""
    return label in _RESERVED_NAMES or label.startswith(_RESERVED)


def is_users(label: str) -> bool:
    """Whether the label *label* of a pod comes from the user rather than from a controller."""
    return not is_reserved(label) and not label.startswith(_OF_WORKLOADS)


def settings(job: Job, role: RoleName) -> Json:
    """Return the pod settings of *role* in the form of the spec, without what is unset."""
    own: Json = _written(job.spec.pod)
    return _merged(own, _written(roles.role(job.spec, role).pod))


def _written(value: Any) -> Any:
    """Return a part of the spec as in its document; all defaults are empty."""
    if isinstance(value, Record):
        fields = {key: _written(getattr(value, name)) for name, key in type(value).keys}
        return {key: field for key, field in fields.items() if field not in (None, {}, [])}
    return [_written(item) for item in value] if isinstance(value, list) else value


def pod_labels(job: Job, role: RoleName) -> dict[str, str]:
    """Return the user's labels of the pods: those of all objects, and those of pods alone."""
    common = {key: value for key, value in job.metadata.labels.items() if is_users(key)}
    labels = {**common, **settings(job, role).get("labels", {})}
    return {key: value for key, value in labels.items() if not is_reserved(key)}


def pod_annotations(job: Job, role: RoleName) -> dict[str, str]:
    """Return the user's annotations of the pods."""
    annotations = settings(job, role).get("annotations", {})
    return {key: value for key, value in annotations.items() if not is_reserved(key)}


def is_restricted(job: Job, role: RoleName) -> bool:
    """Whether the pods of *role* keep to the level `restricted` of Pod Security."""
    return settings(job, role).get("security") == "restricted"


def pod_context(job: Job, role: RoleName) -> Json:
    """Return the security context of the pods."""
    base: Json = {**_RUNTIME_DEFAULT}
    if is_restricted(job, role):
        base = {"runAsNonRoot": True, **base}
    return _merged(base, settings(job, role).get("securityContext", {}))


def container_context(job: Job, role: RoleName, added: Sequence[str] = ()) -> Json:
    """Return the security context of the main container, with the *added* capabilities."""
    own: Json = settings(job, role).get("containerSecurityContext", {})
    base: Json = {_NO_ESCALATION: False}
    if is_restricted(job, role):
        base["capabilities"] = {"drop": ["ALL"]}
    context = _merged(base, own)
    if added:
        below = context.get("capabilities", {})
        every = [*dict.fromkeys((*below.get("add", ()), *added))]
        context["capabilities"] = {**below, "add": every}
    if _NO_ESCALATION not in own and needs_escalation(context):
        del context[_NO_ESCALATION]
    return context


def needs_escalation(context: Mapping[str, Any]) -> bool:
    """Whether the API server refuses *context* together with `allowPrivilegeEscalation: false`."""
    capabilities = context.get("capabilities")
    added = capabilities.get("add") if isinstance(capabilities, dict) else None
    return context.get("privileged") is True or (
        isinstance(added, list) and "CAP_SYS_ADMIN" in added
    )


def _merged(lower: Json, upper: Json) -> Json:
    merged = {**lower, **upper}
    for key, value in upper.items():
        below = lower.get(key)
        # A profile is of one type; its fields do not mix with those of another.
        if isinstance(value, dict) and isinstance(below, dict) and "type" not in value:
            merged[key] = _merged(below, value)
    return merged
