"""What runs, asked from the place where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.backend import OperationFailed, Run
    from paddlespec.cli.places import Engine, Engines, Meant
    from paddlespec.picture import JobState, Stage, Status

METAVAR, HELP = "NAME|PATH", "A job, or its spec: a PATH has a / or ends in .yaml."


def the_job(
    name: str, target: str | None, datacenter: str | None = None, namespace: str | None = None
) -> Meant:
    """The one job that a command is about."""
    from paddlespec.cli.places import meant
    from paddlespec.cli.session import choices

    chosen = choices(target=target, datacenter=datacenter)
    job, *others = meant([name], None, chosen, namespace)
    if others:
        raise Stop(Exit.usage, f"{name} holds several jobs", "name one of them")
    return job


def usual(engines: Engines, target: str | None) -> Engine:
    """Where all jobs are looked for: the cluster, unless this machine is named or all there is."""
    from paddlespec.cli.local import has_cluster
    from paddlespec.cli.places import LOCAL

    asked = bool(engines.kubeconfig or engines.context)
    here = target == LOCAL or (target is None and not asked and not has_cluster())
    return engines.local(None) if here else engines.at(None)


def job_states(
    engine: Engine, *, everywhere: bool, over: bool
) -> tuple[list[JobState], list[tuple[str, OperationFailed]]]:
    """All jobs, with those that are *over*, and what could not be read."""
    from paddlespec.local.engine import Engine as LocalEngine

    if isinstance(engine, LocalEngine):
        from paddlespec.local.jobs import job_states as here

        found, failures = here(engine.namespace, everywhere=everywhere)
    else:
        from paddlespec.cluster.jobs import job_states as there

        found, failures = there(engine.client, everywhere=everywhere, over=over)
    return [each for each in found if over or not each.stage.is_over], failures


def status(engine: Engine, name: str) -> Status:
    """Everything about one job; raises `NotFound`."""
    from paddlespec.local.engine import Engine as LocalEngine

    if isinstance(engine, LocalEngine):
        from paddlespec.local.jobs import status as here

        return here(engine.namespace, name)
    from paddlespec.cluster.status import status as there

    return there(engine.client, name)


def glance(engine: Engine, name: str) -> Status:
    """The job and its replicas alone; raises `NotFound`."""
    from paddlespec.local.engine import Engine as LocalEngine

    if isinstance(engine, LocalEngine):
        return status(engine, name)
    from paddlespec.cluster.jobs import glance as there

    return there(engine.client, name)


def run_of(engine: Engine, name: str) -> Run | None:
    """The run of a job that can be looked at; nothing before it is there."""
    from paddlespec.local.engine import Engine as LocalEngine

    if isinstance(engine, LocalEngine):
        from paddlespec.local.jobs import run_of as here

        return here(engine.namespace, name)
    from paddlespec.cluster.jobs import run_of as there

    return there(engine.client, name)


def exit_code(stage: Stage) -> Exit:
    """What the state of a job means for whoever asked."""
    if stage.is_failure:
        return Exit.job_failed
    from paddlespec.picture import Stage

    gone = stage in (Stage.killed, Stage.replaced, Stage.lost)
    return Exit.refused if gone else Exit.done
