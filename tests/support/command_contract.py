"""
The behaviour of commands for jobs, wherever they run: one suite for every backend.

The test module of a backend derives from `CommandContract` and provides the fixture `place`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

    Ends = Literal["succeeded", "failed", "never"]

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {{name: {name}}}
spec:
  mode: parallel
  image: registry.test/paddle:1
  command: {command}
  trainers: {{replicas: 2, resources: {{cpu: 1, memory: 1Gi}}}}
"""
COMMANDS = {
    "succeeded": "echo hello",
    # One trainer that fails ends the others, so each has time to print.
    "failed": "echo hello; sleep 1; exit 3",
    "never": "echo hello; sleep 600",
}


class Ended(Protocol):
    """A finished command."""

    @property
    def stdout(self) -> str: ...
    @property
    def stderr(self) -> str: ...


class Refused(NamedTuple):
    """A command that a place does not support: its arguments, and the hint that it prints."""

    command: Sequence[str]
    message: str
    hint: str = ""


class Place(Protocol):
    """A user with an empty place of one kind."""

    @property
    def target(self) -> str:
        """The value of --target."""

    @property
    def line(self) -> str:
        """A line that every replica writes."""

    @property
    def refused(self) -> Sequence[Refused]:
        """The commands it does not support."""

    def job(self, name: str, ends: Ends) -> str:
        """Write a spec of two trainers; return its path."""

    def run(self, *arguments: str, code: int = 0) -> Ended:
        """Run a command, which must end with *code*."""


def spec(name: str, ends: Ends) -> str:
    """A spec whose command does what *ends* says, and writes `hello`."""
    return SPEC.format(name=name, command=json.dumps(COMMANDS[ends]))


