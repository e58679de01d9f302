"""`get`: what is known of jobs and of the place where they run; one module for each resource."""

from __future__ import annotations

import typer

from paddlespec.cli import jobs, queues, quota, records, registry, resources, storages

group = typer.Typer(
    name="get",
    help="Show what runs and what is known of it: jobs, workers, history, spec; quota, "
    "queues, storages and resources of the place.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
group.command()(jobs.jobs)
group.command()(jobs.workers)
group.command()(records.history)
group.command()(queues.queues)
group.command()(quota.quota)
group.command()(registry.registries)
group.command()(resources.resources)
group.command()(records.spec)
group.command()(storages.storages)
