"""What becomes of a job on a cluster: the common decision, from what a cluster shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cluster import readiness, replace
from paddlespec.cluster.wanted import is_ours_to_resume
from paddlespec.history import State
from paddlespec.lifecycle import Decision, Found, decide
from paddlespec.manifest import identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backend import Consent, Work
    from paddlespec.history import History
    from paddlespec.manifest import Manifest


def judge(
    work: Work,
    history: History,
    live: Manifest | None,
    consent: Consent,
    differs: Callable[[], bool],
) -> Decision:
    """
    What an apply does about the trainers' Job *live*; raises `OperationFailed` for want of consent.

    *differs* asks whether what is there cannot become what is rendered: it is asked where no
    fingerprint tells.
    """
    last, latest = history.ran, history.latest
    intended = (
        last is not None
        and latest is not None
        and latest.state is State.intended
        and latest.fingerprint == work.fingerprint
    )
    if live is None:
        changed = last is not None and last.fingerprint != work.fingerprint
        absent = Found.absent
        return decide(work.name, history, absent, consent, changed=changed, intended=intended)
    known = replace.is_changed(live, work)
    if is_ours_to_resume(live):
        found, changed = Found.held, bool(known) or differs()
    else:
        found = Found.over if readiness.job(live).done else Found.running
        changed = differs() if known is None else known
    told = f"{identity(live)}, which {readiness.state(live)}"
    return decide(work.name, history, found, consent, changed=changed, intended=intended, told=told)
