"""
Decide what an apply does to a job: one pure function of its history and its live objects.

The decision is the same for all backends. A running job is never stopped, and a finished one never
restarted, unless the policy of the spec or the user agrees.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.change.live import Part, Presence
from paddlespec.change.steps import (
    Begin,
    Create,
    Decision,
    Delete,
    End,
    Keep,
    Record,
    Refuse,
    RefuseToPrune,
    Replace,
    Resume,
    Try,
    Update,
    WaitUntilGone,
)
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import Provenance, RunRecord, State
from paddlespec.runs.outcome import ending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.change.live import Leftovers, Live, Member
    from paddlespec.change.steps import ObjectStep, Step
    from paddlespec.runs.history import History
    from paddlespec.runs.values import Consent, Work


class _Action(Enum):
    create = "create"
    keep = "keep"
    replace = "replace"
    nothing = "nothing"


class _Verdict(NamedTuple):
    """What to do with the run, with a note if that is not obvious; or a refusal."""

    action: _Action
    note: str | None = None
    refusal: OperationFailed | None = None


# A note names at most this many objects.
_NAMED = 3
_RERUN = "add --rerun to run it again"


def decide(history: History, live: Live, work: Work, consent: Consent) -> Decision:
    """
    Decide what an apply of *work* does; defined for every history, live state and consent.

    With `consent.replace`, nothing is refused for lack of consent.
    """
    if live.presence is None:
        verdict = _Verdict(_Action.keep)
    else:
        verdict = _verdict(history, live, work, consent)
    replaces = verdict.action is _Action.replace
    refusal = verdict.refusal
    if refusal is None and consent.prune and not replaces:
        refusal = _leftover_refusal(live.leftovers, consent)
    notes = (verdict.note,) if verdict.note else ()
    if refusal is not None:
        return Decision((), notes, refusal)
    pruned = _prune(live, prune=consent.prune, replaces=replaces)
    steps = _steps(verdict.action, live, work)
    # A run rendered by another target is deleted first: otherwise its pods would never end.
    other = consent.prune and (live.leftovers.running or live.leftovers.finished)
    place = steps.index(WaitUntilGone()) if other and WaitUntilGone() in steps else len(steps)
    return Decision((*steps[:place], *pruned, *steps[place:]), notes)


def _verdict(history: History, live: Live, work: Work, consent: Consent) -> _Verdict:
    last, state = history.ran, live.state
    changed, resumes = _is_changed(history, live, work), _is_intended(history, work)
    if live.presence is Presence.absent:
        return _absent(history, work, consent, changed=changed, resumes=resumes)
    if last is not None and last.state is State.killed:
        # The kill was interrupted: what is left of the run must not continue.
        if consent.rerun:
            return _Verdict(_Action.replace)
        note = f"nothing to do: run {last.number} of {work.name} is being killed"
        return _Verdict(_Action.nothing, f"{note}; stop what is left: paddlespec kill {work.name}")
    if live.presence is Presence.held:
        # It never ran, so replacing it loses nothing.
        return _Verdict(_Action.replace if changed else _Action.keep)
    finished = live.presence is Presence.finished
    if finished and (consent.rerun or resumes):
        return _Verdict(_Action.replace)
    if not changed:
        if finished:
            return _Verdict(_Action.nothing, f"nothing to do: {state}; {_RERUN}")
        note = f"{state}; --rerun applies only to a finished run"
        return _Verdict(_Action.keep, note if consent.rerun else None)
    if consent.replace or consent.policy == "replace-running":
        return _Verdict(_Action.replace)
    if finished and consent.policy == "replace-finished":
        return _Verdict(_Action.replace)
    return _refused(state, consent)


def _absent(
    history: History, work: Work, consent: Consent, *, changed: bool, resumes: bool
) -> _Verdict:
    last = history.ran
    if last is None or consent.rerun or resumes:
        return _Verdict(_Action.create)
    state = f"run {last.number} of {work.name} {ending(last.state)}"
    if not changed:
        return _Verdict(_Action.nothing, f"nothing to do: {state}; {_RERUN}")
    if consent.policy == "refuse" and not consent.replace:
        return _refused(state, consent)
    return _Verdict(_Action.create)


def _refused(state: str, consent: Consent) -> _Verdict:
    if consent.policy == "refuse":
        message = f"{state}; its spec changed and needs a replacement, which `whenChanged: refuse` forbids"
    else:
        message = (
            f"{state} and its spec has changed; `whenChanged: {consent.policy}` does not replace "
            "a running job"
        )
    refusal = OperationFailed(message, "add --replace to stop it and start a new run")
    return _Verdict(_Action.nothing, refusal=refusal)


def _leftover_refusal(leftovers: Leftovers, consent: Consent) -> OperationFailed | None:
    """Return why leftover objects may not be deleted: they are a run, or were one."""
    if consent.replace:
        return None
    if leftovers.running and consent.policy != "replace-running":
        why = f"`whenChanged: {consent.policy}` does not stop it"
        state = leftovers.running
    elif leftovers.finished and not leftovers.running and consent.policy == "refuse":
        why, state = "`whenChanged: refuse` forbids deleting it", leftovers.finished
    else:
        return None
    return OperationFailed(
        f"{state} and is no longer rendered; {why}",
        "add --replace to delete it, or --no-prune to keep it",
    )


def _is_changed(history: History, live: Live, work: Work) -> bool:
    """Report whether the pods of the last run, existing or not, differ from the rendered ones."""
    last = history.ran
    if live.presence is Presence.absent:
        return last is not None and last.fingerprint != work.fingerprint
    changed = _differs(live, work)
    if changed is None or (live.presence is Presence.held and not changed):
        return live.is_stuck
    return changed


def _differs(live: Live, work: Work) -> bool | None:
    """Report whether the pod spec differs from that of the live run; None if unknown."""
    if live.fingerprint is None or work.fingerprint is None:
        return None
    return live.fingerprint != work.fingerprint


def _is_intended(history: History, work: Work) -> bool:
    """Report whether the latest record is an intent with the same spec that never started."""
    last, latest = history.ran, history.latest
    return (
        last is not None
        and latest is not None
        and latest.state is State.intended
        and latest.fingerprint == work.fingerprint
    )


def _steps(action: _Action, live: Live, work: Work) -> list[Step]:
    match action:
        case _Action.nothing:
            return _rest(live, work)
        case _Action.keep:
            return _go_on(live, work)
        case _Action.create:
            begun: list[Step] = [_try(live.members), Record(_intent(work)), WaitUntilGone()]
            return [*begun, *_run(live.members)]
        case _Action.replace:
            assert live.uid is not None
            begun = [_try(live.members), Record(_intent(work)), End(live.uid), WaitUntilGone()]
            return [*begun, *_run(live.members, anew=True)]


def _try(members: Sequence[Member]) -> Try:
    """Ask about everything that is going to be created; a claim that is there stays."""
    new = (one for one in members if one.part is not Part.claim or one.live is None)
    return Try([member.manifest for member in new])


def _rest(live: Live, work: Work) -> list[Step]:
    """Leave a finished run alone; only its owner is updated, in fields that do not affect pods."""
    if live.presence is Presence.absent:
        return [Record()]
    owner = live.owner if live.presence is Presence.finished else None
    if owner is None:
        return [Record(), *map(Keep, work.manifests)]
    others = (manifest for manifest in work.manifests if manifest is not owner.manifest)
    return [Record(), _put(owner, lenient=_differs(live, work) is False), *map(Keep, others)]


def _go_on(live: Live, work: Work) -> list[Step]:
    """Update live objects to what is rendered, and let the run continue."""
    lenient = _differs(live, work) is False
    steps: list[Step] = []
    for member in live.members:
        if member.broken is not None:
            steps.append(Refuse(member.manifest, member.broken))
        elif member.ends and member.part is Part.claim:
            # It exists as long as the pods of the run.
            steps.append(Keep(member.manifest))
        else:
            steps += [*_wait([member]), _put(member, lenient=lenient)]
    if live.presence is None:
        return [*steps, Record()]
    return [Record(), *steps, *_resume(live.members)]


def _run(members: Sequence[Member], *, anew: bool = False) -> list[Step]:
    """Start a run: it is recorded before the objects that its owner owns are created."""
    put = _anew if anew else _put
    claims = [member for member in members if member.part is Part.claim]
    first = [put(member) for member in members if member.part is not Part.owned]
    owned = [put(member) for member in members if member.part is Part.owned]
    return [*_wait(claims), *first, Begin(), *owned, *_resume(members, anew=anew)]


def _wait(members: Sequence[Member]) -> list[WaitUntilGone]:
    """Wait for objects that are being deleted, because they cannot be updated."""
    return [WaitUntilGone(member.manifest) for member in members if member.ends]


def _put(member: Member, *, lenient: bool = False) -> ObjectStep:
    if member.refused is not None:
        return Refuse(member.manifest, member.refused)
    if member.live is None:
        return Create(member.manifest)
    return Update(member.manifest, member.live, lenient)


def _anew(member: Member) -> ObjectStep:
    """Recreate an object that is deleted with the earlier run; claims are kept."""
    if member.refused is not None or member.live is None or member.part is Part.claim:
        return _put(member)
    return Replace(member.manifest, member.live)


def _resume(members: Sequence[Member], *, anew: bool = False) -> list[Resume]:
    """Start suspended workloads, the owner last, when everything else exists."""
    held = [
        member
        for member in members
        if (member.starts_held if anew or member.live is None else member.held)
    ]
    held.sort(key=lambda member: member.part is Part.owner)
    return [Resume(member.manifest) for member in held]


def _prune(live: Live, *, prune: bool, replaces: bool) -> list[Step]:
    """Delete objects that are no longer rendered: on request, and with the run that owns them."""
    if not prune:
        return [Delete(owned) for owned in live.leftovers.owned] if replaces else []
    left = live.leftovers
    if left.error is not None:
        return [RefuseToPrune(left.error)]
    used = [owned for owned in left.owned if replaces and owned not in left.objects]
    stays = "is no longer rendered but kept, because it holds data"
    return [*map(Delete, (*left.objects, *used)), *(Keep(claim, stays) for claim in left.claims)]


def _intent(work: Work) -> RunRecord:
    """Return the record of the next run, which is written before any of its objects exists."""
    from hashlib import sha256

    text = json.dumps(work.manifests, sort_keys=True, separators=(",", ":"))
    return RunRecord(
        0,
        State.intended,
        work.provenance or Provenance("unknown"),
        work.fingerprint,
        sha256(text.encode()).hexdigest()[:16],
        spec=work.spec,
    )


def kept_note(names: Sequence[str]) -> tuple[str, ...]:
    """Say why objects are kept although this version renders them differently."""
    if not names:
        return ()
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    them, are = ("it", "the field is") if len(names) == 1 else ("them", "the fields are")
    kept = f"{', '.join(names[:_NAMED])}{more} kept"
    why = f"this version renders {them} differently, but the spec is unchanged and {are} immutable"
    return (f"{kept}: {why}",)
