"""
A fault at every single request of every command, one after another: a second command converges.

Each case is its own job. The first command meets its fault at request N. A plain apply follows,
which may continue what was started but decide nothing new. Then the original command is repeated.
In the end, cluster and history agree, and nothing is left over.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from forked import common, ended
from interceptor import Fate, Proxy, Seen, proxied
from summary import FAULTS as RECORDED
from user import LABELS, MARKED, PS, WORKLOAD, User, conditions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from control_plane import ControlPlane
    from forked import Ended, Process

COLLECTIVE = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: NAME}
spec:
  mode: collective
  image: registry.test/paddle:1
  command: python -m paddle.distributed.launch train.py
  env: {PASSWORD: canary-hunter2}
  trainers: {replicas: 2, resources: {cpu: 100m, memory: 1Gi}}
  volumes: [{name: out, mountPath: /out, claim: {size: 1Gi}}]
"""
# Small enough that hundreds of them leave resources for other tests.
SMALL_PS = PS.replace("cpu: 1,", "cpu: 100m,")
OTHER = ("-u", "image=registry.test/paddle:2")
NO_PSERVERS = (
    *("-u", "mode=collective", "-u", "pservers-"),
    *("-u", "command=python -m paddle.distributed.launch train.py"),
)
AT_ONCE = 12
TTL_SECONDS = 1
# More than a command needs, even if it has to poll a little longer.
MOST_REQUESTS = 60


class Scenario(NamedTuple):
    """
    A command and what becomes of its job.

    `before`: the expected state of the job before it. `plain`: the expected result of an apply
    without consent. `roles`: the number of roles at the end.
    """

    command: tuple[str, ...]
    ends: tuple[str, ...]
    before: str | None = None
    plain: tuple[str, ...] = ()
    spec: str = COLLECTIVE
    roles: int = 1


SCENARIOS = {
    "create": Scenario(("apply", "SPEC"), ("running",), spec=SMALL_PS, roles=2),
    "change": Scenario(
        ("apply", "SPEC", "-u", "policy.timeout=3h"),
        ("running",),
        "running",
        ("-u", "policy.timeout=3h"),
    ),
    "replace-finished": Scenario(
        ("apply", "SPEC", *OTHER), ("succeeded", "running"), "complete", OTHER
    ),
    "replace-running": Scenario(
        ("apply", "SPEC", *OTHER, "--replace"),
        ("replaced", "running"),
        "running",
        OTHER,
    ),
    "prune": Scenario(
        ("apply", "SPEC", *NO_PSERVERS), ("succeeded", "running"), "complete", NO_PSERVERS, SMALL_PS
    ),
    "rerun": Scenario(("apply", "SPEC", "--rerun"), ("succeeded", "running"), "complete"),
    "kill": Scenario(("kill", "NAME"), ("killed",), "running"),
    "delete": Scenario(("delete", "NAME", "--ignore-not-found"), (), "running"),
}

# Commands survive temporary faults; the others stop them.
PASSING = {
    "dropped": Fate(forward=False, answer=False),
    "answer-lost": Fate(answer=False),
    "failed": Fate(forward=False, status=500),
    "overloaded": Fate(forward=False, status=429, retry_after="1"),
    "delayed": Fate(seconds=0.5),
    "late": Fate(late=True),
}
SIGNALS = {
    "killed-before": (signal.SIGKILL, Fate(forward=False, answer=False)),
    "killed-after": (signal.SIGKILL, Fate(answer=False)),
    "interrupted": (signal.SIGINT, Fate()),
    "terminated": (signal.SIGTERM, Fate(forward=False, answer=False)),
}
FAULTS = (*PASSING, "conflict", *SIGNALS)


def chosen(point: int, scenario: Scenario) -> list[str]:
    """
    Return the faults that request *point* meets.

    They take turns over the requests, in another order for each scenario, unless `make faults` asks
    for all of them.
    """
    selection = os.environ.get("PADDLESPEC_FAULTS", "")
    if selection:
        return list(FAULTS) if selection == "all" else selection.split(",")
    turn = point + list(SCENARIOS.values()).index(scenario)
    return [FAULTS[turn % len(FAULTS)]]


