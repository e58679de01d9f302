"""
Compare manifests with manifests, and classify how each change can be made.

Pure: two lists in, changes out. Whether a field can change in place is decided by our own table of
paths, never by a server's message.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads
from paddlespec.render.manifest import Identity, Manifest, identity
from paddlespec.workloads.kind import covers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlespec.diagnostic import Path
    from paddlespec.workloads.kind import Patterns


class Effect(Enum):
    """What it takes to change a field, in increasing order."""

    in_place = "in place"
    suspended = "while suspended"
    replacement = "by replacement"


class Operation(Enum):
    """What happens to one object."""

    keep = "keep"
    create = "create"
    change = "change"
    replace = "replace"
    delete = "delete"


class Missing(Enum):
    """Marks the absence of a value; `null` is a value."""

    missing = "missing"


MISSING = Missing.missing
_EARLIER_UID, _NEW_UID = "of the earlier run", "known after apply"


class FieldChange(NamedTuple):
    """One field that differs; list items that have names are addressed by name."""

    path: Path
    before: Any
    after: Any
    effect: Effect


class Change(NamedTuple):
    """One object before and after; everything else is derived from these two."""

    before: Manifest | None
    after: Manifest | None

    @property
    def identity(self) -> Identity:
        """The identity of the object."""
        manifest = self.after or self.before
        assert manifest is not None
        return identity(manifest)

    @property
    def fields(self) -> list[FieldChange]:
        """The fields that differ, if the object exists before and after."""
        if self.before is None or self.after is None:
            return []
        return [
            FieldChange(path, old, new, self._effect(path, old, new))
            for path, old, new in differences(self.before, self.after)
        ]

    def _effect(self, path: Path, old: Any, new: Any) -> Effect:
        assert self.before is not None
        assert self.after is not None
        if is_label_of_job(self.before, self.after, path, old, new):
            return Effect.in_place
        return effect(self.after["kind"], path)

    @property
    def operation(self) -> Operation:
        """The operation on the object."""
        if self.before is None:
            return Operation.create
        if self.after is None:
            return Operation.delete
        fields = self.fields
        if any(field.effect is Effect.replacement for field in fields):
            return Operation.replace
        return Operation.change if fields else Operation.keep


class Row(NamedTuple):
    """
    One object of a comparison: its change, or why it could not be compared, in our words.

    `conflict` names fields of the change that another manager has set, which an apply respects.
    """

    change: Change
    problem: str | None = None
    conflict: str | None = None

    @property
    def differs(self) -> bool:
        """Whether the object differs from the rendered one."""
        return self.change.operation is not Operation.keep or self.conflict is not None


class Comparison(NamedTuple):
    """
    One job before and after.

    `against` describes what it was compared with: a cluster, a revision, a folder. `notes` say what
    no object shows; `refusal` is why an apply would refuse; `basis` is the live state it rests on.
    """

    job: str
    namespace: str | None
    against: str
    rows: list[Row]
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    basis: Mapping[str, Any] | None = None

    @property
    def differs(self) -> bool:
        """Whether anything would change, as far as known."""
        return any(row.differs for row in self.rows)

    @property
    def problems(self) -> list[str]:
        """Why some objects could not be compared."""
        return [row.problem for row in self.rows if row.problem]


def diff(before: Iterable[Manifest], after: Iterable[Manifest]) -> list[Change]:
    """
    Return what turns *before* into *after*, in the order of *after*, with deletions last.

    Laws: `diff(a, a)` only keeps; the `after` of all changes that have one is the second argument.
    """
    known = {identity(manifest): manifest for manifest in before}
    changes = [Change(known.pop(identity(manifest), None), manifest) for manifest in after]
    return [*changes, *(Change(manifest, None) for manifest in known.values())]


def recreated(before: Manifest, after: Manifest, uid: str) -> Change:
    """Return the change of an object that is recreated with its run under a new UID."""
    return Change(_with_uid(before, uid), _with_uid(after, _NEW_UID))


def with_their_run(changes: Sequence[Change]) -> list[Change]:
    """
    Return *changes* as an apply makes them: pods that change need a new run.

    Everything but claims ends with the earlier run, and is created again.
    """
    if not any(map(_needs_other_pods, changes)):
        return list(changes)
    return [
        recreated(change.before, change.after, _EARLIER_UID)
        if change.before and change.after and change.after["kind"] != "PersistentVolumeClaim"
        else change
        for change in changes
    ]


def _needs_other_pods(change: Change) -> bool:
    known = workloads.find(change.after) if change.before and change.after else None
    if known is None or change.before is None or change.after is None:
        return False
    return any(
        field.effect is not Effect.in_place
        or (
            covers(known.KIND.restarting, field.path)
            and not is_label_of_job(change.before, change.after, *field[:3])
        )
        for field in change.fields
    )


def is_label_of_job(before: Manifest, after: Manifest, path: Path, old: Any, new: Any) -> bool:
    """
    Report whether a label of pods changes with that of the whole job.

    An apply leaves the pods that run alone; those of the next run have the new label.
    """
    if path[-3:-1] != ("metadata", "labels") or len(path) == 3:
        return False
    own, own_after = (side["metadata"].get("labels") or {} for side in (before, after))
    key = path[-1]
    return bool(own.get(key, MISSING) == old and own_after.get(key, MISSING) == new)


def _with_uid(manifest: Manifest, uid: str) -> Manifest:
    """Return *manifest* with a UID and without `suspend`, which changes during every start."""
    marked: Manifest = {**manifest, "metadata": {**manifest["metadata"], "uid": uid}}
    if isinstance(marked.get("spec"), dict):
        marked["spec"] = {key: value for key, value in marked["spec"].items() if key != "suspend"}
    return marked


def differences(before: Any, after: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the deepest paths at which two values differ, with both values."""
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(added for added in after if added not in before)]:
            yield from differences(before.get(key, MISSING), after.get(key, MISSING), (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_differences(before, after, path)
    elif before != after or type(before) is not type(after):
        yield path, before, after


def _list_differences(
    before: list[Any], after: list[Any], path: Path
) -> Iterator[tuple[Path, Any, Any]]:
    old, new = _named(before), _named(after)
    if old is None or new is None:
        for index in range(max(len(before), len(after))):
            yield from differences(
                before[index] if index < len(before) else MISSING,
                after[index] if index < len(after) else MISSING,
                (*path, index),
            )
        return
    rows = list(differences(old, new, path))
    yield from rows
    # `$(VAR)` expands only to variables defined before it, so the order of a list matters.
    if not rows and list(old) != list(new):
        yield path, list(old), list(new)


def _named(items: list[Any]) -> dict[str, Any] | None:
    """Return the items keyed by name, if all have distinct names."""
    named: dict[str, Any] = {}
    for item in items:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or name in named:
            return None
        named[name] = item
    return named


_IN_PLACE: dict[str, Patterns] = {
    "ConfigMap": (),  # ours are immutable
    "Service": (("spec", "selector"), ("spec", "ports"), ("spec", "publishNotReadyAddresses")),
    "PersistentVolumeClaim": (("spec", "resources", "requests"),),
    "PodGroup": (("spec",),),
}


def effect(kind: str, path: Path) -> Effect:
    """
    Return what it takes to change the field at *path* of a *kind*.

    The rules are those of API server 1.36 and of each workload. Fields of other kinds are changed
    in place; their controllers decide.
    """
    if path[:2] == ("metadata", "uid"):
        return Effect.replacement
    if path[:1] == ("metadata",):
        return Effect.in_place
    in_place, while_suspended = _rules(kind)
    if in_place is None or covers(in_place, path):
        return Effect.in_place
    return Effect.suspended if covers(while_suspended, path) else Effect.replacement


def _rules(kind: str) -> tuple[Patterns | None, Patterns]:
    """Return the fields of *kind* that are mutable, and those that are mutable while suspended."""
    if kind in _IN_PLACE:
        return _IN_PLACE[kind], ()
    known = workloads.named(kind)
    return (known.KIND.in_place, known.KIND.while_suspended) if known else (None, ())
