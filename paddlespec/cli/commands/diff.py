"""`diff`: what an apply would change, before anything is changed."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import options
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop, worst
from paddlespec.cli.shared.values import deadline_of, invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.capabilities import Prefetch
    from paddlespec.change.diff import Comparison
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.pipeline import Built, Choices, Loaded
    from paddlespec.report import changes
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.values import Consent, Work

_FORMATS: tuple[changes.Format, ...] = ("text", "json", "markdown", "github")


def diff(
    *,
    specs: options.Specs,
    layers: options.Layers,
    cluster: options.Cluster,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="git:REV|DIR",
            help="Compare with what a revision or a folder renders; contact no cluster.",
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="text|json|markdown|github", help="Output format."),
    ] = "text",
    replace: options.Replace = False,
    rerun: options.Rerun = False,
    prune: options.Prune = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="Write a plan; `apply --plan FILE` does exactly that."
        ),
    ] = None,
    timeout: options.Timeout = None,
    templates: options.TemplatesFolder = None,
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Show what an apply would change.

    Needs a kubeconfig, except with --against or --target local. Changes nothing: the cluster
    answers with a dry run. Exits with 0 if there are no differences, with 1 if there are, with 3
    if something could not be compared.

    \b
    paddlespec diff paddlejob.yaml
    paddlespec diff jobs/ -o markdown
    paddlespec diff jobs/ --against git:main
    paddlespec diff jobs/ --out plan.json
    """
    from paddlespec.cli.shared import plan_file
    from paddlespec.cli.shared import prune as pruning
    from paddlespec.cli.shared.build import build_all
    from paddlespec.cli.shared.datacenters import refuse_other_datacenter
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import refuse_namesakes
    from paddlespec.cli.shared.output import note
    from paddlespec.cli.shared.session import load_valid, required
    from paddlespec.runs.values import Consent

    if out is not None and against is not None:
        raise Stop(Exit.usage, "--out writes a plan for a cluster: remove --against")
    if out is not None and prune:
        raise Stop(Exit.usage, "--prune needs spec folders, and a plan has none")
    form = _form(output)
    deadline = deadline_of(timeout)
    paths, chosen = required(specs.given), layers.choices()
    jobs = load_valid(paths, chosen.files(), chosen, quiet=quiet, no_color=no_color)
    refuse_namesakes(jobs, cluster.namespace)
    codes: list[int] = []
    jobs_before: list[Loaded] = []
    if against is not None:
        built = build_all(jobs, templates, chosen.allowed)
        comparisons, jobs_before = _offline(paths, chosen, against, templates, built)
    else:
        refuse_other_datacenter(jobs, cluster.context)
        with Engines(cluster.request(deadline)) as engines:
            where = pruning.scopes(paths, jobs, engines) if prune else []
            built = build_all(jobs, templates, chosen.allowed)
            if out is not None:
                _refuse_plan(engines, jobs)
            consent = Consent(replace=replace, rerun=rerun, prune=prune is not False)
            comparisons = _compare(built, engines, consent, codes)
            comparisons += pruning.compare(where, layers.datacenter, codes)
    if comparisons or not codes:
        _report(form, comparisons, [*jobs, *jobs_before], no_color=no_color)
    if out is not None and not codes:
        call = plan_file.call(
            *(paths, layers, cluster.namespace, templates),
            replace=replace,
            rerun=rerun,
            no_prune=prune is False,
        )
        plan_file.write(out, call, comparisons, jobs, chosen.allowed)
        note(f"plan written; apply it with: paddlespec apply --plan {out}")
    return worst([*codes, *map(_code, comparisons)])


def _form(output: str) -> changes.Format:
    for form in _FORMATS:
        if form == output:
            return form
    raise invalid("-o", output, f"expected one of {', '.join(_FORMATS)}")


