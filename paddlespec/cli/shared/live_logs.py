"""What runs in the foreground write, shown while a command waits for their end."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.shared.output import fenced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backends.capabilities import Logs
    from paddlespec.cli.shared.apply_jobs import Applied
    from paddlespec.logs.follow import Form
    from paddlespec.logs.merge import Logs as MergedLogs
    from paddlespec.logs.merge import Reader
    from paddlespec.runs.values import Run

_DRAIN_SECONDS = 10.0


class LiveLogs:
    """The logs of several runs, each shown by a thread until the run ends or the command does."""

    def __init__(self, applied: Sequence[Applied], *, no_color: bool) -> None:
        self._threads: dict[str | None, _Shown] = {}
        self._fence = ExitStack()
        several = len(applied) > 1
        for job in applied:
            logs = job.engine.capabilities.logs
            if job.is_foreground and logs is not None and job.run.ended is None:
                self._threads[job.run.uid] = _Shown(
                    logs, job.name, several=several, no_color=no_color
                )

    def finish(self, run: Run) -> None:
        """Wait until everything that an ended run wrote is shown."""
        if run.uid in self._threads:
            self._threads[run.uid].finish()

    def __enter__(self) -> LiveLogs:
        if self._threads:
            self._fence.enter_context(fenced())
        return self

    def __exit__(self, *_: object) -> None:
        for shown in self._threads.values():
            shown.stop()
        self._fence.close()


class _Shown:
    """The logs of the latest run of one job."""

    def __init__(self, logs: Logs, name: str, *, several: bool, no_color: bool) -> None:
        from paddlespec.cli.shared.output import note
        from paddlespec.cli.shared.session import colored
        from paddlespec.logs.noise import Folded
        from paddlespec.logs.show import Style, Text
        from paddlespec.logs.start import Start

        stored = logs.of_run(name, None, previous=False)
        replicas = stored.sources
        merged = stored.logs(replicas, Start(), note, follow=True, pieces=True)
        self._stopped = False
        self._logs = _Stoppable(merged, lambda: self._stopped)
        color = colored(sys.stdout, no_color=no_color)
        style = Style(color=color, terminal=sys.stdout.isatty(), job=name if several else "")
        text = Text(replicas, style)
        # Files and pipes get every line.
        self._form: Form = text
        if sys.stdout.isatty():
            self._form = Folded(text, f"to print all: paddlespec logs {name}")
        self._thread = Thread(target=self._show, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._thread.join(_DRAIN_SECONDS)

    def stop(self) -> None:
        """Show no more: a thread may not write while the interpreter exits."""
        self._stopped = True
        self._thread.join(_DRAIN_SECONDS)

    def _show(self) -> None:
        from paddlespec.logs.follow import show

        try:
            show(self._logs, self._form, sys.stdout.buffer, follow=True)
        except (BrokenPipeError, ValueError):
            return  # the reader is gone; the run goes on, and its logs are stored


class _Stoppable(NamedTuple):
    """Logs that end when the command does."""

    logs: MergedLogs
    is_stopped: Callable[[], bool]

    def readers(self) -> Sequence[Reader]:
        return self.logs.readers()

    def is_over(self) -> bool:
        return self.is_stopped() or self.logs.is_over()
