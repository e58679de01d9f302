"""
What a place may be able to do besides running jobs.

An engine lists what it offers as `Capabilities`; a field that is None is not offered, and commands
that need it say so. A new field has a default, so existing backends stay valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from paddlespec.capacity.holding import Holding
    from paddlespec.capacity.line import Unknown
    from paddlespec.capacity.queue import Queues
    from paddlespec.capacity.room import Room
    from paddlespec.capacity.storage import Storages
    from paddlespec.images.registry import Credentials
    from paddlespec.logs.line import Source as LogSource
    from paddlespec.logs.merge import Logs as MergedLogs
    from paddlespec.logs.start import Start
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.state import Worker
    from paddlespec.runs.values import Compared, Event, Mode, Orphan, Progress, Run, Until, Work
    from paddlespec.targets.shell import Source


class RunLogs(Protocol):
    """The stored logs of one run."""

    @property
    def sources(self) -> Sequence[LogSource]:
        """Its replicas, trainers first."""

    def logs(
        self,
        chosen: Sequence[LogSource],
        start: Start,
        report: Callable[[str], None],
        *,
        follow: bool,
        pieces: bool,
    ) -> MergedLogs:
        """Return the logs of *chosen* replicas; with *pieces*, lines may come in parts."""

    def verdict(self) -> str | None:
        """Say why the run failed, if it did."""


class Logs(Protocol):
    """Read what replicas write."""

    def of_run(
        self, job: str, number: int | None, *, previous: bool, container: str | None = None
    ) -> RunLogs:
        """
        Open the logs of a run, by default of the latest one; raises `NotFound`.

        *container* names a container beside the command, such as a sidecar.
        """


class Ranks(Protocol):
    """Read what the processes of a launcher write, of which only the first has a log of its own."""

    def copy(
        self,
        job: str,
        run: int | None,
        replica: LogSource,
        rank: int,
        lines: int | None,
        write: Callable[[bytes], None],
        *,
        follow: bool,
    ) -> None:
        """Write the log of process *rank* of *replica*, or its last *lines*; raises `NotFound`."""


class Streams(Protocol):
    """The standard streams of a command that runs elsewhere, at the user's end."""

    @property
    def terminal(self) -> bool:
        """Whether they are a terminal."""

    @property
    def reads(self) -> bool:
        """Whether there is input."""

    def typed(self) -> bytes | None:
        """Return new input: b"" if there is none yet, None after its end; never waits."""

    def size(self) -> tuple[int, int]:
        """Return the columns and lines of the terminal."""

    def show(self, data: bytes, *, error: bool) -> None:
        """Write output."""


class Executes(Protocol):
    """Run commands in replicas."""

    def execute(
        self,
        job: str,
        replica: str,
        command: Sequence[str],
        streams: Callable[[], AbstractContextManager[Streams]],
        report: Callable[[str], None],
    ) -> int:
        """Run *command* in *replica* until it ends, and return its exit code."""


class Tunnel(Protocol):
    """Connections to the ports of one replica."""

    def port(self, name: str) -> int:
        """Return the number of a port, given by number or name; raises `InvalidOption`."""

    def check(self) -> None:
        """Raise `OperationFailed` once the replica has ended or remains unreachable."""

    def carry(self, port: int, connection: socket.socket) -> None:
        """Relay *connection* until one end closes; raises `Forbidden` if no other can succeed."""


class Tunnels(Protocol):
    """Forward ports of replicas."""

    def open(self, job: str, replica: str) -> Tunnel:
        """Open a tunnel to *replica*; raises `NotFound` if it is not running."""


class Addresses(Protocol):
    """Replicas that are reachable from this machine without a tunnel."""

    def address(self, worker: Worker) -> str:
        """Return the address on which *worker* listens."""


class ShellState(NamedTuple):
    """The state of a scratch container, and its replica once it runs."""

    progress: Progress
    replica: str | None = None


class Shell(Protocol):
    """An existing scratch container."""

    @property
    def name(self) -> str:
        """Its name, by which `shell` and `exec` find it again."""

    def look(self) -> ShellState:
        """Return its state; raises `OperationFailed` once it has ended."""

    def remove(self) -> None:
        """Delete it with everything it owns."""


class Scratch(Protocol):
    """Scratch containers like a replica of a job."""

    def find(self, name: str) -> Shell | None:
        """Return the scratch container *name*, if it exists."""

    def source(self, job: str, role: str) -> Source:
        """Return what runs *role* of an existing job; raises `NotFound`."""

    def check_claims(self, manifests: Sequence[Manifest]) -> None:
        """Raise `NotFound` if a claim does not exist; the container would wait for it."""

    def create(self, manifests: Sequence[Manifest]) -> Shell:
        """Create a container: a workload first, then the objects that it owns."""


