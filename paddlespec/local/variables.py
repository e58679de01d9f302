"""The variables of a process: those of its pod, and the few of this machine that it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.manifest import Manifest

# What an image would say of itself. Nothing else of the user's shell gets in, and no proxy: it
# would come between replicas.
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
_NAMESPACE = "metadata.namespace"
_REFERENCE = re.compile(r"\$(\$|\(([-._a-zA-Z0-9]+)\))")


class Asked(NamedTuple):
    """A variable whose value the cluster keeps, and where."""

    name: str
    kind: str
    object: str
    key: str

    def __str__(self) -> str:
        return (
            f"{self.name} comes from {self.kind} {self.object}, key {self.key}: set it in your "
            f"shell, {self.name}=... paddlespec apply ..."
        )


class Resolved(NamedTuple):
    """The variables of a pod, what is `missing`, and which come from a `secret`."""

    values: dict[str, str]
    missing: tuple[Asked, ...] = ()
    secret: tuple[str, ...] = ()


def resolve(process: Manifest, namespace: str, shell: Mapping[str, str]) -> Resolved:
    """The variables of *process* as its pod would see them; *shell* stands in for secrets."""
    values: dict[str, str] = {}
    missing: list[Asked] = []
    secret: list[str] = []
    for entry in process["spec"].get("env", ()):
        name, source = entry["name"], entry.get("valueFrom")
        if not source:
            values[name] = expanded(str(entry.get("value", "")), values)
        elif "fieldRef" in source:
            own = source["fieldRef"]["fieldPath"] == _NAMESPACE
            values[name] = namespace if own else str(process["spec"]["index"])
        else:
            asked = _asked(name, source)
            if asked.kind == "secret":
                secret.append(name)
            if name in shell:
                values[name] = shell[name]
            else:
                missing.append(asked)
    return Resolved(values, tuple(missing), tuple(secret))


def expanded(text: str, values: Mapping[str, str]) -> str:
    """*text* with `$(NAME)` replaced as the kubelet does it: `$$` stands for one dollar."""
    if "$" not in text:
        return text

    def replaced(match: re.Match[str]) -> str:
        if match[2] is None:
            return "$"
        return values.get(match[2], match[0])

    return _REFERENCE.sub(replaced, text)


def of_this_machine(shell: Mapping[str, str]) -> dict[str, str]:
    """The variables that a process takes from the user's shell."""
    return {name: shell[name] for name in HOST if name in shell}


def _asked(name: str, source: dict[str, Any]) -> Asked:
    for key, kind in (("secretKeyRef", "secret"), ("configMapKeyRef", "configMap")):
        if key in source:
            return Asked(name, kind, str(source[key].get("name")), str(source[key].get("key")))
    return Asked(name, next(iter(source)), "", "")


def told(missing: Sequence[Asked]) -> list[str]:
    """What is missing, each once."""
    return [str(each) for each in dict.fromkeys(missing)]
