"""Logs, commands and ports of pods."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.runs.failures import Forbidden, InvalidOption, NotFound, OperationFailed

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from paddlespec.backends.capabilities import RunLogs, Streams
    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.backends.cluster.engine import Engine
    from paddlespec.backends.cluster.streams.remote_exec import Place
    from paddlespec.logs.line import Source
    from paddlespec.render.manifest import Manifest

# A tunnel gives up once the cluster has been unreachable for this long.
_PATIENCE_SECONDS = 60.0


class ClusterLogs(NamedTuple):
    """Read logs from kubelets."""

    engine: Engine

    def of_run(
        self, job: str, number: int | None, *, previous: bool, container: str | None = None
    ) -> RunLogs:
        """Open the logs of the run whose pods exist."""
        from paddlespec.backends.cluster.streams.job_logs import Kept

        return Kept(self.engine.client, job, number, previous=previous, container=container)


class ClusterRanks(NamedTuple):
    """Read the files of launchers in running containers."""

    engine: Engine

    def copy(
        self,
        job: str,  # noqa: ARG002 - pods have names of their own
        run: int | None,  # noqa: ARG002 - only the current run has containers
        replica: Source,
        rank: int,
        lines: int | None,
        write: Callable[[bytes], None],
        *,
        follow: bool,
    ) -> None:
        """Write the log of one process, which is deleted with its pod."""
        from paddlespec.backends.cluster.streams import rank_log
        from paddlespec.backends.cluster.streams.job_logs import container_of
        from paddlespec.backends.cluster.streams.remote_exec import Place

        client = self.engine.client
        container = container_of(client, replica.name) if replica.name else ""
        place = Place(client.namespace, replica.name, container)
        rank_log.copy(client, place, rank, lines, write, follow=follow)


class ClusterExecutes(NamedTuple):
    """Run commands in containers."""

    engine: Engine

    def execute(
        self,
        job: str,  # noqa: ARG002 - pods have names of their own
        replica: str,
        command: Sequence[str],
        streams: Callable[[], AbstractContextManager[Streams]],
        report: Callable[[str], None],  # noqa: ARG002 - nothing is withheld from a container
    ) -> int:
        """Run *command* in the main container of a pod."""
        from paddlespec.backends.cluster.streams import remote_exec
        from paddlespec.backends.cluster.streams.job_logs import container_of

        client = self.engine.client
        place = remote_exec.Place(client.namespace, replica, container_of(client, replica))
        with streams() as connected:
            return remote_exec.execute(client, place, command, connected)


class ClusterTunnels(NamedTuple):
    """Open tunnels to pods."""

    engine: Engine

    def open(self, job: str, replica: str) -> PodTunnel:  # noqa: ARG002 - pods have names of their own
        """Open a tunnel to a running pod."""
        from paddlespec.backends.cluster.streams import remote_exec, tunnel
        from paddlespec.backends.cluster.streams.job_logs import main_container

        client = self.engine.client
        place = remote_exec.Place(client.namespace, replica, "")
        pod = tunnel.pod_of(client, place)
        return PodTunnel(client, place._replace(container=main_container(pod)), pod)


class PodTunnel:
    """Connections to one pod, which must not be replaced."""

    def __init__(self, client: Client, place: Place, pod: Manifest) -> None:
        self._client, self._place, self._pod = client, place, pod
        self._answered = time.monotonic()

    def port(self, name: str) -> int:
        """Return the number of a container port, given by number or name."""
        if name.isdecimal():
            return int(name)
        known = {
            port["name"]: int(port["containerPort"])
            for container in self._pod["spec"]["containers"]
            for port in container.get("ports") or ()
            if port.get("name")
        }
        if name not in known:
            hint = f"its ports: {', '.join(known)}" if known else "its ports have no names"
            raise InvalidOption(f'{self._place.pod} has no port named "{name}"', hint)
        return known[name]

    def check(self) -> None:
        """Raise once the pod has ended, or the cluster has been unreachable for too long."""
        from paddlespec.backends.cluster.api.refusal import Refused
        from paddlespec.backends.cluster.streams.tunnel import pod_of

        try:
            pod_of(self._client, self._place, self._pod["metadata"]["uid"])
        except OperationFailed as error:
            lasts = isinstance(error, Refused) and not error.refusal.is_no_answer
            late = time.monotonic() - self._answered > _PATIENCE_SECONDS
            if lasts or late or isinstance(error, NotFound):
                raise
        else:
            self._answered = time.monotonic()

    def carry(self, port: int, connection: socket.socket) -> None:
        """Relay one connection."""
        from paddlespec.backends.cluster.api.refusal import Refused
        from paddlespec.backends.cluster.streams import tunnel

        try:
            tunnel.carry(self._client, tunnel.Port(self._place, port), connection)
        except Refused as error:
            if error.refusal.status == 403:
                raise Forbidden(error.message, error.hint) from None
            raise
