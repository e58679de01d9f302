"""Which job a command is about, where all jobs are looked for, and what a state means to a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.cli.places import Engine, Engines, Meant
    from paddlespec.picture import Stage

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


def exit_code(stage: Stage) -> Exit:
    """What the state of a job means for whoever asked."""
    if stage.is_failure:
        return Exit.job_failed
    from paddlespec.picture import Stage

    gone = stage in (Stage.killed, Stage.replaced, Stage.lost)
    return Exit.refused if gone else Exit.done
