"""What a command does to jobs: printed as it happens, or at the end with `-o json` and `-o name`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.output import note_event, show_event
from paddlespec.cli.shared.values import one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from paddlespec.runs.failures import OperationFailed
    from paddlespec.runs.values import Event

FORMS = ("text", "json", "name")
Form = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="|".join(FORMS),
        help="Output format: each change as it happens, or at the end the results or the names of "
        "the jobs that did not fail.",
    ),
]


class Results:
    """The results of the jobs of one command, in the order in which they were named."""

    def __init__(self, form: str = "text", names: Iterable[str] = ()) -> None:
        self.form = one_of("-o", form, FORMS)
        self._jobs: dict[str, dict[str, Any]] = {}
        self.expect(names)

    def expect(self, names: Iterable[str]) -> None:
        """Keep a place for each of *names*, in this order."""
        for name in names:
            self._job(name)

    @property
    def is_text(self) -> bool:
        """Whether events are printed as they happen."""
        return self.form == "text"

    def show(self, event: Event) -> None:
        """Print an event, unless the output is for programs."""
        if self.is_text:
            show_event(event)
        elif not event.subject:
            note_event(event)

    def reporter(self, name: str) -> Callable[[Event], None]:
        """A function that shows and records the events of a job."""

        def report(event: Event) -> None:
            self.event(name, event)
            self.show(event)

        return report

    def event(self, name: str, event: Event) -> None:
        """Record what was done to an object of a job."""
        if event.subject:
            self._job(name)["objects"].append({"object": event.subject, "did": event.verb})

    def update(self, name: str, **facts: Any) -> None:
        """Record facts about a job, such as its namespace and result."""
        self._job(name).update(facts)

    def failed(self, name: str, error: OperationFailed) -> None:
        """Record why a job failed."""
        self.update(name, result="failed", error="\n".join(error.lines), hint=error.hint)

    def write(self, **more: Any) -> None:
        """Print the results, after *more* about the command."""
        if self.form == "json":
            import json

            data = {**more, "jobs": list(self._jobs.values())}
            write.data(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
        elif self.form == "name":
            done = (job["name"] for job in self._jobs.values() if job["result"] != "failed")
            write.lines(done)

    def _job(self, name: str) -> dict[str, Any]:
        empty: dict[str, Any] = {
            "namespace": None,
            "result": "failed",
            "objects": [],
            "error": None,
            "hint": None,
        }
        return self._jobs.setdefault(name, {"name": name, **empty})
