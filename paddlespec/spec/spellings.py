"""Other spellings of a spec: the fields of Kubernetes, and values of a wrong type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path

_OF_ROLES = "set it in a role: `trainers.{}`"
_BY_KEY = {
    "affinity": _OF_ROLES.format("affinity"),
    "configMapKeyRef": "use `{configMap: NAME, key: KEY}`",
    "configMapRef": "use `configMap: NAME`",
    "containers": "use `sidecars`; `image` and `command` describe the main container",
    "dnsPolicy": "remove it; `network: {host: true}` sets it",
    "fieldRef": "use `{field: status.hostIP}`",
    "hostNetwork": "use `network: {host: true}` of the spec",
    "hostPID": "remove it, or set it with a patch",
    "imagePullSecrets": "use `registry: NAME` of the spec",
    "initContainers": "use `setup` for commands that run first, or `sidecars`",
    "nodeSelector": _OF_ROLES.format("nodeSelector"),
    "persistentVolumeClaim": "use `claim: NAME`",
    "privileged": "use `pod: {containerSecurityContext: {privileged: true}}`",
    "requests": "remove this level; `cpu`, `memory` and `ephemeralStorage` are requests",
    "resourceFieldRef": "use `{resource: limits.memory}`",
    "secretKeyRef": "use `{secret: NAME, key: KEY}`",
    "secretRef": "use `secret: NAME`",
    "tolerations": _OF_ROLES.format("tolerations"),
    "valueFrom": "use `{field: status.hostIP}`, `{secret: NAME, key: KEY}` or the like",
}


def native(path: Path) -> str | None:
    """Return the hint for an unknown key that Kubernetes has, given its *path*."""
    key, parents = str(path[-1]), path[-3:-1]
    if "resources" in parents and (key == "gpu" or "/" in key):
        if key in ("gpu", "nvidia.com/gpu"):
            within = "`resources`" if "sidecars" not in path else "`resources` of a role"
            return f"use `gpu` of {within}, which is its request and its limit"
        return f"use `extended: {{{key}: 1}}` of `resources`"
    return _BY_KEY.get(key)


def as_type(types: list[str], value: Any) -> str | None:
    """Suggest another way to write a value that has the wrong type."""
    if isinstance(value, str):
        if "array" in types:
            return "write it as a list, with '- ' before each item"
        if "boolean" in types:
            return "use true or false, without quotes"
        if "integer" in types and value.isdecimal():
            return "remove the quotes"
    elif "string" in types and isinstance(value, (int, float)):
        return "put it in quotes"
    return None
