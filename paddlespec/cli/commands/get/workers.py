"""`get workers`: the replicas of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.listing import Listing

if TYPE_CHECKING:
    from paddlespec.runs.state import Worker


def workers(
    *,
    given: options.Job,
    watch: listing.Watch = False,
    output: listing.Form = "table",
    place: options.JobPlace,
    cluster: options.Cluster,
) -> int:
    """
    List the replicas of a job.

    A replica is a pod of the cluster, or a process of this machine.

    \b
    paddlespec get workers word2vec
    paddlespec get workers word2vec -o wide
    """
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import job_at
    from paddlespec.cli.shared.output import note
    from paddlespec.cli.shared.watch import follow_list

    listing.check(output)
    with Engines(cluster.request()) as engines:
        job = job_at(given, place, cluster.namespace, engines)
        engine = engines.of_job(job)
        if watch:
            follow_list(
                lambda: list(engine.glance(job.name).workers),
                lambda worker: (worker.name,),
                lambda replicas: _listing(job.name, replicas),
                engine.pause,
                output,
            )
        status = engine.glance(job.name)
    if not status.workers and listing.is_table(output):
        why = f": {status.job.why}" if status.job.why else ""
        note(f"{job.name} has no replicas; it is {status.job.stage.value}{why}")
    listing.show(output, _listing(job.name, list(status.workers)))
    return Exit.done


def _listing(job: str, replicas: list[Worker]) -> Listing:
    from datetime import datetime, timezone

    from paddlespec.report.jobs import worker_data
    from paddlespec.report.jobs import workers as table

    now = datetime.now(timezone.utc)
    return Listing(
        lambda: {"job": job, "workers": [worker_data(worker) for worker in replicas]},
        lambda: [worker.name for worker in replicas],
        lambda wide, width: table(
            replicas, now, wide=wide, width=width, color=listing.is_colored()
        ),
    )
