"""`exec`: a command in a replica."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from paddlespec.cli.shared import job_refs, options
from paddlespec.cli.shared.exits import Exit, Stop


def execute(
    name: Annotated[str | None, typer.Argument(metavar=options.JOB, help=options.JOB_HELP)] = None,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="Command to run.")
    ] = None,
    *,
    file: options.File = None,
    role: options.Role = None,
    index: options.Index = None,
    place: options.JobPlace,
    cluster: options.Cluster,
) -> int:
    """
    Run a command in a running replica.

    Uses the first trainer unless --role or --index chooses another replica, and passes on input
    and terminal. Exits as the command does. A name without --target means the rehearsal on this
    machine while one runs, or if there is no kubeconfig; otherwise the job in the cluster.

    \b
    paddlespec exec word2vec -- nvidia-smi
    paddlespec exec word2vec --role pservers --index 1 -- bash
    paddlespec exec -f paddlejob.yaml -- nvidia-smi
    """
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.output import fenced, remark
    from paddlespec.cli.shared.replicas import replica_of
    from paddlespec.cli.shared.streams import standard_streams

    if file is not None and name is not None:
        # The spec names the job, so all words are the command.
        command, name = [name, *(command or ())], None
    if not command:
        job_text = name or (f"-f {file}" if file else "NAME")
        raise Stop(Exit.usage, "no command given", f"paddlespec exec {job_text} -- COMMAND")
    with Engines(cluster.request()) as engines:
        job = job_refs.job_at(options.Job(name, file), place, cluster.namespace, engines)
        engine = engines.of_job(job)
        executes = needed(engine.capabilities.executes, engine, "exec", job.name)
        replica = replica_of(engine, job.name, role, index)
        # What the command prints may be data for another program.
        with fenced(sys.stderr):
            return executes.execute(job.name, replica, command, standard_streams, remark)
