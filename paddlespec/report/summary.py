"""What changes come to: for one job in the words of its spec, for all of them in one line."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.demand import demand
from paddlespec.diff import Operation
from paddlespec.quantity import as_amount, as_bytes, as_count
from paddlespec.report.code import changed_files
from paddlespec.report.totals import (
    Share,
    hours,
    is_accelerator,
    kept,
    length,
    rounded,
    total,
    unit,
    workloads,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paddlespec.diff import Comparison
    from paddlespec.manifest import Manifest
    from paddlespec.report.totals import Amounts

_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_LABELS = {"cpu": "CPU"}


class Fact(NamedTuple):
    """One thing that a job takes or is, before and after; `change` is the signed difference."""

    name: str
    before: str | None
    after: str | None
    change: str | None = None

    def __str__(self) -> str:
        if self.before is None or self.after is None:
            return self.after or self.before or ""
        change = f" ({self.change})" if self.change else ""
        return f"{self.before} -> {self.after}{change}"


class Plan(NamedTuple):
    """What all comparisons come to."""

    counts: dict[Operation, int]
    uncompared: int
    accelerators: Decimal
    cpu: Decimal
    memory: Decimal

    def __str__(self) -> str:
        missing = f"{self.uncompared} could not be compared" if self.uncompared else ""
        objects = sum(self.counts.values())
        if objects == self.counts[Operation.keep]:
            compared = f"{objects} {'object' if objects == 1 else 'objects'} compared"
            return f"No changes. {compared}{f', {missing}' if missing else ''}."
        counts = ", ".join(
            f"{self.counts[each]} to {each.value}" for each in Operation if each != Operation.keep
        )
        return "; ".join(["Plan: " + counts, *filter(None, [", ".join(self.amounts), missing])])

    @property
    def amounts(self) -> list[str]:
        """What is asked of the cluster besides, or no longer."""
        found = [("GPU", self.accelerators), ("CPU", self.cpu)]
        told = [f"{_signed(number, as_count)} {name}" for name, number in found if number]
        return [*told, _signed(self.memory, as_bytes)] if self.memory else told


def plan(comparisons: Iterable[Comparison]) -> Plan:
    """The sum of *comparisons*."""
    counts = dict.fromkeys(Operation, 0)
    uncompared = 0
    change: Amounts = {}
    for comparison in comparisons:
        for row in comparison.rows:
            counts[row.change.operation] += 1
            uncompared += row.problem is not None
        for sign, manifests in zip((-1, 1), sides(comparison)):
            for name, number in total(_shares(manifests)).items():
                change[name] = change.get(name, Decimal(0)) + sign * number
    accelerators = sum((each for name, each in change.items() if is_accelerator(name)), Decimal(0))
    zero = Decimal(0)
    return Plan(
        counts, uncompared, accelerators, change.get("cpu", zero), change.get("memory", zero)
    )


def sides(comparison: Comparison) -> tuple[list[Manifest], list[Manifest]]:
    """All objects of a job before, and all after."""
    changes = [row.change for row in comparison.rows]
    before = [each.before for each in changes if each.before is not None]
    return before, [each.after for each in changes if each.after is not None]


def facts(comparison: Comparison, hide: Callable[[str], str]) -> list[Fact]:
    """What changes for a job; all that it takes where it is new, or was and is gone."""
    before, after = sides(comparison)
    found = [*_numbers(before, after), *_texts(before, after, hide)]
    if not before or not after:
        return found
    files = changed_files(before, after)
    code = [Fact("code", None, hide(", ".join(files)))] if files else []
    return [*(each for each in found if each.before != each.after), *code]


def _numbers(before: Sequence[Manifest], after: Sequence[Manifest]) -> list[Fact]:
    old, new = _shares(before), _shares(after)
    found = []
    for role in dict.fromkeys(each.role for each in (*new, *old)):
        was, now = (_replicas(side, role) for side in (old, new))
        found.append(_fact(f"replicas of {role}", was, now, as_count))
    had, has = total(old), total(new)
    names = sorted({*had, *has}, key=_rank)
    for name in names:
        was = had.get(name, Decimal(0)) if old else None
        now = has.get(name, Decimal(0)) if new else None
        found.append(_fact(_LABELS.get(name, name), was, now, partial(as_amount, name)))
    for name in [each for each in names if is_accelerator(each)] or ["cpu"]:
        found.append(_hours(name, old, new))
    return [each for each in found if each.before is not None or each.after is not None]


def _replicas(shares: Sequence[Share], role: str) -> Decimal | None:
    return next((Decimal(each.replicas) for each in shares if each.role == role), None)


def _rank(name: str) -> tuple[bool, int, str]:
    order = ("cpu", "memory")
    return not is_accelerator(name), order.index(name) if name in order else len(order), name


def _fact(
    name: str, before: Decimal | None, after: Decimal | None, write: Callable[[Decimal], str]
) -> Fact:
    was, now = (None if each is None else write(each) for each in (before, after))
    if before is None or after is None or before == after:
        return Fact(name, was, now)
    return Fact(name, was, now, _signed(after - before, write))


def _hours(name: str, old: Sequence[Share], new: Sequence[Share]) -> Fact:
    label = f"{unit(name)} at the timeout"
    before, after = (hours(side, name) if side else None for side in (old, new))
    if (old and before is None) or (new and after is None):
        was, now = (
            (rounded(each) if each is not None else "no timeout") if side else None
            for side, each in ((old, before), (new, after))
        )
        return Fact(label, was, now)
    return _fact(label, before, after, rounded)


def _texts(
    before: Sequence[Manifest], after: Sequence[Manifest], hide: Callable[[str], str]
) -> list[Fact]:
    sets = [_words(side) for side in (before, after)]
    found = []
    for name in dict.fromkeys(name for side in sets for name in side):
        old, new = (side.get(name, {}) for side in sets)
        roles = list(dict.fromkeys([*new, *old]))
        pairs = {role: (old.get(role), new.get(role)) for role in roles}
        if len(set(pairs.values())) == 1:
            pairs = {"": pairs[roles[0]]}
        for role, pair in pairs.items():
            was, now = (None if each is None else hide(each) for each in pair)
            found.append(Fact(f"{name} of {role}" if role else name, was, now))
    return found


def _words(manifests: Sequence[Manifest]) -> dict[str, dict[str, str]]:
    """Facts that are no numbers, by name and role."""
    found: dict[str, dict[str, str]] = {"image": {}, "command": {}, "queue": {}, "timeout": {}}
    for each in workloads(manifests):
        found["image"][each.role] = str(each.container.get("image", ""))
        words = [*each.container.get("command", ()), *each.container.get("args", ())]
        shell = words[2] if words[:2] == ["sh", "-c"] and len(words) > 2 else None
        found["command"][each.role] = shell or " ".join(map(str, words)) or "the image's own"
        if each.role == "trainers":  # with whom everything else ends
            found["timeout"][""] = length(each.deadline) if each.deadline else "none"
    for manifest in manifests:
        labels = manifest["metadata"].get("labels") or {}
        queue = labels.get(_QUEUE_LABEL) or (
            manifest["kind"] == "PodGroup" and manifest.get("spec", {}).get("queue")
        )
        if isinstance(queue, str):
            found["queue"].setdefault("", queue)
    return found


def _shares(manifests: Sequence[Manifest]) -> list[Share]:
    """What each role asks for; pservers end when the trainers' Job is removed."""
    found = [
        Share(each.role, each.replicas, demand(each.pod), each.deadline)
        for each in workloads(manifests)
    ]
    keep = kept(manifests)
    trainers = next((each.deadline for each in found if each.role == "trainers"), None)
    if keep is None or trainers is None:
        return found
    latest = trainers + keep
    return [
        each
        if each.role == "trainers"
        else each._replace(deadline=min(latest, each.deadline or latest))
        for each in found
    ]


def _signed(number: Decimal, write: Callable[[Decimal], str]) -> str:
    return f"{'+' if number > 0 else '-'}{write(abs(number))}"