class CommandContract:
    """Every command at one place."""

    def do(self, place: Place, *arguments: str, code: int = 0) -> Ended:
        return place.run(*arguments, "--target", place.target, code=code)

    def data(self, place: Place, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.do(place, *arguments, "-o", "json", code=code).stdout)

    def states(self, place: Place, name: str) -> list[str]:
        """The states of the recorded runs, oldest first."""
        (job,) = self.data(place, "get", "history", name)["jobs"]
        return [run["state"] for run in sorted(job["runs"], key=lambda run: run["run"])]

    def names(self, place: Place, *arguments: str) -> list[str]:
        return self.do(place, "get", "jobs", "-o", "name", *arguments).stdout.splitlines()

    def test_complete_job(self, place: Place) -> None:
        path = place.job("fit", "succeeded")
        self.do(place, "apply", path, "--wait", "complete", "--timeout", "60s")
        assert self.data(place, "status", "fit")["state"] == "succeeded"
        assert self.states(place, "fit") == ["succeeded"]
        self.do(place, "wait", "fit")
        assert self.names(place) == []
        assert self.names(place, "-a") == ["fit"]

    def test_failed_job(self, place: Place) -> None:
        path = place.job("fit", "failed")
        self.do(place, "apply", path, "--wait", "complete", "--timeout", "60s", code=4)
        assert self.data(place, "status", "fit", code=4)["state"] == "failed"
        self.do(place, "wait", "fit", code=4)
        shown = self.do(place, "logs", "fit", "--role", "trainers")
        assert shown.stdout.count(place.line) == 2

    def test_running_job_is_left_alone(self, place: Place) -> None:
        path = place.job("fit", "never")
        assert self.do(place, "apply", path).stdout
        self.do(place, "wait", "fit", "--for", "ready", "--timeout", "60s")
        again = self.do(place, "apply", path).stdout.splitlines()
        assert again
        assert all(line.endswith("unchanged") for line in again)
        assert self.states(place, "fit") == ["running"]
        assert self.names(place) == ["fit"]
        workers = self.data(place, "get", "workers", "fit")["workers"]
        trainers = [worker for worker in workers if worker["role"] == "trainers"]
        assert [worker["state"] for worker in trainers] == ["running", "running"]
        self.do(place, "wait", "fit", "--timeout", "1s", code=5)

    def test_changed_job_needs_consent(self, place: Place) -> None:
        path = place.job("fit", "never")
        self.do(place, "apply", path)
        self.do(place, "wait", "fit", "--for", "ready", "--timeout", "60s")
        changed = (path, "-u", "trainers.resources.cpu=2")
        refused = self.do(place, "apply", *changed, code=3)
        assert "--replace" in refused.stderr
        self.do(place, "apply", *changed, "--replace")
        assert self.states(place, "fit") == ["replaced", "running"]

    def test_diff_shows_what_apply_does(self, place: Place) -> None:
        path = place.job("fit", "never")
        assert self.do(place, "diff", path, code=1).stdout
        self.do(place, "apply", path)
        self.do(place, "wait", "fit", "--for", "ready", "--timeout", "60s")
        self.do(place, "diff", path)

    def test_dry_run_changes_nothing(self, place: Place) -> None:
        path = place.job("fit", "never")
        printed = self.do(place, "apply", path, "--dry-run", "client").stdout
        assert [manifest for manifest in yaml.safe_load_all(printed) if manifest]
        assert self.names(place, "-a") == []

    def test_killed_job_stays_killed(self, place: Place) -> None:
        path = place.job("fit", "never")
        self.do(place, "apply", path)
        self.do(place, "wait", "fit", "--for", "ready", "--timeout", "60s")
        self.do(place, "kill", "fit")
        assert self.states(place, "fit") == ["killed"]
        assert self.names(place) == []
        self.do(place, "status", "fit", code=3)
        assert "--rerun" in self.do(place, "apply", path).stderr
        self.do(place, "apply", path, "--rerun")
        assert self.states(place, "fit") == ["killed", "running"]

    def test_deleted_job_is_forgotten(self, place: Place) -> None:
        self.do(place, "apply", place.job("fit", "never"))
        self.do(place, "delete", "fit")
        self.do(place, "wait", "fit", "--for", "deleted")
        self.do(place, "get", "history", "fit", code=3)
        self.do(place, "delete", "fit", code=3)
        self.do(place, "delete", "fit", "--ignore-not-found")
        assert self.names(place, "-a") == []

    def test_logs_of_chosen_replicas(self, place: Place) -> None:
        self.do(place, "apply", place.job("fit", "never"))
        self.do(place, "wait", "fit", "--for", "ready", "--timeout", "60s")
        one = self.do(place, "logs", "fit", "--role", "trainers", "--index", "1").stdout
        assert one.count(place.line) == 1
        assert (
            "has no trainers 7"
            in self.do(place, "logs", "fit", "--index", "7", "--role", "trainers", code=3).stderr
        )

    def test_results_for_programs(self, place: Place) -> None:
        path = place.job("fit", "never")
        (job,) = self.data(place, "apply", path)["jobs"]
        assert (job["name"], job["result"], job["error"]) == ("fit", "applied", None)
        assert job["namespace"]
        assert {act["did"] for act in job["objects"]} <= {"created", "started"}
        self.do(place, "wait", "fit", "--for", "ready", "--timeout", "60s")
        assert self.data(place, "apply", path)["jobs"][0]["result"] == "unchanged"
        changed = (path, "-u", "trainers.resources.cpu=2")
        (job,) = self.data(place, "apply", *changed, code=3)["jobs"]
        assert job["result"] == "failed"
        assert job["error"]
        assert self.do(place, "apply", path, "-o", "name").stdout == "fit\n"
        (job,) = self.data(place, "kill", "fit")["jobs"]
        assert (job["name"], job["result"]) == ("fit", "removed")
        assert job["objects"]
        self.do(place, "kill", "fit", "--ignore-not-found")
        (job,) = self.data(place, "kill", "nobody", code=3)["jobs"]
        assert job["result"] == "failed"
        (job,) = self.data(place, "kill", "nobody", "--ignore-not-found")["jobs"]
        assert job["result"] == "absent"
        assert self.do(place, "delete", "fit", "-o", "name").stdout == "fit\n"

    def test_the_end_of_a_job_is_a_result(self, place: Place) -> None:
        path = place.job("fit", "failed")
        waiting = ("apply", path, "--wait", "complete", "--timeout", "60s")
        (job,) = self.data(place, *waiting, code=4)["jobs"]
        assert job["result"] == "failed"
        assert job["error"]

    def test_a_file_names_the_job(self, place: Place) -> None:
        path = place.job("fit", "never")
        self.do(place, "apply", path)
        for words in ("status", "get workers", "get history", "get spec"):
            assert self.do(place, *words.split(), "-f", path).stdout, words
        self.do(place, "wait", "-f", path, "--for", "ready", "--timeout", "60s")
        assert place.line in self.do(place, "logs", "--file", path).stdout
        assert "remove fit" in self.do(place, "status", "fit", "-f", path, code=2).stderr

    def test_the_only_job_needs_no_name(self, place: Place) -> None:
        assert "name a job" in self.do(place, "status", code=2).stderr
        self.do(place, "apply", place.job("fit", "never"))
        self.do(place, "wait", "--for", "ready", "--timeout", "60s")
        for words in ("status", "get workers", "get spec"):
            assert "using fit" in self.do(place, *words.split()).stderr, words
        assert place.line in self.do(place, "logs").stdout
        self.do(place, "apply", place.job("other", "never"))
        assert "name one of fit, other" in self.do(place, "logs", code=2).stderr
        self.do(place, "kill", "other")
        assert "using fit" in self.do(place, "status").stderr

    def test_quiet_commands_print_no_notes(self, place: Place) -> None:
        assert "no running jobs" in self.do(place, "get", "jobs").stderr
        assert self.do(place, "get", "jobs", "-q").stderr == ""
        assert "no running jobs" in self.do(place, "get", "jobs").stderr

    def test_unknown_job(self, place: Place) -> None:
        for words in ("status", "logs", "kill", "delete", "get workers", "get history", "wait"):
            ended = self.do(place, *words.split(), "nobody", code=3)
            assert ended.stderr.count("nobody") == 1, words

    def test_refused_commands_name_another_way(self, place: Place) -> None:
        self.do(place, "apply", place.job("fit", "never"))
        for refused in place.refused:
            stderr = place.run(*refused.command, code=2).stderr
            assert refused.message in stderr
            assert refused.hint in stderr
