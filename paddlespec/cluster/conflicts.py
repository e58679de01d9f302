"""
Writing where others write too.

An ordinary apply needs no version of what it was made for: the server keeps account of who set which
field, and whoever came in between owns what he set. To take the fields of others is to leave that
account behind, and so it is done only to the very object that was looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.backend import OperationFailed
from paddlespec.cluster.refusal import Refused
from paddlespec.cluster.wanted import essence
from paddlespec.diff import Change
from paddlespec.manifest import identity

if TYPE_CHECKING:
    from paddlespec.cluster.client import Client
    from paddlespec.diff import FieldChange
    from paddlespec.manifest import Manifest

_TRIES = 5


def write(
    client: Client, sent: Manifest, live: Manifest, *, force: bool, dry_run: bool = False
) -> Manifest:
    """
    Apply *sent* to exactly *live*; with *force* take the fields that others have set.

    If the object changed since, what would become of it is asked again, and only the same change is
    made. Raises `OperationFailed` with the fields that moved.
    """
    target = identity(sent)
    shown: list[FieldChange] | None = None
    stale: Refused | None = None
    for _ in range(_TRIES):
        found = client.apply(sent, target, dry_run=True, force=force)
        change = Change(essence(live), essence(found)).fields
        if shown is not None and change != shown:
            raise _moved(sent, shown, change)
        if dry_run:
            return found
        shown = change
        metadata = {
            **sent["metadata"],
            "resourceVersion": live["metadata"]["resourceVersion"],
        }
        try:
            return client.apply({**sent, "metadata": metadata}, target, force=force)
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


def _moved(sent: Manifest, shown: list[FieldChange], change: list[FieldChange]) -> OperationFailed:
    """The refusal to make another change than the one that was looked at; it quotes no value."""
    moved = [each for each in shown if each not in change]
    moved += [each for each in change if each not in shown]
    told = ", ".join(dict.fromkeys(".".join(map(str, each.path)) for each in moved))
    return OperationFailed(
        f"{identity(sent)} was changed by others at the same moment: {told}: nothing of it is "
        "written",
        "see what it is now: paddlespec diff",
    )
