"""
What an apply would do to a job of this machine, in the light of its history.

The decision is the one that the apply takes, so that nothing is shown that would not happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import diff
from paddlespec.backend import Compared, OperationFailed
from paddlespec.diff import Change, Row
from paddlespec.history import State
from paddlespec.lifecycle import Found, Step, decide, said

if TYPE_CHECKING:
    from paddlespec.backend import Consent, Work
    from paddlespec.history import History
    from paddlespec.lifecycle import Decision
    from paddlespec.local.folder import JobFolder
    from paddlespec.manifest import Manifest

_NEW_UID = "known after apply"
_MOST = 3


def decided(folder: JobFolder, work: Work, history: History, consent: Consent) -> Decision:
    """What an apply of *work* does; raises `OperationFailed` where it refuses."""
    last, latest = history.ran, history.latest
    changed = last is not None and last.fingerprint != work.fingerprint
    intended = (
        latest is not None
        and latest.state is State.intended
        and latest.fingerprint == work.fingerprint
        and last is not None
    )
    found, told = Found.absent, None
    if last is not None:
        if last.number in folder.alive():
            found, told = Found.running, f"{work.name}, which is running"
        elif last.state in (State.succeeded, State.failed):
            found, told = Found.over, f"{work.name}, which {said(last.state)}"
    return decide(work.name, history, found, consent, changed=changed, intended=intended, told=told)


def outlook(folder: JobFolder, work: Work, consent: Consent) -> Compared:
    """The processes as they are and as an apply would start them, and whether it would."""
    history = folder.history()
    last = history.ran
    there = last is not None and (
        last.number in folder.alive() or last.state in (State.succeeded, State.failed)
    )
    before = folder.manifests(last.number) if last is not None and there else []
    rows = [Row(each) for each in diff.diff(before, work.manifests)]
    try:
        decision = decided(folder, work, history, consent)
    except OperationFailed as error:
        hint = f"; {error.hint}" if error.hint else ""
        return Compared(rows, (), f"{error.message}{hint}")
    notes = (decision.why,) if decision.why else ()
    if decision.step is Step.replace and last is not None:
        rows = [_anew(each.change, last.uid) for each in rows]
    elif decision.step in (Step.keep, Step.nothing):
        left = [each for each in rows if each.change.before != each.change.after]
        rows = [Row(Change(each, each)) for each in before]
        if left and before:
            names = ", ".join(str(each.change.identity) for each in left[:_MOST])
            names += f" and {len(left) - _MOST} more" if len(left) > _MOST else ""
            notes = (*notes, f"left as they are: {names}: the spec says the same of the processes")
    return Compared(rows, notes)


def _anew(change: Change, uid: str | None) -> Row:
    """A process that ends with its run and is started again: it is another one then."""
    before, after = change.before, change.after
    if before is None or after is None:
        return Row(change)
    return Row(Change(_marked(before, uid or ""), _marked(after, _NEW_UID)))


def _marked(manifest: Manifest, uid: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "uid": uid}}
