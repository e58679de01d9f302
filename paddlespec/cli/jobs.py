"""`get jobs` and `get workers`: what runs, and each of its replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli import listing, local, options, seen
from paddlespec.cli.exits import Exit, Stop, worst

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.cli.live import Shown
    from paddlespec.picture import JobState, Worker
    from paddlespec.selector import Selector

Watch = Annotated[
    bool, typer.Option("-w", "--watch", help="Go on, and show what changes, until Ctrl-C.")
]


def jobs(
    over: Annotated[
        bool,
        typer.Option("-a", "--all", help="Also those that are over, or gone from the cluster."),
    ] = False,
    everywhere: listing.Everywhere = False,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="Only what NAME has applied.")
    ] = None,
    selector: Annotated[
        str | None,
        typer.Option("-l", "--selector", metavar="LABELS", help="Only these, as in team=ads,!old."),
    ] = None,
    watch: Watch = False,
    output: listing.Form = "table",
    target: local.Where = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show the jobs that run.

    Those of the cluster that kubectl would use, or of this machine with --target local and where
    there is no kubeconfig. DONE and FAIL count replicas; -o wide has queue, times, run and user.

    \b
    paddlespec get jobs
    paddlespec get jobs -a -A --user alice
    paddlespec get jobs -l team=ads -o wide
    paddlespec get jobs --target local -w
    """
    from paddlespec.cli.places import Engines
    from paddlespec.cli.tell import failed, note

    listing.check(output)
    if everywhere and namespace:
        raise Stop(Exit.usage, f"-A means every namespace, and -n {namespace} one of them")
    chosen = _selector(selector)
    with Engines(kubeconfig, context, namespace, None) as engines:
        engine = seen.usual(engines, target)

        def look() -> tuple[list[JobState], list[int]]:
            found, failures = engine.job_states(everywhere=everywhere, over=over)
            found = [
                each for each in found if user in (None, each.user) and chosen.matches(each.labels)
            ]
            return found, [failed(word, error) for word, error in failures]

        if watch:
            watch_list(
                lambda: look()[0],
                lambda each: (each.namespace, each.name),
                lambda found: _forms(found, spaces=everywhere),
                engine.pause,
                output,
            )
        found, codes = look()
    if not found and output in ("table", "wide"):
        here = "" if everywhere else f" in namespace {engine.namespace}"
        what = "no job" if over or user or selector else "no job runs"
        note(f"{what}{here}" + ("" if over else "; -a shows those that are over"))
    listing.show(output, *_forms(found, spaces=everywhere))
    return worst(codes)


def workers(
    name: Annotated[str, typer.Argument(metavar=seen.METAVAR, help=seen.HELP)],
    watch: Watch = False,
    output: listing.Form = "table",
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show each replica of a job: a pod of the cluster, or a process of this machine.

    \b
    paddlespec get workers word2vec
    paddlespec get workers word2vec -o wide
    """
    from paddlespec.cli.places import Engines
    from paddlespec.cli.tell import note

    listing.check(output)
    with Engines(kubeconfig, context, namespace, None) as engines:
        job = seen.the_job(name, target, datacenter, namespace)
        engine = engines.meant(job)
        if watch:
            watch_list(
                lambda: list(engine.glance(job.name).workers),
                lambda each: (each.name,),
                lambda found: _worker_forms(job.name, found),
                engine.pause,
                output,
            )
        found = engine.glance(job.name)
    if not found.workers and output in ("table", "wide"):
        why = f": {found.job.why}" if found.job.why else ""
        note(f"{job.name} has no replicas at the moment: it is {found.job.stage.value}{why}")
    listing.show(output, *_worker_forms(job.name, list(found.workers)))
    return Exit.done


def _selector(text: str | None) -> Selector:
    from paddlespec.selector import Selector, parse

    try:
        return Selector() if text is None else parse(text)
    except ValueError as error:
        hint = "such as team=ads, team!=ads, team, !team or team in (ads,maps)"
        raise Stop(Exit.usage, f"-l {text}: not understood from `{error}` on", hint) from None


def _forms(found: list[JobState], *, spaces: bool) -> tuple[Any, Any, Any]:
    """A list of jobs as data, as names, and as a table."""
    from datetime import datetime, timezone

    from paddlespec.report.jobs import job_data
    from paddlespec.report.jobs import jobs as table

    now = datetime.now(timezone.utc)
    return (
        lambda: {"jobs": [job_data(each) for each in found]},
        lambda: [f"{each.namespace}/{each.name}" if spaces else each.name for each in found],
        lambda wide, width: table(found, now, spaces=spaces, wide=wide, width=width),
    )


def _worker_forms(job: str, found: list[Worker]) -> tuple[Any, Any, Any]:
    from datetime import datetime, timezone

    from paddlespec.report.jobs import worker_data
    from paddlespec.report.jobs import workers as table

    now = datetime.now(timezone.utc)
    return (
        lambda: {"job": job, "workers": [worker_data(each) for each in found]},
        lambda: [each.name for each in found],
        lambda wide, width: table(found, now, wide=wide, width=width),
    )


def watch_list(
    look: Callable[[], list[Any]],
    key: Callable[[Any], tuple[str, ...]],
    forms: Callable[[list[Any]], tuple[Any, Any, Any]],
    pause: Callable[[float], None],
    output: str,
) -> None:
    """Show a list, and then what becomes another; without a terminal only that."""
    from paddlespec.cli.live import Shown, follow

    before: dict[tuple[str, ...], Any] | None = None

    def again() -> Shown:
        nonlocal before
        found = look()
        known = before
        before = {key(each): each for each in found}
        whole = listing.text(output, *forms(found))
        if known is None:
            return Shown(whole, whole, last=False)
        changed = [each for each in found if known.get(key(each)) != each]
        lines = listing.text(output, *forms(changed)) if changed else ""
        if output in ("table", "wide"):
            lines = lines.partition("\n")[2]
        return Shown(whole, lines, last=False)

    follow(again, pause, redraw=output in ("table", "wide"))
