"""
What the ends of replicas mean for the run: whether it has ended, and how.

The run ends with the first failure, unless replicas are independent; when all trainers have ended;
and when a replica would wait forever. A replica that runs but never joins the others cannot be
detected: only the job's timeout stops it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.local.store.run_state import Culprit, Phase, Step
from paddlespec.backends.local.supervisor import verdict
from paddlespec.backends.local.supervisor.idle import Idle
from paddlespec.quantity import as_duration
from paddlespec.runs.outcome import lost, timed_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.backends.local.machine.network import Address
    from paddlespec.backends.local.store.launch import Launch
    from paddlespec.backends.local.supervisor.processes import Running

# Replicas that fail together end within this time of each other; see verdict.
_SETTLE = 2.0


class Outcome(NamedTuple):
    """The end of an attempt; `final`: another attempt would not help."""

    phase: Phase
    message: str | None = None
    culprit: Culprit | None = None
    final: bool = False


class Judge:
    """Judge the replicas of one run."""

    def __init__(self, launch: Launch, replicas: Sequence[Running]) -> None:
        self.launch, self.replicas = launch, replicas
        self.begun = time.monotonic()
        self.idle = Idle(launch.rendezvous)

    def __call__(self, asked: str | None, accepting: set[Address]) -> Outcome | None:
        """
        Return the end of the attempt, if it has come.

        *asked*: why the run should end, if it should; *accepting*: addresses that accept.
        """
        launch = self.launch
        if asked is not None:
            return Outcome(Phase.killed, asked, final=True)
        if launch.timeout is not None and time.monotonic() - self.begun > launch.timeout:
            return Outcome(Phase.failed, timed_out(launch.timeout), final=True)
        if launch.independent and launch.retries:
            return self._judge_each()
        failed = self._failed()
        if failed:
            return self._settled(failed)
        if all(replica.has_ended for replica in self._trainers()):
            return Outcome(Phase.succeeded)
        return self._stuck(self._trainers(), accepting)

    def _trainers(self) -> list[Running]:
        return [replica for replica in self.replicas if replica.process.role == "trainers"]

    def _judge_each(self) -> Outcome | None:
        """Retry replicas that do not meet one by one."""
        for replica in self.replicas:
            if replica.failed and replica.attempt <= self.launch.retries and replica.is_drained:
                replica.begin_attempt(replica.attempt + 1)
        failed = self._failed()
        over = all(replica.has_ended and replica.is_drained for replica in self._trainers())
        if not over or not all(replica.is_drained for replica in failed):
            return None
        if not failed:
            return Outcome(Phase.succeeded)
        count = f"{len(failed)} of {len(self.replicas)} replicas failed"
        return Outcome(Phase.failed, count, self._culprit(failed))

    def _failed(self) -> list[Running]:
        return [replica for replica in self.replicas if replica.failed]

    def _settled(self, failed: list[Running]) -> Outcome | None:
        """Return a failure, once replicas that fail with it have had time to do so."""
        since = time.monotonic() - min(replica.ended_at for replica in failed)
        alone = not self.launch.meets or not any(replica.runs for replica in self.replicas)
        if not alone and since < _SETTLE:
            return None
        culprit = self._culprit(failed)
        role = next(
            replica.process.role
            for replica in failed
            if culprit and replica.process.name == culprit.name
        )
        return Outcome(Phase.failed, lost(role), culprit)

    def _stuck(self, trainers: list[Running], accepting: set[Address]) -> Outcome | None:
        """Report whether a replica waits for something that can no longer happen."""
        waiting = [replica for replica in self.replicas if replica.state.step is Step.waiting]
        if waiting:
            missing = {choice for replica in waiting for choice in replica.process.lacks(accepting)}
            return self._never_listens(missing, min(replica.since for replica in waiting))
        if not self.launch.meets:
            return None
        left = [replica for replica in trainers if replica.runs]
        finished = next((replica for replica in trainers if replica.has_ended), None)
        if finished is None:
            return None
        still = self.idle.since([root for replica in left if (root := replica.root)])
        if still is None or still < self.launch.rendezvous:
            return None
        names = ", ".join(replica.process.name for replica in left[:3])
        return Outcome(
            Phase.failed,
            f"{names} did nothing for {as_duration(still)} after {finished.process.name} ended with "
            "exit code 0, probably waiting for it",
        )

    def _never_listens(self, missing: set[tuple[Address, ...]], since: float) -> Outcome | None:
        for replica in self.replicas:
            own = [choice for choice in missing if set(choice) & set(replica.process.listens)]
            if not own:
                continue
            host, port = min(own)[0]
            if replica.has_ended:
                ending = (
                    f"ended with exit code {replica.state.code} before it listened on {host}:{port}"
                )
            elif time.monotonic() - max(since, replica.since) > self.launch.rendezvous:
                limit = as_duration(self.launch.rendezvous)
                ending = f"was not listening on {host}:{port} after {limit}"
            else:
                continue
            culprit = Culprit(replica.process.name, ending)
            return Outcome(Phase.failed, "a pserver did not start", culprit)
        if missing and time.monotonic() - since > self.launch.rendezvous:
            host, port = min(missing)[0]
            return Outcome(Phase.failed, f"nothing listens on {host}:{port}")
        return None

    def _culprit(self, failed: Iterable[Running]) -> Culprit | None:
        return verdict.culprit(
            verdict.End(
                replica.process.name,
                replica.state.code or 0,
                replica.ended_at,
                replica.tail,
                replica.state.why,
            )
            for replica in failed
        )

    def blamed(self, culprit: Culprit) -> Culprit:
        """Return *culprit* with its last lines, once all output has arrived."""
        replica = next(replica for replica in self.replicas if replica.process.name == culprit.name)
        return culprit._replace(lines=verdict.last_lines(replica.tail))
