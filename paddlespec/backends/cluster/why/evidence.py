"""The state of a role, from which the rules derive a cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from paddlespec import workloads
from paddlespec.backends.cluster.api.pods import rank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.backends.capabilities import PullSecret
    from paddlespec.backends.cluster.place.nodes import Node
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.state import RoleState


class Ask(Protocol):
    """Further questions to the cluster; None (or empty) if the user may not read the answer."""

    def events(self, uid: str) -> list[Manifest]:
        """List the events of an object, the latest last."""

    def happened(self, reason: str) -> list[Manifest]:
        """List the events with *reason* of all pods of the namespace, the latest last."""

    def nodes(self) -> list[Node] | None:
        """List the nodes, with their free resources."""

    def pull_secrets(self) -> list[PullSecret] | None:
        """List the pull secrets of the namespace."""

    def find(self, group: str, kind: str) -> list[Manifest] | None:
        """List the objects of a kind; namespaced ones only of the job's namespace."""

    def last_lines(self, pod: Manifest, container: str, count: int) -> list[str]:
        """Read the last lines of a container's log."""


class Evidence(NamedTuple):
    """One role of a job: the object that creates its pods, and its pods except those being deleted."""

    namespace: str
    role: str
    workload: Manifest
    pods: tuple[Manifest, ...]
    ask: Ask
    mode: str | None = None

    @property
    def counted(self) -> RoleState:
        """The replicas of the role, as its controller counts them."""
        states = workloads.of(self.workload).counts(self.workload)
        return next((state for state in states if state.name == self.role), states[0])

    @property
    def desired(self) -> int:
        """The number of replicas the role should have."""
        return self.counted.desired

    @property
    def template(self) -> Mapping[str, Any]:
        """The spec of the pods."""
        rendered = [pods for _, pods in workloads.roles([self.workload])]
        return next((pods for pods in rendered if pods.role == self.role), rendered[0]).pod

    def named(self, pod: Manifest) -> str:
        """Name a replica by role and index: `trainer 3`."""
        return f"{self.role.removesuffix('s')} {rank(pod)}"
