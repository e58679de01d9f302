"""`diff`: what an apply would change, told before anything is."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli import options
from paddlespec.cli.exits import Exit, Stop, worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backend import Consent, OperationFailed, Work
    from paddlespec.cli.places import Engines
    from paddlespec.diff import Comparison
    from paddlespec.pipeline import Built, Choices, Loaded
    from paddlespec.report import changes

_FORMATS: tuple[changes.Format, ...] = ("text", "json", "markdown", "github")


def diff(
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
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="git:REV|DIR",
            help="Compare with what a revision, or a folder, renders; contacts no cluster.",
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="text|json|markdown|github", help="Form of the report."
        ),
    ] = "text",
    replace: options.Replace = False,
    rerun: options.Rerun = False,
    prune: options.Prune = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="Write a plan: `apply --plan FILE` does exactly this."
        ),
    ] = None,
    timeout: options.Timeout = None,
    templates: options.TemplatesFolder = None,
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Show what an apply would change; nothing is written.

    The cluster itself is asked, by a dry run of what would be sent. Exits with 0 when there are no
    differences, with 1 when there are, with 3 when something could not be compared.

    \b
    paddlespec diff paddlejob.yaml
    paddlespec diff jobs/ -o markdown
    paddlespec diff jobs/ --against git:main
    paddlespec diff jobs/ --out plan.json
    """
    from paddlespec.backend import Consent
    from paddlespec.cli import connect, gone
    from paddlespec.cli.build import build_all
    from paddlespec.cli.places import Engines, check_places, deadline_of
    from paddlespec.cli.session import choices, given, load_valid
    from paddlespec.cli.tell import note
    from paddlespec.files import Files

    if out is not None and against is not None:
        raise Stop(Exit.usage, "--out is for a comparison with the cluster, and not --against")
    if out is not None and prune:
        raise Stop(Exit.usage, "--prune looks for jobs without specs, and a plan has none")
    form = _form(output)
    deadline = deadline_of(timeout)
    chosen = choices(overlay, profile, update, target, datacenter)
    wanted = given(paths, file)
    jobs = load_valid(wanted, Files(), chosen, quiet=quiet, no_color=no_color)
    check_places(jobs, namespace)
    where = gone.scopes(wanted, jobs) if prune and against is None else []
    built = build_all(jobs, templates)
    codes: list[int] = []
    jobs_before: list[Loaded] = []
    if against is not None:
        comparisons, jobs_before = _offline(wanted, chosen, against, templates, built)
    else:
        connect.agree(jobs, context)
        with Engines(kubeconfig, context, namespace, deadline) as engines:
            asked = Consent(replace=replace, rerun=rerun, prune=prune is not False)
            comparisons = _with_cluster(built, engines, asked, codes)
            comparisons += gone.compare(where, engines, datacenter, codes)
    if comparisons or not codes:
        _report(form, comparisons, [*jobs, *jobs_before], no_color=no_color)
    if out is not None and not codes:
        from paddlespec.cli import approval

        flags = {"replace": replace, "rerun": rerun, "no-prune": prune is False}
        call = approval.Call(
            *(wanted, overlay or (), profile, update or (), target, datacenter, namespace),
            *(templates, [name for name, value in flags.items() if value]),
        )
        approval.write(out, call, comparisons, jobs)
        note(f"plan written: paddlespec apply --plan {out}")
    return worst([*codes, *map(_code, comparisons)])


def _form(output: str) -> changes.Format:
    for each in _FORMATS:
        if each == output:
            return each
    raise Stop(Exit.usage, f"-o {output}: expected one of {', '.join(_FORMATS)}")


def _code(comparison: Comparison) -> int:
    """What a comparison means to a script; what could not be seen may differ."""
    if comparison.problems:
        return Exit.refused
    return Exit.no if comparison.differs else Exit.done


def _with_cluster(
    built: Sequence[Built], engines: Engines, asked: Consent, codes: list[int]
) -> list[Comparison]:
    """Each job against the cluster; one that fails does not stop the others."""
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.build import work_of
    from paddlespec.cli.places import LOCAL
    from paddlespec.cli.running import at_once
    from paddlespec.cli.tell import failed, told
    from paddlespec.cli.together import together
    from paddlespec.diff import Comparison

    found: list[Comparison] = []
    works = [work_of(each) for each in built]

    def compare(index: int, _: object) -> Comparison:
        each = built[index]
        metadata = each.loaded.job.metadata
        engine = engines.of(each.loaded)
        consent = asked._replace(policy=each.loaded.job.spec.policy.when_changed)
        compared = engine.compare(works[index], consent)
        place = metadata.namespace or engine.namespace
        where = "this machine" if each.loaded.target == LOCAL else "the cluster"
        return Comparison(metadata.name, place, where, *compared)

    def became(index: int, outcome: Comparison | OperationFailed) -> None:
        if isinstance(outcome, OperationFailed):
            codes.append(failed(works[index].name, outcome))
        else:
            found.append(outcome)

    many = at_once(built)
    if len(built) > 1 and many > 1:
        _survey(built, works, engines)
    together(range(len(built)), many, compare, engines, told, became)
    return found


def _survey(built: Sequence[Built], works: Sequence[Work], engines: Engines) -> None:
    """Look at all jobs of each cluster at once; what fails here is told of each job later."""
    from paddlespec.backend import OperationFailed
    from paddlespec.cluster.engine import Engine

    shares: dict[Engine, list[Work]] = {}
    for each, work in zip(built, works):
        with suppress(OperationFailed):
            engine = engines.of(each.loaded)
            if isinstance(engine, Engine):
                shares.setdefault(engine, []).append(work)
    for engine, own in shares.items():
        engine.survey(own)


def _offline(
    wanted: Sequence[str],
    chosen: Choices,
    against: str,
    templates: str | None,
    built: Sequence[Built],
) -> tuple[list[Comparison], list[Loaded]]:
    """Each job against what it was, and what was read for that."""
    from paddlespec import revision
    from paddlespec.backend import OperationFailed

    try:
        before = revision.before(wanted, chosen, against, templates, built)
    except OperationFailed as error:
        raise Stop(Exit.refused, error.message, error.hint) from None
    return revision.compare(built, before), before.loaded


def _report(
    output: changes.Format,
    comparisons: Sequence[Comparison],
    jobs: Sequence[Loaded],
    *,
    no_color: bool,
) -> None:
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.session import colored
    from paddlespec.report import changes
    from paddlespec.report.mask import secrets_of

    try:
        text = changes.render(
            output,
            comparisons,
            color=colored(sys.stdout, no_color=no_color),
            secrets=[secrets_of(each) for each in jobs],
            environment=os.environ,
        )
    except OperationFailed as error:
        raise Stop(Exit.refused, error.message, error.hint) from None
    sys.stdout.write(text)
