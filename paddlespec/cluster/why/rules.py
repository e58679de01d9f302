"""All causes that are known, in the order in which they are tried: the first that holds is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cluster.why import (
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
    from paddlespec.cluster.why.evidence import Evidence
    from paddlespec.cluster.why.reason import Reason, Rule

# Of a job that nobody has let begin.
HELD: tuple[Rule, ...] = (kueue.queued,)
# Of replicas that are not there, or do not run.
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
# Of a job that runs, and gets nowhere.
IDLE: tuple[Rule, ...] = (together.never_started, together.still_waiting)
# Of a job that failed.
ENDED: tuple[Rule, ...] = (deadline.passed, ended.failed, taken.away)


def first(rules: tuple[Rule, ...], evidence: Evidence) -> Reason | None:
    """The first cause that holds."""
    return next((found for each in rules if (found := each(evidence))), None)
