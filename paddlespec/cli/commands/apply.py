"""`apply`: make jobs run as their specs say."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import options, results
from paddlespec.cli.shared.exits import Exit, Stop, worst
from paddlespec.cli.shared.values import deadline_of, invalid, one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.cli.shared.apply_jobs import Applied, Tally
    from paddlespec.pipeline import Choices
    from paddlespec.runs.values import Until

_ROLES = ("trainers", "pservers")


def apply(
    *,
    specs: options.Specs,
    layers: options.Layers,
    cluster: options.Cluster,
    dry_run: Annotated[
        str,
        typer.Option(
            "--dry-run",
            metavar="none|client|server",
            help="Change nothing: client prints what would be sent to the cluster, server lets the "
            "cluster check it. `render` prints manifests without a cluster.",
        ),
    ] = "none",
    wait: Annotated[
        str,
        typer.Option(
            "--wait",
            metavar="created|ready|complete",
            help="Wait until all replicas run (ready), or until the job ends (complete).",
        ),
    ] = "created",
    replace: options.Replace = False,
    rerun: options.Rerun = False,
    plan: Annotated[
        str | None,
        typer.Option(
            "--plan", metavar="FILE", help="Do exactly what `diff --out FILE` showed, or refuse."
        ),
    ] = None,
    prune: options.Prune = None,
    force_conflicts: Annotated[
        bool,
        typer.Option(
            "--force-conflicts", help="Overwrite fields owned by other managers, except Kueue's."
        ),
    ] = False,
    force_unlock: options.ForceUnlock = False,
    timeout: options.Timeout = None,
    output: results.Form = "text",
    rehearsal: options.Rehearsal,
    templates: options.TemplatesFolder = None,
    preview: Annotated[
        bool,
        typer.Option(
            "--preview", help="Print the preview first; with --yes, apply without asking."
        ),
    ] = False,
    yes: options.Yes = False,
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Make jobs run as their specs say.

    Needs a kubeconfig, or --target local to run jobs as processes of this machine. Creates and
    changes the objects of each job; a running job that already matches is not disturbed. Exits
    with 4 if a job fails while waiting, with 5 on timeout. With --target local --wait complete,
    Ctrl-C stops the job, and its output is printed unless -o is given.

    \b
    paddlespec apply paddlejob.yaml
    paddlespec apply jobs/ --dry-run server
    paddlespec apply paddlejob.yaml --wait complete --timeout 2h
    paddlespec apply --plan plan.json
    paddlespec apply paddlejob.yaml --target local --scale trainers=2 --wait complete
    """
    from paddlespec.cli.shared import plan_file
    from paddlespec.cli.shared import prune as pruning
    from paddlespec.cli.shared.apply_jobs import Tally, apply_all
    from paddlespec.cli.shared.build import build_all
    from paddlespec.cli.shared.datacenters import refuse_other_datacenter
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import refuse_namesakes
    from paddlespec.cli.shared.output import note
    from paddlespec.cli.shared.session import load_valid, required
    from paddlespec.runs.values import Consent, Mode, Until

    mode = Mode(one_of("--dry-run", dry_run, [mode.value for mode in Mode]))
    until = Until(one_of("--wait", wait, [until.value for until in Until]))
    deadline = deadline_of(timeout)
    if not results.Results(output).is_text and (preview or mode is Mode.client):
        other = "--preview" if preview else "--dry-run client"
        hint = "use `render -o json` for manifests, or --dry-run server"
        raise Stop(Exit.usage, f"{other} has an output of its own: remove -o {output}", hint)
    call = plan_file.call(
        *(specs.given, layers, cluster.namespace, templates),
        more_updates=scaled(rehearsal.scale),
        replace=replace,
        rerun=rerun,
        no_prune=prune is False,
    )
    if prune and plan is not None:
        raise Stop(Exit.usage, "--prune needs spec folders, and a plan has none")
    approval = plan_file.read(plan) if plan is not None else None
    if plan is not None and approval is not None:
        call = plan_file.call_of(plan, approval, call)
    paths, templates = required(call.paths), call.templates
    # A plan says what is applied, and never what may be read.
    chosen = call.choices._replace(allowed=layers.choices().allowed)
    jobs = load_valid(paths, chosen.files(), chosen, quiet=quiet, no_color=no_color)
    refuse_namesakes(jobs, call.namespace)
    refuse_other_datacenter(jobs, cluster.context)
    cluster = cluster._replace(namespace=call.namespace)
    request = cluster.request(deadline, rehearsal, attached=until is Until.complete)
    with Engines(request) as engines:
        engines.refuse_foreign_options(jobs)
        approved = plan_file.approved_of(approval, jobs) if approval is not None else {}
        where = pruning.scopes(paths, jobs, engines) if prune and mode is not Mode.client else []
        built = build_all(jobs, templates, chosen.allowed)
        if preview and not _previewed(paths, chosen, templates, yes=yes, no_color=no_color):
            return Exit.done
        consent = Consent(
            replace="replace" in call.agreed,
            rerun="rerun" in call.agreed,
            force_conflicts=force_conflicts,
            prune="no-prune" not in call.agreed,
            force_unlock=force_unlock,
        )
        done = results.Results(output, (job.job.metadata.name for job in jobs))
        for job in jobs:
            done.update(job.job.metadata.name, uid=None)
        tally = Tally(done)
        applied, codes = apply_all(built, engines, mode, consent, approved, tally)
        codes += pruning.retire(*(where, call.datacenter, mode, done), force_unlock=force_unlock)
        if mode is Mode.none and until is not Until.created:
            codes += _wait(applied, until, tally, quiet=quiet, no_color=no_color)
        done.write(dryRun=mode is Mode.server)
        if mode is Mode.none and not quiet:
            _advise(applied, until)
            if len(tally) > 1:
                note(str(tally))
    return worst(codes)


