"""`status`: one job on one screen."""

from __future__ import annotations

import sys
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli import listing, local, options, seen

if TYPE_CHECKING:
    from paddlespec.cli.live import Shown
    from paddlespec.cli.places import Engine, Meant
    from paddlespec.picture import Status

_FORMS = ("text", "json", "yaml")


def status(
    name: Annotated[str, typer.Argument(metavar=seen.METAVAR, help=seen.HELP)],
    watch: Annotated[
        bool, typer.Option("-w", "--watch", help="Go on until the job is over.")
    ] = False,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="|".join(_FORMS), help="Form of the output.")
    ] = "text",
    target: local.Where = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show one job: its state, where it comes from, its roles, what happened, what is next.

    Exits with 0 while it runs and when it has succeeded, with 4 when it failed, and with 3 when it
    is not there or was ended otherwise. A bare name means the rehearsal on this machine while that
    runs, or where there is no cluster to ask; --target says which.

    \b
    paddlespec status word2vec
    paddlespec status jobs/word2vec/paddlejob.yaml --watch
    paddlespec status word2vec -o json
    """
    from paddlespec.cli.live import follow
    from paddlespec.cli.places import Engines

    listing.check(output, _FORMS)
    with Engines(kubeconfig, context, namespace, None) as engines:
        job = seen.the_job(name, target, datacenter, namespace)
        engine = engines.meant(job)
        given = {"context": context, "namespace": namespace, "kubeconfig": kubeconfig}
        following = _Following(engine, job, given, output)
        if watch:
            follow(following, engine.pause, redraw=output == "text")
        else:
            sys.stdout.write(following().whole)
    return seen.exit_code(following.stage)


class _Following:
    """Looks at one job; between the first and the last look only what changes is worth a line."""

    def __init__(
        self, engine: Engine, job: Meant, given: dict[str, str | None], output: str
    ) -> None:
        self._engine, self._job, self._given, self._output = engine, job, given, output
        self._before: str | None = None

    def __call__(self) -> Shown:
        from paddlespec.cli.live import Shown
        from paddlespec.report.status import brief

        found = self._engine.status(self._job.name)
        self.stage = found.job.stage
        over = self.stage.is_over
        whole, told = self._whole(found), brief(found)
        first, changed = self._before is None, told != self._before
        self._before = told
        if first or self._output != "text":
            return Shown(whole, whole if first or changed else "", last=over)
        return Shown(whole, f"\n{whole}" if over else f"{told}\n" if changed else "", last=over)

    def _whole(self, found: Status) -> str:
        from datetime import datetime, timezone

        from paddlespec.report import status as report

        following = report.next_commands(found, self._place(found))
        if self._output != "text":
            return listing.dumped(self._output, report.data(found, following))
        now = datetime.now(timezone.utc)
        return report.status(found, now, following, width=listing.width())

    def _place(self, found: Status) -> str:
        """What it takes to mean this job and no other one."""
        where = ""
        if self._job.target is not None:
            where += f" --target {self._job.target}"
        elif found.job.target == "local" and found.job.stage.is_over and local.has_cluster():
            where += " --target local"
        meant = {"context": self._job.context, "namespace": self._job.namespace}
        options = {name: value or meant.get(name) for name, value in self._given.items()}
        told = (f" --{name} {quote(value)}" for name, value in options.items() if value)
        return where + "".join(told)
