"""`apply`, `kill` and `delete`: what changes a cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli import local, options
from paddlespec.cli.exits import Exit, Stop, worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.pipeline import Choices

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME|PATH...", help="Jobs by name, or specs: a PATH has a / or ends in .yaml."
    ),
]
ForceUnlock = Annotated[
    bool,
    typer.Option("--force-unlock", help="Take a job's lock from whoever holds it, alive or not."),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait for the pods to end.")]


def apply(
    paths: options.Paths = None,
    file: options.File = None,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    target: options.Target = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
    dry_run: Annotated[
        str,
        typer.Option(
            "--dry-run",
            metavar="none|client|server",
            help="client: print what would be sent; server: let the cluster check it. "
            "Neither changes anything.",
        ),
    ] = "none",
    wait: Annotated[
        str,
        typer.Option(
            "--wait",
            metavar="created|ready|complete",
            help="Until every replica runs, or until the job has ended.",
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
        typer.Option("--force-conflicts", help="Take fields that others have set, but Kueue's."),
    ] = False,
    force_unlock: ForceUnlock = False,
    timeout: options.Timeout = None,
    scale: local.Scale = None,
    mount: local.Mount = None,
    python: local.Python = None,
    cpu_only: local.CpuOnly = False,
    templates: options.TemplatesFolder = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what runs first; with --yes go on at once.")
    ] = False,
    yes: options.Yes = False,
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Make jobs run; what already runs is not disturbed.

    The cluster is the one that kubectl would use; with --target local, jobs run as processes of
    this machine, and with --wait complete Ctrl-C stops them. Exits with 4 when the job itself
    fails while waiting, with 5 when time runs out.

    \b
    paddlespec apply paddlejob.yaml
    paddlespec apply jobs/ --dry-run server
    paddlespec apply paddlejob.yaml --wait complete --timeout 2h
    paddlespec apply --plan plan.json
    paddlespec apply paddlejob.yaml --target local --scale trainers=2 --wait complete
    """
    from paddlespec.backend import Consent, Mode, Until
    from paddlespec.cli import approval, connect, gone
    from paddlespec.cli.approval import Call
    from paddlespec.cli.build import build_all
    from paddlespec.cli.places import Engines, check_places, deadline_of
    from paddlespec.cli.running import Tally, apply_all, wait_for_all
    from paddlespec.cli.session import choices, given, load_valid
    from paddlespec.cli.tell import note
    from paddlespec.files import Files

    mode = Mode(_one_of("--dry-run", dry_run, [each.value for each in Mode]))
    until = Until(_one_of("--wait", wait, [each.value for each in Until]))
    deadline = deadline_of(timeout)
    updates = [*(update or ()), *local.scaled(scale)]
    flags = {"replace": replace, "rerun": rerun, "no-prune": prune is False}
    call = Call(
        *([*(paths or ()), *(file or ())], overlay or (), profile, updates, target, datacenter),
        *(namespace, templates, [name for name, value in flags.items() if value]),
    )
    if prune and plan is not None:
        raise Stop(Exit.usage, "--prune looks for jobs without specs, and a plan has none")
    read = approval.read(plan) if plan is not None else None
    if read is not None:
        call = approval.call_of(read, call)
    chosen = choices(call.overlay, call.profile, call.update, call.target, call.datacenter)
    wanted, namespace, templates = given(call.paths, None), call.namespace, call.templates
    jobs = load_valid(wanted, Files(), chosen, quiet=quiet, no_color=no_color)
    check_places(jobs, namespace)
    connect.agree(jobs, context)
    here = local.Here(mount, python, cpu_only, attached=until is Until.complete)
    local.check(jobs, here, scale)
    approved = approval.approved_of(read, jobs) if read is not None else {}
    where = gone.scopes(wanted, jobs) if prune and mode is not Mode.client else []
    built = build_all(jobs, templates)
    if preview and not _previewed(wanted, chosen, templates, yes=yes, no_color=no_color):
        return Exit.done
    with Engines(kubeconfig, context, namespace, deadline, here) as engines:
        asked = Consent(
            replace="replace" in call.agreed,
            rerun="rerun" in call.agreed,
            force_conflicts=force_conflicts,
            prune="no-prune" not in call.agreed,
            force_unlock=force_unlock,
        )
        tally = Tally()
        runs, codes = apply_all(built, engines, mode, asked, approved, tally)
        codes += gone.retire(where, engines, call.datacenter, mode, force_unlock=force_unlock)
        if mode is Mode.none and until is not Until.created:
            with local.showing_logs(runs, until, no_color=no_color):
                codes += wait_for_all(runs, until, tally, quiet=quiet, no_color=no_color)
        if mode is Mode.none and not quiet:
            local.tell_next(runs, until)
            if len(tally) > 1:
                note(str(tally))
    return worst(codes)


