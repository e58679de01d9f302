"""`status`: one job on one screen."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from paddlespec.cli.shared import job_refs, listing, options

if TYPE_CHECKING:
    from paddlespec.backends.protocols import Engine
    from paddlespec.cli.shared.job_refs import JobRef
    from paddlespec.cli.shared.watch import Shown
    from paddlespec.runs.state import Status

_FORMS = ("text", "json", "yaml")


def status(
    *,
    given: options.Job,
    watch: Annotated[
        bool, typer.Option("-w", "--watch", help="Keep printing changes until the job ends.")
    ] = False,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="|".join(_FORMS), help="Output format.")
    ] = "text",
    place: options.JobPlace,
    cluster: options.Cluster,
) -> int:
    """
    Show one job: state, origin, roles, events, what to do next.

    Exits with 0 while it runs and after it succeeded, with 4 if it failed, and with 3 if it does
    not exist or was stopped. A name without --target means the rehearsal on this machine while one
    runs, or if there is no kubeconfig; otherwise the job in the cluster.

    \b
    paddlespec status word2vec
    paddlespec status jobs/word2vec/paddlejob.yaml --watch
    paddlespec status word2vec -o json
    """
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.watch import follow

    listing.check(output, _FORMS)
    with Engines(cluster.request()) as engines:
        job = job_refs.job_at(given, place, cluster.namespace, engines)
        finding = _Finding(job, cluster, engines.target_when_over(job))
        following = _Following(engines.of_job(job), finding, output)
        if watch:
            follow(following, following.engine.pause, output)
        else:
            listing.print_as(output, following().whole)
    return job_refs.exit_code(following.stage)


class _Finding(NamedTuple):
    """How to name a job in other commands: `when_over` is the target that finds it once it ended."""

    job: JobRef
    cluster: options.Cluster
    when_over: str | None

    def options(self, status: Status) -> str:
        """The options that mean this job and no other."""
        target = self.job.target or (self.when_over if status.job.stage.is_over else None)
        values = {
            "target": target,
            "context": self.cluster.context or self.job.context,
            "namespace": self.cluster.namespace or self.job.namespace,
            "kubeconfig": self.cluster.kubeconfig,
        }
        return "".join(f" --{name} {quote(value)}" for name, value in values.items() if value)


class _Following:
    """Looks at one job; between the first and the last look, only changes are worth a line."""

    def __init__(self, engine: Engine, finding: _Finding, output: str) -> None:
        self.engine = engine
        self._finding, self._output = finding, output
        self._before: str | None = None

    def __call__(self) -> Shown:
        from paddlespec.cli.shared.watch import Shown
        from paddlespec.report.status import brief

        status = self.engine.status(self._finding.job.name)
        self.stage = status.job.stage
        over = self.stage.is_over
        whole, summary = self._whole(status), brief(status)
        first, changed = self._before is None, summary != self._before
        self._before = summary
        if first or self._output != "text":
            return Shown(whole, whole if first or changed else "", last=over)
        return Shown(whole, f"\n{whole}" if over else f"{summary}\n" if changed else "", last=over)

    def _whole(self, status: Status) -> str:
        from datetime import datetime, timezone

        from paddlespec.report import status as report

        following = report.next_commands(status, self._finding.options(status))
        if self._output != "text":
            return listing.dumped(self._output, report.data(status, following))
        now = datetime.now(timezone.utc)
        return report.status(
            status, now, following, width=listing.width(), color=listing.is_colored()
        )
