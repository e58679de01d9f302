"""`port-forward`: ports of a replica as ports of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import job_refs, options
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.capabilities import Addresses
    from paddlespec.cli.shared.forwarding import Pair
    from paddlespec.runs.state import Worker


def port_forward(
    name: Annotated[str | None, typer.Argument(metavar=options.JOB, help=options.JOB_HELP)] = None,
    ports: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LOCAL:]REMOTE...",
            help="REMOTE is a number, or a name from the spec; :REMOTE picks a free LOCAL.",
        ),
    ] = None,
    *,
    file: options.File = None,
    role: options.Role = None,
    index: options.Index = None,
    address: Annotated[
        str, typer.Option("--address", metavar="ADDRESS", help="Listen on this address.")
    ] = "127.0.0.1",
    place: options.JobPlace,
    cluster: options.Cluster,
) -> int:
    """
    Forward ports of a running replica to this machine.

    Uses the first trainer unless --role or --index chooses another replica. Runs until Ctrl-C;
    exits with 3 when the replica ends.

    \b
    paddlespec port-forward word2vec 6006
    paddlespec port-forward word2vec 8080:tensorboard :9090 --index 1
    """
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.forwarding import Forwarding, pair_of
    from paddlespec.cli.shared.replicas import replica_of, running

    if file is not None and name is not None:
        # The spec names the job, so all words are ports.
        ports, name = [name, *(ports or ())], None
    if not ports:
        raise Stop(Exit.usage, "no port given", "add the port, such as 6006")
    pairs = [pair_of(port) for port in ports]
    with Engines(cluster.request()) as engines:
        job = job_refs.job_at(options.Job(name, file), place, cluster.namespace, engines)
        engine = engines.of_job(job)
        if (addresses := engine.capabilities.addresses) is not None:
            worker = running(engine, job.name, role, index)
            return _print_addresses(addresses, worker, pairs)
        tunnels = needed(engine.capabilities.tunnels, engine, "port-forward", job.name)
        try:
            replica = replica_of(engine, job.name, role, index)
            return Forwarding(tunnels.open(job.name, replica), replica).run(address, pairs)
        except KeyboardInterrupt:
            return Exit.interrupted  # the usual end, which needs no message


def _print_addresses(addresses: Addresses, worker: Worker, pairs: Sequence[Pair]) -> int:
    """Print where a replica listens that needs no forwarding."""
    from paddlespec.cli.shared.output import note

    note(f"{worker.name} runs on this machine; connect without forwarding:")
    for pair in pairs:
        if not pair.remote.isdecimal():
            raise Stop(Exit.usage, f'port "{pair.remote}" needs a number on this machine')
        write.lines([f"{addresses.address(worker)}:{pair.remote}"])
    return Exit.done