class Case(NamedTuple):
    """One job, and the request of its command that meets the fault."""

    name: str
    point: int
    fault: str


class Outcome(NamedTuple):
    """The result of a case; without such a request it is no case."""

    case: Case
    happened: bool
    fault: str | None = None


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_second_command_converges(
    user: User, scenario: str, record_property: Callable[[str, object], None]
) -> None:
    with proxied(user.plane) as proxy:
        trial = Trial(user, proxy, SCENARIOS[scenario])
        outcomes = trial.all()
    tried = [outcome for outcome in outcomes if outcome.happened]
    failed = [f"{outcome.case}: {outcome.fault}" for outcome in tried if outcome.fault]
    record_property(RECORDED, [len(tried), len(tried) - len(failed)])
    assert len(tried) > 5 * len(chosen(1, trial.scenario))
    assert not failed, "\n".join(failed)


class Trial:
    """All cases of one scenario."""

    def __init__(self, user: User, proxy: Proxy, scenario: Scenario) -> None:
        self.user, self.proxy, self.scenario = user, proxy, scenario
        self.environment = {**user.environment, "PADDLESPEC_LOCK_SECONDS": str(TTL_SECONDS)}
        self.folders = {run_for: self._templates(run_for) for run_for in ("0s", "1h")}

    def all(self) -> list[Outcome]:
        """Walk all points with all faults; a run without faults determines the number of points."""
        self._prepare(["count"])
        count = self._count("count")
        cases = [
            Case(f"{fault}-{point}", point, fault)
            for point in range(1, count + 1)
            for fault in chosen(point, self.scenario)
        ]
        self._prepare([case.name for case in cases])
        with ThreadPoolExecutor(AT_ONCE) as pool:
            first = list(pool.map(self._meet, cases))
        left = self._seen()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            second = list(pool.map(self._go_on, cases, [left] * len(cases)))
        final = self._settled()
        return [
            Outcome(case, happened, problem or again or self._judge(case, left, final))
            for case, (happened, problem), again in zip(cases, first, second, strict=True)
        ]

    def _prepare(self, names: list[str]) -> None:
        specs = [
            self.user.write(self.scenario.spec.replace("NAME", name), f"{name}.yaml")
            for name in names
        ]
        before = self.scenario.before
        if before is None:
            return
        run_for = "0s" if before == "complete" else "1h"
        with ThreadPoolExecutor(4) as pool:
            shares = [specs[i::4] for i in range(min(4, len(specs)))]
            for ended in pool.map(
                lambda share: self._run("apply", *share, run_for=run_for), shares
            ):
                assert ended.code == 0, ended.stderr

        def is_there() -> bool:
            if before == "complete":
                done = [job for job in self.user.all("jobs") if "Complete" in conditions(job)]
            else:
                done = [job for job in self.user.all("jobs") if job["status"].get("ready") == 2]
            expected = {f"{name}-trainer" for name in names}
            return expected <= {job["metadata"]["name"] for job in done}

        self.user.plane.eventually(is_there, within=120)

    def _count(self, name: str) -> int:
        """Return the number of requests of an undisturbed command."""
        route, kubeconfig = self.proxy.route(self.user.folder, self.user.namespace, _let_pass)
        ended = self._run(*self._command(name), kubeconfig=kubeconfig)
        assert ended.code == 0, ended.stderr
        return min(route.count, MOST_REQUESTS)

    def _meet(self, case: Case) -> tuple[bool, str | None]:
        """Let the command meet its fault; whether it did, and what is wrong with how it ended."""
        command: list[Process] = []
        started = threading.Event()
        met = threading.Event()

        def decide(seen: Seen) -> Fate:
            if seen.number != case.point:
                return Fate()
            met.set()
            if case.fault in SIGNALS:
                number, fate = SIGNALS[case.fault]
                assert started.wait(10)
                command[0].send_signal(number)
                return fate
            if case.fault == "conflict":
                return Fate(forward=False, status=409)
            return PASSING[case.fault]

        route, kubeconfig = self.proxy.route(self.user.folder, self.user.namespace, decide)
        command.append(self._start(*self._command(case.name), kubeconfig=kubeconfig))
        started.set()
        end = ended(command[0])
        self.proxy.deliver(route)
        return met.is_set(), _wrong(case, end) if met.is_set() else None

    def _go_on(self, case: Case, left: There) -> str | None:
        """Continue as a user would; return what is wrong with the result."""
        scenario = self.scenario
        spec = str(self.user.folder / f"{case.name}.yaml")
        lock = left.get("leases", case.name)
        if lock is not None and not case.fault.startswith(("killed", "late")):
            return f"a lock is left: {lock['spec']}"
        plain = None
        if scenario.command[0] != "delete":
            plain = self._run("apply", spec, *scenario.plain)
        if plain is not None and plain.code != 0:
            refused = "and its spec has changed" in plain.stderr
            owner = left.get("jobs", case.name)
            runs = owner is not None and "deletionTimestamp" not in owner["metadata"]
            if not (refused and runs and "--replace" in scenario.command):
                return f"a plain apply ended with {plain.code}: {plain.stderr}"
        if plain is not None:
            outcome = self._undisturbed(case, left)
            if outcome:
                return outcome
        if len(scenario.ends) > 1 and not self._is_new(case):
            again = self._run(*self._command(case.name))
            if again.code != 0:
                return f"the second one ended with {again.code}: {again.stderr}"
        if scenario.command[0] in ("kill", "delete"):
            again = self._run(*self._command(case.name))
            if again.code != 0 and "has no objects" not in again.stderr:
                return f"the second one ended with {again.code}: {again.stderr}"
        return None

    def _undisturbed(self, case: Case, left: There) -> str | None:
        """Check that a plain apply ends no existing run and revives no killed one."""
        owner = left.get("jobs", case.name)
        if owner is None or "deletionTimestamp" in owner["metadata"]:
            return None
        if owner["spec"]["suspend"] or self.scenario.before == "complete":
            return None
        killed = any(run["state"] == "killed" for run in left.history(case.name))
        now = self.user.get_or_none("jobs", f"{case.name}-trainer")
        if killed:
            return None
        if now is None or now["metadata"]["uid"] != owner["metadata"]["uid"]:
            return "a plain apply ended a running job"
        return None

    def _is_new(self, case: Case) -> bool:
        """Report whether the new run exists."""
        runs = self.user.history(case.name)
        return len([run for run in runs if "uid" in run]) == len(self.scenario.ends)

    def _judge(self, case: Case, left: There, final: There) -> str | None:
        """Return what is wrong with the final state."""
        runs = final.history(case.name)
        states = [run["state"] for run in runs]
        if [run["run"] for run in runs] != list(range(1, len(self.scenario.ends) + 1)):
            return f"the runs are {runs}"
        if states != list(self.scenario.ends):
            return f"the runs ended {states}"
        if final.get("leases", case.name) is not None:
            return "a lock is left at the end"
        before = left.get("jobs", case.name)
        ran = before is not None and runs and not before["spec"]["suspend"]
        if (
            before is not None
            and ran
            and before["metadata"]["uid"] not in [run["uid"] for run in runs]
        ):
            return f"a run was lost: {runs}"
        return self._objects(case, runs, final)

    def _objects(self, case: Case, runs: list[dict[str, Any]], final: There) -> str | None:
        kinds = ("jobs", "services", "pods")
        listed = {kind: final.of(kind, case.name) for kind in kinds}
        if not runs or runs[-1]["state"] != "running":
            left = {kind: len(objects) for kind, objects in listed.items() if objects}
            claims = final.of("persistentvolumeclaims", case.name)
            if left or (claims and not runs):
                return f"left over: {left}, {len(claims)} claims"
            return None
        roles = self.scenario.roles
        owner = final.get("jobs", case.name)
        if owner is None or owner["metadata"]["uid"] != runs[-1]["uid"]:
            return "the run that is recorded is not the one that is there"
        if (len(listed["jobs"]), len(listed["pods"])) != (roles, 2 * roles):
            return f"{len(listed['jobs'])} jobs, {len(listed['pods'])} pods"
        if any(job["spec"]["suspend"] for job in listed["jobs"]):
            return "a job is suspended"
        if len(listed["services"]) != roles:
            return f"{len(listed['services'])} services"
        uids = {job["metadata"]["uid"] for job in listed["jobs"]}
        for live in (*listed["services"], *listed["jobs"], *listed["pods"]):
            owners = {one["uid"] for one in live["metadata"].get("ownerReferences", ())}
            if live is not owner and not (owners and owners <= uids):
                return f"an orphan: {live['metadata']['name']}"
        return None

    def _settled(self) -> There:
        """Return the state once the controllers have caught up."""
        seen: list[There] = []

        def quiet() -> bool:
            seen.append(self._seen())
            pods = seen[-1].items["pods"]
            moving = [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]
            runs = [job for job in seen[-1].items["jobs"] if not job["spec"].get("suspend")]
            missing = sum(job["spec"]["completions"] for job in runs) - len(pods)
            return not moving and not missing

        with suppress(AssertionError):
            self.user.plane.eventually(quiet, within=30)
        return seen[-1]

    def _seen(self) -> There:
        kinds = ("jobs", "services", "pods", "configmaps", "leases", "persistentvolumeclaims")
        return There({kind: self.user.all(kind) for kind in kinds})

    def _command(self, name: str) -> list[str]:
        spec = str(self.user.folder / f"{name}.yaml")
        replacements = {"SPEC": spec, "NAME": name}
        return [replacements.get(word, word) for word in self.scenario.command]

    def _run(self, *arguments: str, kubeconfig: Path | None = None, run_for: str = "1h") -> Ended:
        return ended(self._start(*arguments, kubeconfig=kubeconfig, run_for=run_for))

    def _start(
        self, *arguments: str, kubeconfig: Path | None = None, run_for: str = "1h"
    ) -> Process:
        if arguments[0] == "apply":
            arguments = (*arguments, "--templates", str(self.folders[run_for]))
        environment = dict(self.environment)
        if kubeconfig is not None:
            environment["KUBECONFIG"] = str(kubeconfig)
        return common().start(*arguments, folder=self.user.folder, environment=environment)

    def _templates(self, run_for: str) -> Path:
        text = WORKLOAD.read_text(encoding="utf-8")
        assert LABELS in text
        marks = {"paddlespec.io/test-run-for": run_for}
        folder = self.user.folder / f"templates-{run_for}"
        (folder / "kubernetes").mkdir(parents=True)
        (folder / "kubernetes" / WORKLOAD.name).write_text(
            text.replace(LABELS, MARKED.replace("MARKS", repr(marks))), encoding="utf-8"
        )
        return folder