def scaled(scale: Sequence[str] | None) -> list[str]:
    """`--scale` as updates of the spec; raises `Stop`."""
    updates = []
    for part in (part for text in scale or () for part in text.split(",")):
        role, separator, count = part.partition("=")
        if role not in _ROLES or not separator or not count.isascii() or not count.isdecimal():
            raise invalid("--scale", part, "expected trainers=N or pservers=N")
        updates.append(f"{role}.replicas={int(count)}")
    return updates


def _wait(
    applied: Sequence[Applied], until: Until, tally: Tally, *, quiet: bool, no_color: bool
) -> list[int]:
    """Wait for jobs; what runs in the foreground writes is shown until they are complete."""
    from paddlespec.cli.shared.apply_jobs import wait_for_all
    from paddlespec.cli.shared.live_logs import LiveLogs
    from paddlespec.runs.values import Until

    shown = applied if until is Until.complete and tally.results.is_text else ()
    with LiveLogs(shown, no_color=no_color) as logs:
        return wait_for_all(applied, until, tally, logs.finish, quiet=quiet, no_color=no_color)


def _advise(applied: Sequence[Applied], until: Until) -> None:
    """Print what can be done with each job next."""
    from paddlespec.cli.shared.output import notes

    for job in applied:
        advice = job.engine.capabilities.advice
        if advice is not None and (text := advice.after_apply(job.run, until)):
            notes(text)


def _previewed(
    paths: Sequence[str], chosen: Choices, templates: str | None, *, yes: bool, no_color: bool
) -> bool:
    """Print the preview; return whether to go on."""
    from paddlespec.cli.shared.output import confirm, is_interactive, note
    from paddlespec.cli.shared.preview import preview

    preview(paths, chosen, templates=templates, no_color=no_color)
    sys.stdout.flush()
    if yes:
        return True
    if not is_interactive():
        note("nothing applied; add --yes to apply after the preview")
        return False
    return confirm("apply this?")