class Holdings(Protocol):
    """The resources of a place."""

    def holdings(self) -> tuple[list[Holding], list[Unknown]]:
        """Return totals, queues and nodes, and what the user may not read."""


class Capacity(Protocol):
    """Everything that limits the jobs of a namespace; an empty namespace means all."""

    def room(self, namespace: str, *, job: str | None = None, nodes: bool = False) -> Room:
        """Return quotas, limits and queues, *nodes* if asked, and what *job* already uses."""

    def queues(self, namespace: str) -> Queues:
        """Return the queues that jobs may name."""

    def storages(self, namespace: str) -> Storages:
        """Return volume claims and storage classes."""


class PullSecret(NamedTuple):
    """A pull secret, without its passwords."""

    name: str
    servers: tuple[str, ...]
    users: tuple[str, ...]
    is_ours: bool
    created: str
    namespace: str = ""


class PullSecrets(Protocol):
    """The pull secrets of the namespace."""

    def all(self, *, everywhere: bool = False) -> list[PullSecret]:
        """Return every pull secret; *everywhere*: of all namespaces."""

    def add(self, name: str, server: str, credentials: Credentials) -> bool:
        """Write a pull secret; return whether it is new. Raises for one not created by `add`."""

    def delete(self, name: str) -> None:
        """Delete a pull secret that `add` wrote."""

    def credentials(self, name: str, server: str) -> Credentials:
        """Return the user and password for *server* in a pull secret."""


class Server(NamedTuple):
    """The server behind an engine."""

    version: str
    address: str


class Missing(NamedTuple):
    """A right that the user lacks."""

    resource: str
    verb: str


class Rights(NamedTuple):
    """The rights of a role: how many it needs, and those that the user lacks."""

    needed: int
    missing: tuple[Missing, ...]
    missing_optional: tuple[Missing, ...]


class Features(Protocol):
    """
    What a place offers, for `config check`, `config discover` and `version`.

    A method that lists something returns an error instead if the user may not list it.
    """

    def server(self) -> Server:
        """Return version and address."""

    def extensions(self) -> dict[str, str | None]:
        """Return the version of each extension that jobs can use; None if it is not installed."""

    def rights(self, role: str) -> Rights:
        """Return which rights of *role* the user has."""

    def queues(self) -> list[str] | OperationFailed:
        """Return the queues that jobs of the namespace may name."""

    def claims(self) -> dict[str, dict[str, str | bool]] | OperationFailed:
        """Return the volume claims of the namespace: `phase` and `readOnly`."""

    def storage_classes(self) -> list[str] | OperationFailed:
        """Return the storage classes."""

    def accelerators(self) -> list[str] | OperationFailed:
        """Return the resources under which nodes offer devices, such as nvidia.com/gpu."""


class Retires(Protocol):
    """Delete jobs whose specs no longer exist."""

    def recorded(self, project: str) -> list[Orphan]:
        """Return the jobs of a project whose spec path is recorded."""

    def compare_orphan(self, job: Orphan) -> Compared:
        """Return what `retire` would delete."""

    def retire(
        self, job: Orphan, mode: Mode, report: Callable[[Event], None], *, force_unlock: bool
    ) -> None:
        """Delete what is left of a job, unless it is running."""


class Prefetch(Protocol):
    """Fetch the state of many jobs with few requests, for the operations that follow."""

    def before_compare(self, works: Sequence[Work]) -> None:
        """Fetch what `compare` needs for each of *works*."""

    def before_look(self, runs: Sequence[Run]) -> None:
        """Fetch what the next `look` needs for each of *runs*."""


class Advice(Protocol):
    """Remarks for the user after an apply."""

    def after_apply(self, run: Run, until: Until) -> str | None:
        """Say what can be done with *run* now, or where its results are."""


class Lack(NamedTuple):
    """Why a command cannot work at a place, and what to use instead; {job} is the job's name."""

    message: str
    hint: str | None = None


class Capabilities(NamedTuple):
    """
    What an engine offers; `lacks` explains, by command as typed, what it does not offer.

    `plans`: a comparison has a basis, and an apply follows the plan that was approved.
    """

    logs: Logs | None = None
    executes: Executes | None = None
    tunnels: Tunnels | None = None
    addresses: Addresses | None = None
    scratch: Scratch | None = None
    holdings: Holdings | None = None
    capacity: Capacity | None = None
    pull_secrets: PullSecrets | None = None
    features: Features | None = None
    retires: Retires | None = None
    prefetch: Prefetch | None = None
    ranks: Ranks | None = None
    advice: Advice | None = None
    plans: bool = False
    lacks: Mapping[str, Lack] = {}
