"""The paths under which the API server serves each kind that is rendered."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from paddlespec import workloads

POD_GROUP = ("scheduling.volcano.sh/v1beta1", "PodGroup")
_BESIDES = (("v1", "Service"), ("v1", "ConfigMap"))

_KNOWN = {
    ("v1", "ConfigMap"): "configmaps",
    ("v1", "Event"): "events",
    ("v1", "PersistentVolumeClaim"): "persistentvolumeclaims",
    ("v1", "Pod"): "pods",
    ("v1", "Secret"): "secrets",
    ("v1", "Service"): "services",
    ("coordination.k8s.io/v1", "Lease"): "leases",
    POD_GROUP: "podgroups",
}


class Resource(NamedTuple):
    """The resource of a kind, from which its paths are built."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool = True

    def path(self, namespace: str | None, name: str | None = None) -> str:
        """Return the path of one object, or of all objects."""
        parts = [group_path(self.api_version)]
        parts += ["namespaces", namespace] if self.namespaced and namespace else []
        return "/".join([*parts, self.plural, *([name] if name else [])])


def group_path(api_version: str) -> str:
    """Return the path of a group version."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


@cache
def managed() -> tuple[tuple[str, str], ...]:
    """List the kinds of a job's objects that every cluster serves."""
    own = (known.KIND for known in reversed(workloads.every()) if known.KIND.is_built_in)
    return (*(kind.type for kind in own), *_BESIDES)


@cache
def extensions() -> tuple[tuple[str, str], ...]:
    """List the kinds of a job's objects that extensions serve."""
    own = (known.KIND for known in workloads.every() if not known.KIND.is_built_in)
    return (*(kind.type for kind in own), POD_GROUP)


def known(api_version: str, kind: str) -> Resource | None:
    """Return the resource of a rendered kind; other kinds must be discovered."""
    plural = _known().get((api_version, kind))
    return Resource(api_version, kind, plural) if plural else None


def is_built_in(api_version: str, kind: str) -> bool:
    """Report whether every cluster serves a kind."""
    return (api_version, kind) in _known() and (api_version, kind) not in extensions()


def version_of(group: str, kind: str) -> str | None:
    """Return the API version in which a kind is rendered."""
    return next(
        (version for version, name in _known() if name == kind and _group(version) == group), None
    )


@cache
def _known() -> dict[tuple[str, str], str]:
    return {**_KNOWN, **{known.KIND.type: known.KIND.plural for known in workloads.every()}}


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]