def _code(comparison: Comparison) -> int:
    """What a comparison means to a script; an incomplete one may hide differences."""
    if comparison.problems:
        return Exit.refused
    return Exit.no if comparison.differs else Exit.done


def _refuse_plan(engines: Engines, jobs: Sequence[Loaded]) -> None:
    """Raise `Stop` for a place that cannot keep to a plan."""
    from paddlespec.cli.shared.capabilities import needed

    for job in jobs:
        engine = engines.of(job)
        needed(engine.capabilities.plans or None, engine, "diff --out", job.job.metadata.name)


def _compare(
    built: Sequence[Built], engines: Engines, asked: Consent, codes: list[int]
) -> list[Comparison]:
    """Compare each job with its place; failures add to *codes* and do not stop the others."""
    from paddlespec.change.diff import Comparison
    from paddlespec.cli.shared.apply_jobs import at_once
    from paddlespec.cli.shared.build import work_of
    from paddlespec.cli.shared.concurrently import concurrently
    from paddlespec.cli.shared.job_refs import backend_of
    from paddlespec.cli.shared.output import report_failure, show_event
    from paddlespec.runs.failures import OperationFailed

    comparisons: list[Comparison] = []
    works = [work_of(job) for job in built]

    def compare(index: int, _: object) -> Comparison:
        loaded = built[index].loaded
        engine = engines.of(loaded)
        consent = asked._replace(policy=loaded.job.spec.policy.when_changed)
        compared = engine.compare(works[index], consent)
        namespace = loaded.job.metadata.namespace or engine.namespace
        where = backend_of(loaded.target).where
        return Comparison(loaded.job.metadata.name, namespace, where, *compared)

    def finish(index: int, outcome: Comparison | OperationFailed) -> None:
        if isinstance(outcome, OperationFailed):
            codes.append(report_failure(works[index].name, outcome))
        else:
            comparisons.append(outcome)

    limit = at_once(built)
    if len(built) > 1 and limit > 1:
        _prefetch(built, works, engines)
    concurrently(range(len(built)), limit, compare, engines, show_event, finish)
    return comparisons


def _prefetch(built: Sequence[Built], works: Sequence[Work], engines: Engines) -> None:
    """Fetch the state of all jobs of each place at once; each comparison reports failures."""
    from paddlespec.runs.failures import OperationFailed

    shares: dict[Prefetch, list[Work]] = {}
    for job, work in zip(built, works):
        prefetch = engines.of(job.loaded).capabilities.prefetch
        if prefetch is not None:
            shares.setdefault(prefetch, []).append(work)
    for prefetch, own in shares.items():
        with suppress(OperationFailed):
            prefetch.before_compare(own)


def _offline(
    paths: Sequence[str],
    chosen: Choices,
    against: str,
    templates: str | None,
    built: Sequence[Built],
) -> tuple[list[Comparison], list[Loaded]]:
    """Compare each job with what it was; returns what was loaded for that, too."""
    from paddlespec.git import baseline
    from paddlespec.runs.failures import OperationFailed

    try:
        before = baseline.before(paths, chosen, against, templates, built)
    except OperationFailed as error:
        raise Stop(Exit.refused, error.message, error.hint) from None
    return baseline.compare(built, before), before.loaded


def _report(
    output: changes.Format,
    comparisons: Sequence[Comparison],
    jobs: Sequence[Loaded],
    *,
    no_color: bool,
) -> None:
    from paddlespec.cli.shared.session import colored
    from paddlespec.report import changes
    from paddlespec.report.mask import secrets_of
    from paddlespec.runs.failures import OperationFailed

    try:
        text = changes.render(
            output,
            comparisons,
            color=colored(sys.stdout, no_color=no_color),
            secrets=[secrets_of(job) for job in jobs],
            environment=os.environ,
        )
    except OperationFailed as error:
        raise Stop(Exit.refused, error.message, error.hint) from None
    printed = {"text": write.text, "json": write.data}.get(output, write.markdown)
    printed(text)
