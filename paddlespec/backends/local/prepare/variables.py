"""The variables of a process: those of its pod, and a few of this machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backends.local.prepare.pod_fields import field, resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.render.manifest import Manifest

# Variables that an image would set. No others are passed on from the user's shell: a proxy, for
# example, would intercept the connections between replicas.
HOST = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
_REFERENCE = re.compile(r"\$(\$|\(([-._a-zA-Z0-9]+)\))")


class Reference(NamedTuple):
    """A variable whose value is in an object of the cluster."""

    name: str
    kind: str
    object: str
    key: str

    def __str__(self) -> str:
        source = f"{self.kind} {self.object}" + (f", key {self.key}" if self.key else "")
        return (
            f"variable {self.name} ({source}) is not set; "
            f"set it in your shell: {self.name}=... paddlespec apply ..."
        )


class Resolved(NamedTuple):
    """The variables of a pod, those that are `missing`, and the names of those from a `secret`."""

    values: dict[str, str]
    missing: tuple[Reference, ...] = ()
    secret: tuple[str, ...] = ()


def resolve(
    process: Manifest, namespace: str, shell: Mapping[str, str], address: str = ""
) -> Resolved:
    """
    Return the variables of *process* as its pod would see them, with secrets from *shell*.

    *address* is that of the process.
    """
    values: dict[str, str] = {}
    missing: list[Reference] = []
    secret: list[str] = []
    for entry in process["spec"].get("env", ()):
        name, source = entry["name"], entry.get("valueFrom")
        if not source:
            values[name] = expanded(str(entry.get("value", "")), values)
        elif (known := _of_pod(process, source, namespace, address)) is not None:
            values[name] = known
        else:
            reference = _reference(name, source)
            if reference.kind == "Secret":
                secret.append(name)
            if name in shell:
                values[name] = shell[name]
            else:
                missing.append(reference)
    return Resolved(values, tuple(missing), tuple(secret))


def _of_pod(process: Manifest, source: dict[str, Any], namespace: str, address: str) -> str | None:
    """Return a field or resource of the pod; None for other sources, and for what it lacks."""
    if "fieldRef" in source:
        return field(process, source["fieldRef"]["fieldPath"], namespace, address)
    if "resourceFieldRef" in source:
        return resource(process, source["resourceFieldRef"])
    return None


def expanded(text: str, values: Mapping[str, str]) -> str:
    """Return *text* with `$(NAME)` replaced as the kubelet does it: `$$` is a dollar sign."""
    if "$" not in text:
        return text

    def replaced(match: re.Match[str]) -> str:
        if match[2] is None:
            return "$"
        return values.get(match[2], match[0])

    return _REFERENCE.sub(replaced, text)


def of_this_machine(shell: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a process takes from the user's shell."""
    return {name: shell[name] for name in HOST if name in shell}


def _reference(name: str, source: dict[str, Any]) -> Reference:
    for key, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
        if key in source:
            return Reference(name, kind, str(source[key].get("name")), str(source[key].get("key")))
    for key, kind in (("fieldRef", "fieldPath"), ("resourceFieldRef", "resource")):
        if key in source:
            return Reference(name, "pod field", str(source[key].get(kind)), "")
    return Reference(name, next(iter(source)), "", "")


def described(missing: Sequence[Reference]) -> list[str]:
    """Describe what is missing, without duplicates."""
    return [str(reference) for reference in dict.fromkeys(missing)]
