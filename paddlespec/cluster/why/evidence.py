"""What the rules look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from paddlespec.cluster.replicas import rank

if TYPE_CHECKING:
    from paddlespec.cluster.nodes import Node
    from paddlespec.cluster.pull_secrets import Registry
    from paddlespec.manifest import Manifest


class Ask(Protocol):
    """What else may be asked of a cluster; nothing where that is not allowed, or cannot be known."""

    def events(self, uid: str) -> list[Manifest]:
        """What happened to an object, the latest last."""

    def happened(self, reason: str) -> list[Manifest]:
        """What happened for *reason* to any pod of the namespace, the latest last."""

    def nodes(self) -> list[Node] | None:
        """The nodes, and what is left of them."""

    def pull_secrets(self) -> list[Registry] | None:
        """The pull secrets of the namespace."""

    def find(self, group: str, kind: str) -> list[Manifest] | None:
        """The objects of a kind, of the namespace where they have one."""

    def last_lines(self, pod: Manifest, container: str, count: int) -> list[str]:
        """What a container wrote last."""


class Evidence(NamedTuple):
    """One role of a job: its workload and its pods, but for those that are being deleted."""

    namespace: str
    role: str
    workload: Manifest
    pods: tuple[Manifest, ...]
    ask: Ask
    mode: str | None = None

    @property
    def desired(self) -> int:
        """How many replicas the role is to have."""
        spec = self.workload["spec"]
        return int(spec.get("completions", spec.get("parallelism", spec.get("replicas", 1))))

    def named(self, pod: Manifest) -> str:
        """A replica as people call it."""
        return f"{self.role.removesuffix('s')} {rank(pod)}"
