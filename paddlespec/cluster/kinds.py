"""Where the API server keeps the objects of each kind that we render."""

from __future__ import annotations

from typing import NamedTuple

POD_GROUP = ("scheduling.volcano.sh/v1beta1", "PodGroup")
# What a job is made of and what goes with it; claims outlive it, and pod groups are Volcano's.
MANAGED = (
    ("batch/v1", "Job"),
    ("apps/v1", "StatefulSet"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
)

_KNOWN = {
    ("v1", "ConfigMap"): "configmaps",
    ("v1", "Event"): "events",
    ("v1", "PersistentVolumeClaim"): "persistentvolumeclaims",
    ("v1", "Pod"): "pods",
    ("v1", "Secret"): "secrets",
    ("v1", "Service"): "services",
    ("apps/v1", "StatefulSet"): "statefulsets",
    ("batch/v1", "Job"): "jobs",
    ("coordination.k8s.io/v1", "Lease"): "leases",
    POD_GROUP: "podgroups",
}


class Resource(NamedTuple):
    """What the paths of a kind are made of."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool = True

    def path(self, namespace: str | None, name: str | None = None) -> str:
        """The path of one object, or of all of them."""
        parts = [group_path(self.api_version)]
        parts += ["namespaces", namespace] if self.namespaced and namespace else []
        return "/".join([*parts, self.plural, *([name] if name else [])])


def group_path(api_version: str) -> str:
    """The path of a group version."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def known(api_version: str, kind: str) -> Resource | None:
    """The resource of a kind of our own; others are asked for."""
    plural = _KNOWN.get((api_version, kind))
    return Resource(api_version, kind, plural) if plural else None


def is_built_in(api_version: str, kind: str) -> bool:
    """Whether every cluster has a kind."""
    return (api_version, kind) in _KNOWN and (api_version, kind) != POD_GROUP


def version_of(group: str, kind: str) -> str | None:
    """The API version in which we render a kind of our own."""
    return next(
        (version for version, each in _KNOWN if each == kind and _group(version) == group), None
    )


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]