class There:
    """Everything in a namespace at one moment."""

    def __init__(self, items: dict[str, list[dict[str, Any]]]) -> None:
        self.items = items

    def get(self, kind: str, job: str) -> dict[str, Any] | None:
        """Return the trainers' Job, the lock or the inventory of a job."""
        name = f"{job}-trainer" if kind == "jobs" else f"{job}.paddlespec"
        matching = (live for live in self.items[kind] if live["metadata"]["name"] == name)
        return next(matching, None)

    def of(self, kind: str, job: str) -> list[dict[str, Any]]:
        return [
            live
            for live in self.items[kind]
            if live["metadata"].get("labels", {}).get("paddlespec.io/job") == job
        ]

    def history(self, job: str) -> list[dict[str, Any]]:
        inventory = self.get("configmaps", job)
        runs: list[dict[str, Any]] = json.loads(inventory["data"]["runs.json"]) if inventory else []
        return runs


def _let_pass(seen: Seen) -> Fate:
    return Fate()


def _wrong(case: Case, ended: Ended) -> str | None:
    """Return what is wrong with how a faulted command ended."""
    if "Traceback" in ended.stderr or "internal error" in ended.stderr:
        return ended.stderr
    if "canary" in ended.stdout + ended.stderr:
        return "a secret is shown"
    expected = {
        "conflict": (0, 3),
        "killed-before": (-signal.SIGKILL,),
        "killed-after": (-signal.SIGKILL,),
        "interrupted": (130,),
        "terminated": (143,),
    }.get(case.fault, (0,))
    if ended.code not in expected:
        return f"ended with {ended.code}: {ended.stderr}"
    return None
