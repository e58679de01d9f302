"""Check the settings of pods: their labels, and what Pod Security allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.checks import reads
from paddlespec.render import roles
from paddlespec.render.pod_settings import is_reserved, is_restricted, needs_escalation, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role
    from paddlespec.render.roles import RoleName

# Annotations that nothing reads from objects other than pods.
_OF_PODS = (
    "kueue.x-k8s.io/podset-",
    "k8s.v1.cni.cncf.io/networks",
    "v1.multus-cni.io/",
    "sidecar.istio.io/",
    "traffic.sidecar.istio.io/",
    "prometheus.io/",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "vault.hashicorp.com/",
)
_FORBIDDEN_VOLUMES = ("host_path", "nfs", "cephfs")
_MAY_ADD = frozenset(("NET_BIND_SERVICE",))
_USER = ("runAsUser", "runAsNonRoot")
_HINT = "remove it, or `security: restricted`"


@reads("metadata.annotations")
def annotations_of_pods(facts: Facts) -> Iterator[Diagnostic]:
    """Annotations of the metadata do not reach pods, where some have their only reader."""
    for key in facts.job.metadata.annotations:
        if key.startswith(_OF_PODS):
            message = f"annotation {key} has no effect here: it is read from pods"
            path = ("metadata", "annotations", key)
            yield facts.warning("pod-annotation", message, path, "move it to `pod.annotations`")


@reads("spec.pod")
def labels(facts: Facts) -> Iterator[Diagnostic]:
    """Labels and annotations that others set cannot be set in a spec."""
    yield from _reserved(facts, ("spec", "pod"))


@reads("spec.{role}.pod")
def labels_of_role(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:  # noqa: ARG001 - read by name
    """Check the labels of one role in the same way."""
    yield from _reserved(facts, (*roles.path(name), "pod"))


def _reserved(facts: Facts, pod: Path) -> Iterator[Diagnostic]:
    for kind in ("labels", "annotations"):
        for key in facts.document.at((*pod, kind)) or ():
            if is_reserved(key):
                message = (
                    f"{kind[:-1]} {key} is set by paddlespec or Kubernetes; this value is ignored"
                )
                path = (*pod, kind, key)
                yield facts.warning("managed-label", message, path, "remove it", key=True)


@reads("spec.pod")
def addresses(facts: Facts) -> Iterator[Diagnostic]:
    """Host aliases have IP addresses."""
    yield from _addresses(facts, ("spec", "pod"))


@reads("spec.{role}.pod")
def addresses_of_role(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:  # noqa: ARG001 - read by name
    """Check the addresses of one role in the same way."""
    yield from _addresses(facts, (*roles.path(name), "pod"))


def _addresses(facts: Facts, pod: Path) -> Iterator[Diagnostic]:
    for index, alias in enumerate(facts.document.at((*pod, "hostAliases")) or ()):
        if not _is_address(alias["ip"]):
            message = f'"{alias["ip"]}" is not an IP address'
            path = (*pod, "hostAliases", index, "ip")
            yield facts.error("format", message, path, "use an address such as 10.0.0.1")


def _is_address(text: str) -> bool:
    from ipaddress import ip_address

    try:
        ip_address(text)
    except ValueError:
        return False
    return True


@reads("spec.pod", "spec.{role}.pod")
def contexts(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:  # noqa: ARG001 - read by name
    """Security settings describe processes that can start."""
    merged = settings(facts.job, name)
    user: dict[str, Any] = {}
    for holder in ("securityContext", "containerSecurityContext"):
        context = merged.get(holder) or {}
        user |= {key: (context[key], holder) for key in _USER if context.get(key) is not None}
        for key in ("seccompProfile", "appArmorProfile"):
            profile = context.get(key) or {}
            is_local = profile.get("type") == "Localhost"
            if profile and is_local != bool(profile.get("localhostProfile")):
                message = f"{key} of type {profile['type']} " + (
                    "requires `localhostProfile`" if is_local else "has no `localhostProfile`"
                )
                hint = "add it, or use type RuntimeDefault" if is_local else "remove it"
                yield facts.error("pod-security", message, _place(facts, name, holder, key), hint)
    number, holder = user.get("runAsUser", (None, ""))
    if number == 0 and user.get("runAsNonRoot", (False, ""))[0]:
        message = "runAsUser: 0 contradicts runAsNonRoot: true; the container never starts"
        path = _place(facts, name, holder, "runAsUser")
        yield facts.error("pod-security", message, path, "use another user ID", key=True)


@reads("spec.pod", "spec.{role}.pod", "spec.volumes", "spec.{role}.volumes", "spec.network")
def security(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Security settings do not contradict each other, or the level of Pod Security."""
    merged = settings(facts.job, name)
    context = merged.get("containerSecurityContext") or {}
    if context.get("allowPrivilegeEscalation") is False and needs_escalation(context):
        message = "allowPrivilegeEscalation: false contradicts the rights that the container gets"
        path = _place(facts, name, "containerSecurityContext", "allowPrivilegeEscalation")
        yield facts.error("pod-security", message, path, "remove it", key=True)
    if not is_restricted(facts.job, name):
        return
    network = facts.job.spec.network
    forbidden = [*_settings(facts, name, merged), *_volumes(facts, name, role)]
    forbidden += [(("spec", "network", "host"), "the network of the nodes")] if network.host else []
    if network.rdma and name == "trainers":
        forbidden.append(
            (("spec", "network", "rdma"), "the capability IPC_LOCK, which RDMA needs,")
        )
    for path, what in forbidden:
        message = f"{what} is not allowed with `security: restricted`"
        yield facts.error("pod-security", message, path, _HINT, key=True)


def _settings(facts: Facts, name: RoleName, merged: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield the path and description of each setting that `restricted` forbids."""
    if merged.get("hostIPC"):
        yield _place(facts, name, "hostIPC"), "hostIPC"
    for holder in ("securityContext", "containerSecurityContext"):
        context = merged.get(holder) or {}
        for key, value in (
            ("privileged", True),
            ("allowPrivilegeEscalation", True),
            ("runAsUser", 0),
            ("runAsNonRoot", False),
        ):
            if key in context and context[key] == value:
                text = str(value).lower()
                yield _place(facts, name, holder, key), f"{key}: {text}"
        if (context.get("seccompProfile") or {}).get("type") == "Unconfined":
            yield _place(facts, name, holder, "seccompProfile"), "an unconfined seccomp profile"
        added = (context.get("capabilities") or {}).get("add") or ()
        for capability in (own for own in added if own not in _MAY_ADD):
            place = _place(facts, name, holder, "capabilities", "add")
            yield place, f"the capability {capability}"


def _volumes(facts: Facts, name: RoleName, role: Role) -> Iterator[tuple[Path, str]]:
    for path, volumes in (
        (("spec", "volumes"), facts.job.spec.volumes),
        ((*roles.path(name), "volumes"), role.volumes),
    ):
        for index, volume in enumerate(volumes):
            for kind in _FORBIDDEN_VOLUMES:
                if getattr(volume, kind) is not None:
                    key = "hostPath" if kind == "host_path" else kind
                    yield (*path, index, key), f"a volume of kind {key}"


def _place(facts: Facts, name: RoleName, *keys: str) -> Path:
    """Return the path of a setting: that of the role, or else that of the spec."""
    own: Path = (*roles.path(name), "pod", *keys)
    return own if facts.document.at(own) is not None else ("spec", "pod", *keys)
