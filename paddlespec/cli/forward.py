"""`port-forward`: ports of a replica as ports of this machine."""

from __future__ import annotations

import socket
import sys
import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from paddlespec.cli import inside, local, options, seen
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backend import OperationFailed
    from paddlespec.cluster.client import Client
    from paddlespec.cluster.forward import Port
    from paddlespec.cluster.remote import Place
    from paddlespec.local.engine import Engine as LocalEngine
    from paddlespec.manifest import Manifest

_LOOK_SECONDS = 2.0
_REST_SECONDS = 0.2
# As long as this a cluster may be out of reach before we give up.
_PATIENCE_SECONDS = 60.0


class Pair(NamedTuple):
    """A port of this machine, 0 for any that is free, and a replica's, by number or by name."""

    here: int | None
    there: str


def port_forward(
    name: Annotated[str, typer.Argument(metavar=seen.METAVAR, help=seen.HELP)],
    ports: Annotated[
        list[str],
        typer.Argument(
            metavar="[LOCAL:]REMOTE...",
            help="REMOTE is a number or a name of the spec; :REMOTE picks a free LOCAL.",
        ),
    ],
    role: Annotated[
        str | None, typer.Option("--role", metavar="trainers|pservers", help="Of this role.")
    ] = None,
    index: Annotated[
        int | None, typer.Option("--index", metavar="I", min=0, help="Of this replica.")
    ] = None,
    address: Annotated[
        str, typer.Option("--address", metavar="ADDRESS", help="Listen on this address.")
    ] = "127.0.0.1",
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Make ports of a replica that runs reachable on this machine, until Ctrl-C.

    It is the first trainer, unless options say otherwise. Ends with 3 when the replica ends.

    \b
    paddlespec port-forward word2vec 6006
    paddlespec port-forward word2vec 8080:tensorboard :9090 --index 1
    """
    from paddlespec.cli.places import Engines
    from paddlespec.local.engine import Engine as LocalEngine

    pairs = [_pair(each) for each in ports]
    with Engines(kubeconfig, context, namespace, None) as engines:
        job = seen.the_job(name, target, datacenter, namespace)
        engine = engines.meant(job)
        if isinstance(engine, LocalEngine):
            return _tell_addresses(engine, job.name, role, index, pairs)
        try:
            place = inside.place_of(engine, job.name, role, index)
            return _Forwarding(engine.client, place).run(address, pairs)
        except KeyboardInterrupt:
            return Exit.interrupted  # the usual end, of which nothing need be said


def _pair(text: str) -> Pair:
    here, separator, there = text.rpartition(":")
    if not there or not (here == "" or _is_port(here, least=0)):
        hint = "such as 6006, 8080:6006 or :tensorboard"
        raise Stop(Exit.usage, f"{text}: expected [LOCAL:]REMOTE", hint)
    if there.isdecimal() and not _is_port(there, least=1):
        raise Stop(Exit.usage, f"{text}: a port is a number from 1 to 65535")
    return Pair(int(here or 0) if separator else None, there)


def _is_port(text: str, *, least: int) -> bool:
    return text.isascii() and text.isdecimal() and least <= int(text) <= 65_535


def _tell_addresses(
    engine: LocalEngine, name: str, role: str | None, index: int | None, pairs: Sequence[Pair]
) -> int:
    """A process of this machine needs nothing: it has an address here."""
    from paddlespec.cli.tell import note

    worker = inside.chosen(engine, name, role, index)
    note(f"{worker.name} is a process of this machine, which is reached without forwarding:")
    for each in pairs:
        if not each.there.isdecimal():
            raise Stop(Exit.usage, f"{each.there}: here a port is a number")
        # Replicas that do not meet have no addresses of their own.
        sys.stdout.write(f"{worker.address or '127.0.0.1'}:{each.there}\n")
    return Exit.done


class _Forwarding:
    """The ports of one replica; each connection has a thread, and fails alone."""

    def __init__(self, client: Client, place: Place) -> None:
        self._client, self._place = client, place
        self._failures: SimpleQueue[OperationFailed] = SimpleQueue()
        self._said = ""

    def run(self, address: str, pairs: Sequence[Pair]) -> int:
        """Listen until the replica has ended, which is a failure."""
        from paddlespec.cluster.forward import Port, pod_of

        pod = pod_of(self._client, self._place)
        wanted = [(each, Port(self._place, _number(pod, each.there))) for each in pairs]
        listening = [(_listen(address, pair, port), port) for pair, port in wanted]
        for server, port in listening:
            sys.stdout.write(f"{_written(server)} -> {self._place.pod}:{port.number}\n")
            _start(self._accept, server, port)
        sys.stdout.flush()
        answered = looked = time.monotonic()
        while True:
            with suppress(Empty):
                self._tell(self._failures.get(timeout=_LOOK_SECONDS))
            if time.monotonic() - looked >= _LOOK_SECONDS:
                answered = self._look(pod["metadata"]["uid"], answered)
                looked = time.monotonic()

    def _look(self, uid: str, answered: float) -> float:
        """Whether the replica is still there; when the cluster last said so."""
        from paddlespec.backend import NotFound, OperationFailed
        from paddlespec.cluster.forward import pod_of
        from paddlespec.cluster.refusal import Refused

        try:
            pod_of(self._client, self._place, uid)
        except OperationFailed as error:
            lasts = isinstance(error, Refused) and not error.refusal.is_no_answer
            late = time.monotonic() - answered > _PATIENCE_SECONDS
            if lasts or late or isinstance(error, NotFound):
                raise
            return answered
        return time.monotonic()

    def _tell(self, failure: OperationFailed) -> None:
        """One connection that failed; what none would survive ends all."""
        from paddlespec.cli.tell import note
        from paddlespec.cluster.refusal import Refused

        if isinstance(failure, Refused) and failure.refusal.status == 403:
            raise failure
        if failure.message != self._said:
            self._said = failure.message
            note(f"paddlespec: {failure.message}")

    def _accept(self, server: socket.socket, port: Port) -> None:
        from paddlespec.backend import OperationFailed

        while True:
            try:
                connection, _ = server.accept()
            except OSError as error:  # more of them than this process may have open
                told = (error.strerror or str(error)).lower()
                self._failures.put(OperationFailed(f"a connection was not taken: {told}"))
                time.sleep(_REST_SECONDS)
                continue
            _start(self._carry, connection, port)

    def _carry(self, connection: socket.socket, port: Port) -> None:
        from paddlespec.backend import OperationFailed
        from paddlespec.cluster.forward import carry

        try:
            carry(self._client, port, connection)
        except OperationFailed as error:
            self._failures.put(error)


def _start(work: Callable[[socket.socket, Port], None], one: socket.socket, port: Port) -> None:
    threading.Thread(target=work, args=(one, port), daemon=True).start()


def _number(pod: Manifest, named: str) -> int:
    """A port of a pod, by its number or its name."""
    if named.isdecimal():
        return int(named)
    known = {
        each["name"]: int(each["containerPort"])
        for container in pod["spec"]["containers"]
        for each in container.get("ports") or ()
        if each.get("name")
    }
    if named not in known:
        there = f"there is {', '.join(known)}" if known else "its ports have no names"
        raise Stop(Exit.usage, f"{pod['metadata']['name']} has no port {named}", there)
    return known[named]


def _listen(address: str, pair: Pair, port: Port) -> socket.socket:
    from paddlespec.backend import OperationFailed

    here = port.number if pair.here is None else pair.here
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, here), family=family, backlog=128)
    except OSError as error:
        why = (error.strerror or "no such address").lower()
        hint = f"a free port: :{pair.there}" if here else None
        raise OperationFailed(f"cannot listen on {address}:{here}: {why}", hint) from None


def _written(server: socket.socket) -> str:
    host, port, *_ = server.getsockname()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
