"""
Write objects that others write too.

A plain apply needs no version: the server records which manager owns which field, and a field that
another manager has set is a conflict. Taking over such a field bypasses that protection, so it is
done only to the exact object that was compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec import workloads
from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.backends.cluster.change.desired import (
    belongs_to,
    essence,
    kueues,
    without_kueues,
)
from paddlespec.change.diff import Change, Effect
from paddlespec.render.manifest import identity
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.change.diff import FieldChange
    from paddlespec.render.manifest import Manifest

_TRIES = 5


class Answer(NamedTuple):
    """
    The server's response to *sent*, which is meant to change *live*.

    `after` is the resulting object; if there is none, `refused` says why. `yielded` are the fields
    that were left to Kueue.
    """

    sent: Manifest
    live: Manifest | None
    after: Manifest | None
    refused: Refused | None = None
    yielded: tuple[str, ...] = ()

    @property
    def is_stuck(self) -> bool:
        """
        Whether the live object cannot become the one that was sent.

        A StatefulSet accepts another template, but its restarted pods lose their state. The
        controller of an extension may accept changes that running pods do not survive.
        """
        if self.refused is not None:
            return self.refused.refusal.is_immutable
        known = workloads.find(self.sent)
        if self.live is None or self.after is None or known is None:
            return False
        fields = Change(essence(self.live), essence(self.after)).fields
        if any(workloads.covers(known.KIND.restarting, field.path) for field in fields):
            return True
        return not known.KIND.is_built_in and _needs_other_pods(self.live, fields)


def _needs_other_pods(live: Manifest, fields: Sequence[FieldChange]) -> bool:
    """Report whether changing *fields* requires replacing or suspending the object."""
    effects = {field.effect for field in fields}
    held = workloads.is_stopped(live)
    return Effect.replacement in effects or (Effect.suspended in effects and not held)


def send(client: Client, sent: Manifest, live: Manifest | None, *, dry_run: bool = False) -> Answer:
    """
    Apply *sent* to *live*, or create it; fields that Kueue has set are left to Kueue.

    Raises `Refused` only if the refusal says nothing about this object.
    """
    try:
        return Answer(sent, live, client.apply(sent, identity(sent), dry_run=dry_run))
    except Refused as error:
        if error.refusal.is_no_answer:
            raise
        yielded = kueues(sent, error.refusal)
        if not yielded:
            return Answer(sent, live, None, error)
    answer = send(client, without_kueues(sent, yielded), live, dry_run=dry_run)
    return answer._replace(yielded=(*yielded, *answer.yielded))


def write(
    client: Client, sent: Manifest, live: Manifest, *, force: bool, dry_run: bool = False
) -> Manifest:
    """
    Apply *sent* to exactly *live*; with *force*, take over fields owned by other managers.

    If the object has changed since, repeat the dry run, and write only if the change is the same.
    Raises `OperationFailed` with the fields that differ.
    """
    target = identity(sent)
    shown: list[FieldChange] | None = None
    stale: Refused | None = None
    for _ in range(_TRIES):
        after = client.apply(sent, target, dry_run=True, force=force)
        change = Change(essence(live), essence(after)).fields
        if shown is not None and change != shown:
            raise _moved(sent, shown, change)
        if dry_run:
            return after
        shown = change
        version = live["metadata"]["resourceVersion"]
        fenced = {**sent, "metadata": {**sent["metadata"], "resourceVersion": version}}
        try:
            return client.apply(fenced, target, force=force)
        except Refused as error:
            if not error.refusal.is_stale:
                raise
            stale = error
        again = client.get(target)
        if again is None or again["metadata"]["uid"] != live["metadata"]["uid"]:
            break
        live = again
    assert stale is not None
    raise stale


def explained(refused: Refused, live: Manifest | None) -> OperationFailed:
    """Translate *refused* for the job: changing an immutable field requires a new object."""
    if live is None or not refused.refusal.is_immutable:
        return refused
    state = f", which {workloads.state(live)}," if workloads.ends(live) else ""
    fields = ", ".join(refused.refusal.fields)
    return OperationFailed(
        f"{identity(live)}{state} cannot be updated in place: {fields} is immutable",
        f"run paddlespec delete {belongs_to(live)}, then apply again",
    )


def _moved(sent: Manifest, shown: list[FieldChange], change: list[FieldChange]) -> OperationFailed:
    """Refuse a change that differs from the one compared; the message quotes no values."""
    moved = [field for field in shown if field not in change]
    moved += [field for field in change if field not in shown]
    names = ", ".join(dict.fromkeys(".".join(map(str, field.path)) for field in moved))
    return OperationFailed(
        f"{identity(sent)} was changed concurrently by someone else ({names}); it was not written",
        "compare again: paddlespec diff",
    )
