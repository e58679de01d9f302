"""
What the variables of replicas build on: how many there are, their indexes, their hostnames, and DNS.

A replica computes the addresses of all others, so these fields must agree in all objects of a job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import Path, dotted
from paddlespec.render.environment import is_managed
from paddlespec.render.patch.value import mappings, same

if TYPE_CHECKING:
    from collections.abc import Iterator

# Controllers write the index of a pod into these annotations and labels.
INDEXES = ("batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index")

_COUNT = "set `trainers.replicas` or `pservers.replicas` of the spec instead"
_INDEX = "remove it: replicas read their index from it"
_HOST = "remove it: replicas find each other by hostname"
_ENV = "set it in `env` of the spec, with `allowManagedEnv`"
_NODES = "use `network: {host: true}` of the spec, which also sets dnsPolicy and ports"
# On the network of the node, all other policies ask the DNS servers of the node.
_WITH_NODES = ("ClusterFirstWithHostNet", "None")
_WORKLOAD = {
    "completionMode": _INDEX,
    "completions": _COUNT,
    "parallelism": _COUNT,
    "replicas": _COUNT,
}
_POD = {"hostname": _HOST, "hostnameOverride": _HOST, "setHostnameAsFQDN": _HOST}
_NETWORK = {"enableDNSHostnames": _HOST}


def broken(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[str, Path, str]]:
    """Yield a message, a path and a hint for each part of the contract that *after* lacks."""
    old, new = _fields(before), _fields(after)
    for path in dict.fromkeys((*old, *new)):
        value, hint = old.get(path, (None, ""))
        changed, added = new.get(path, (None, ""))
        if not same(value, changed) and not (path[-1] == "parallelism" and _is_alone(before)):
            verb = "set" if path not in old else "changed" if path in new else "removed"
            yield f"{dotted(path)} cannot be {verb} by a patch", path, hint or added
    if not _is_alone(after):
        for path in set(_unresolved(after)) - set(_unresolved(before)):
            message = f"{dotted(path)} leaves the replicas without the DNS of the cluster"
            yield message, path, _NODES
    was, now = dict(_variables(before)), dict(_variables(after))
    known = {key[:2] for key in was}
    for key in dict.fromkeys((*was, *now)):
        # Containers that a patch adds are the user's own.
        if key[:2] in known and not same(was.get(key), now.get(key)):
            path, container, name = key
            verb = "set" if key not in was else "changed" if key in now else "removed"
            message = f"{name} of container {container} cannot be {verb} by a patch"
            yield message, path, _ENV


def _fields(manifest: dict[str, Any]) -> dict[Path, tuple[Any, str]]:
    """Return the guarded fields that are set, with the hint for each."""
    fields: dict[Path, tuple[Any, str]] = {}
    for path, mapping in mappings(manifest):
        hints: dict[str, str] = {}
        if isinstance(mapping.get("template"), dict):
            hints = _WORKLOAD
        elif isinstance(mapping.get("containers"), list):
            hints = _POD
        elif path == ("spec", "network"):
            hints = _NETWORK
        for key, hint in hints.items():
            if (value := mapping.get(key)) is not None:
                fields[(*path, key)] = value, hint
    return fields


def _unresolved(manifest: dict[str, Any]) -> Iterator[Path]:
    """Yield `hostNetwork` of pods that cannot look up the hostnames of other replicas."""
    for path, mapping in mappings(manifest):
        on_nodes = (
            isinstance(mapping.get("containers"), list) and mapping.get("hostNetwork") is True
        )
        if on_nodes and mapping.get("dnsPolicy") not in _WITH_NODES:
            yield (*path, "hostNetwork")


def _is_alone(manifest: dict[str, Any]) -> bool:
    """Whether replicas do not meet, so that they may run one after another."""
    return not any(
        mapping.get("subdomain") or mapping.get("enableDNSHostnames")
        for _, mapping in mappings(manifest)
    )


def _variables(manifest: dict[str, Any]) -> Iterator[tuple[tuple[Path, str, str], Any]]:
    """Yield managed variables by pod, container and name."""
    for path, mapping in mappings(manifest):
        if not isinstance(containers := mapping.get("containers"), list):
            continue
        for container in containers:
            env = container.get("env") if isinstance(container, dict) else None
            for entry in env if isinstance(env, list) else ():
                name = entry.get("name") if isinstance(entry, dict) else None
                if isinstance(name, str) and is_managed(name):
                    where = (*path, "containers")
                    yield (where, str(container.get("name")), name), entry
