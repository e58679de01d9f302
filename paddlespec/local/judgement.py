"""
What the ends of replicas mean for the run: whether it is over, and how.

The first failure ends it, unless replicas are independent; the end of all trainers does; and so
does whatever would make somebody wait for ever. What is not seen: a replica that lives, and never
joins the others, is ended by the job's timeout alone.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.local import verdict
from paddlespec.local.idle import Idle
from paddlespec.local.state import Culprit, Phase, Step
from paddlespec.outcome import lost, timed_out
from paddlespec.quantity import as_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.local.launch import Address, Launch
    from paddlespec.local.processes import Running

# Replicas that fail together end within this time of each other; see verdict.
_SETTLE = 2.0


class Outcome(NamedTuple):
    """The end of an attempt; `final`: another one would not help."""

    phase: Phase
    message: str | None = None
    culprit: Culprit | None = None
    final: bool = False


class Judge:
    """Looks at the replicas of one run."""

    def __init__(self, launch: Launch, replicas: Sequence[Running]) -> None:
        self.launch, self.replicas = launch, replicas
        self.begun = time.monotonic()
        self.idle = Idle(launch.rendezvous)

    def __call__(self, asked: str | None, accepting: set[Address]) -> Outcome | None:
        """
        The end of the attempt, if it has come.

        *asked*: somebody wants the end of the run, and why; *accepting*: what was seen to accept.
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
        trainers = [each for each in self.replicas if each.process.role != "pservers"]
        if all(each.has_ended for each in trainers):
            return Outcome(Phase.succeeded)
        return self._stuck(trainers, accepting)

    def _judge_each(self) -> Outcome | None:
        """Replicas that know nothing of each other are tried again one by one."""
        for each in self.replicas:
            if each.failed and each.attempt <= self.launch.retries and each.is_drained:
                each.begin_attempt(each.attempt + 1)
        if not all(each.has_ended and each.is_drained for each in self.replicas):
            return None
        failed = self._failed()
        if not failed:
            return Outcome(Phase.succeeded)
        count = f"{len(failed)} of {len(self.replicas)} replicas failed"
        return Outcome(Phase.failed, count, self._culprit(failed))

    def _failed(self) -> list[Running]:
        return [each for each in self.replicas if each.failed]

    def _settled(self, failed: list[Running]) -> Outcome | None:
        """A failure, once those that fail with it have had the time to."""
        since = time.monotonic() - min(each.ended_at for each in failed)
        alone = not self.launch.meets or not any(each.runs for each in self.replicas)
        if not alone and since < _SETTLE:
            return None
        culprit = self._culprit(failed)
        role = next(
            each.process.role for each in failed if culprit and each.process.name == culprit.name
        )
        return Outcome(Phase.failed, lost(role), culprit)

    def _stuck(self, trainers: list[Running], accepting: set[Address]) -> Outcome | None:
        """Whether somebody waits for what cannot come any more."""
        waiting = [each for each in self.replicas if each.state.step is Step.waiting]
        if waiting:
            missing = {one for each in waiting for one in each.process.lacks(accepting)}
            return self._never_listens(missing, min(each.since for each in waiting))
        if not self.launch.meets:
            return None
        left = [each for each in trainers if each.runs]
        gone = next((each for each in trainers if each.has_ended), None)
        if gone is None:
            return None
        still = self.idle.since([each.pid for each in left if each.pid])
        if still is None or still < self.launch.rendezvous:
            return None
        names = ", ".join(each.process.name for each in left[:3])
        return Outcome(
            Phase.failed,
            f"{names} did nothing for {as_duration(still)} since {gone.process.name} ended with 0: "
            "they may wait for it",
        )

    def _never_listens(self, missing: set[tuple[Address, ...]], since: float) -> Outcome | None:
        for each in self.replicas:
            own = [one for one in missing if set(one) & set(each.process.listens)]
            if not own:
                continue
            host, port = min(own)[0]
            if each.has_ended:
                ending = (
                    f"ended with exit code {each.state.code} before it listened on {host}:{port}"
                )
            elif time.monotonic() - max(since, each.since) > self.launch.rendezvous:
                limit = as_duration(self.launch.rendezvous)
                ending = f"does not listen on {host}:{port} after {limit}"
            else:
                continue
            culprit = Culprit(each.process.name, ending)
            return Outcome(Phase.failed, "a pserver did not come up", culprit)
        if missing and time.monotonic() - since > self.launch.rendezvous:
            host, port = min(missing)[0]
            return Outcome(Phase.failed, f"nothing listens on {host}:{port}")
        return None

    def _culprit(self, failed: Iterable[Running]) -> Culprit | None:
        return verdict.culprit(
            verdict.End(
                each.process.name, each.state.code or 0, each.ended_at, each.tail, each.state.why
            )
            for each in failed
        )

    def blamed(self, culprit: Culprit) -> Culprit:
        """With the last lines, now that all output has come."""
        each = next(each for each in self.replicas if each.process.name == culprit.name)
        return culprit._replace(lines=verdict.last_lines(each.tail))
