"""All known causes, in the order in which they are tried: the first that applies is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backends.cluster.why import (
    claims,
    container,
    creation,
    deadline,
    ended,
    gang,
    image,
    kueue,
    placement,
    taken,
    together,
)

if TYPE_CHECKING:
    from paddlespec.backends.cluster.why.evidence import Evidence
    from paddlespec.backends.cluster.why.reason import Reason, Rule

# For a job that was not admitted.
HELD: tuple[Rule, ...] = (kueue.queued,)
# For replicas that do not exist or do not run.
HINDERED: tuple[Rule, ...] = (
    creation.refused,
    claims.unbound,
    placement.fits_nowhere,
    gang.not_together,
    placement.as_the_scheduler_says,
    image.cannot_pull,
    container.does_not_start,
    together.waits_for_pservers,
)
# For a job that runs but makes no progress.
IDLE: tuple[Rule, ...] = (together.never_started, together.still_waiting)
# For a failed job.
ENDED: tuple[Rule, ...] = (deadline.passed, ended.failed, taken.away)


def first(rules: tuple[Rule, ...], evidence: Evidence) -> Reason | None:
    """Return the first cause that applies."""
    return next((reason for rule in rules if (reason := rule(evidence))), None)