def kill(
    names: Names = None,
    file: options.File = None,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
    rm: Annotated[bool, typer.Option("--rm", help="The same as `delete`.")] = False,
    no_wait: NoWait = False,
    force_unlock: ForceUnlock = False,
    timeout: options.Timeout = None,
    yes: options.Yes = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Stop jobs and remove their objects; claims that were created with a job stay.

    Waits until no pod of the job is left, in any role. A bare name means the rehearsal on this
    machine while that runs, or where there is no cluster to ask; --target says which.

    \b
    paddlespec kill word2vec
    paddlespec kill jobs/word2vec/paddlejob.yaml --yes
    """
    from paddlespec.cli.ending import Removal, remove_all
    from paddlespec.cli.places import Engines, deadline_of, meant

    chosen = _layers(overlay, profile, update, target, datacenter)
    removal = Removal(claims=rm, ignore_absent=False, no_wait=no_wait, yes=yes, quiet=quiet)
    jobs = meant(names, file, chosen, namespace)
    deadline = deadline_of(timeout)
    with Engines(kubeconfig, context, namespace, deadline, force_unlock=force_unlock) as engines:
        return remove_all(jobs, engines, removal)


def delete(
    names: Names = None,
    file: options.File = None,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
    ignore_not_found: Annotated[
        bool, typer.Option("--ignore-not-found", help="A job that is not there is no error.")
    ] = False,
    no_wait: NoWait = False,
    force_unlock: ForceUnlock = False,
    timeout: options.Timeout = None,
    yes: options.Yes = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Stop jobs and remove everything of theirs, the claims that were created with them included.

    Waits until no pod of the job is left, in any role. A bare name means the rehearsal on this
    machine while that runs, or where there is no cluster to ask; --target says which.

    \b
    paddlespec delete word2vec
    paddlespec delete -f paddlejob.yaml --ignore-not-found
    """
    from paddlespec.cli.ending import Removal, remove_all
    from paddlespec.cli.places import Engines, deadline_of, meant

    chosen = _layers(overlay, profile, update, target, datacenter)
    removal = Removal(
        claims=True, ignore_absent=ignore_not_found, no_wait=no_wait, yes=yes, quiet=quiet
    )
    jobs = meant(names, file, chosen, namespace)
    deadline = deadline_of(timeout)
    with Engines(kubeconfig, context, namespace, deadline, force_unlock=force_unlock) as engines:
        return remove_all(jobs, engines, removal)


def _previewed(
    wanted: Sequence[str], chosen: Choices, templates: str | None, *, yes: bool, no_color: bool
) -> bool:
    """Show the preview; whether to go on is for a person to say, or for --yes."""
    from paddlespec.cli.preview import preview
    from paddlespec.cli.tell import agreed, is_conversation, note

    preview(wanted, chosen, templates=templates, no_color=no_color)
    sys.stdout.flush()
    if yes:
        return True
    if not is_conversation():
        note("nothing is applied: --yes goes on after the preview")
        return False
    return agreed("apply this?")


def _layers(
    overlay: list[str] | None,
    profile: str | None,
    update: list[str] | None,
    target: str | None,
    datacenter: str | None,
) -> Choices:
    from paddlespec.cli.session import choices

    return choices(overlay, profile, update, target, datacenter)


def _one_of(option: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise Stop(Exit.usage, f"{option} {value}: expected one of {', '.join(known)}")
    return value
