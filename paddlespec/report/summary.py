"""Summarize changes: for one job in terms of its spec, for all jobs in one line."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.capacity.demand import demand
from paddlespec.capacity.device import is_accelerator
from paddlespec.change.diff import Operation
from paddlespec.quantity import as_amount, as_bytes, as_count
from paddlespec.report.code import changed_files
from paddlespec.report.totals import (
    Share,
    hours,
    kept,
    length,
    rounded,
    total,
    unit,
    workloads,
)
from paddlespec.workloads.live import QUEUE_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from paddlespec.change.diff import Comparison
    from paddlespec.render.manifest import Manifest
    from paddlespec.report.totals import Amounts

_LABELS = {"cpu": "CPU"}


class Fact(NamedTuple):
    """One property of a job, before and after; `change` is the signed difference."""

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
    """The sum of all comparisons."""

    counts: dict[Operation, int]
    uncompared: int
    conflicting: int
    refused: int
    accelerators: Decimal
    cpu: Decimal
    memory: Decimal

    def __str__(self) -> str:
        remarks = list(self._remarks())
        objects = sum(self.counts.values())
        if objects == self.counts[Operation.keep]:
            compared = f"{objects} {'object' if objects == 1 else 'objects'} compared"
            return f"No changes. {', '.join([compared, *remarks])}."
        counts = ", ".join(
            f"{self.counts[operation]} to {operation.value}"
            for operation in Operation
            if operation != Operation.keep
        )
        return "; ".join(["Plan: " + counts, *filter(None, [", ".join(self.amounts), *remarks])])

    def _remarks(self) -> Iterator[str]:
        if self.uncompared:
            yield f"{self.uncompared} could not be compared"
        if self.conflicting:
            yield f"{self.conflicting} in conflict"
        if self.refused:
            yield f"apply would refuse {self.refused} {'job' if self.refused == 1 else 'jobs'}"

    @property
    def amounts(self) -> list[str]:
        """The additional resources requested from the cluster, or no longer requested."""
        amounts = [("GPU", self.accelerators), ("CPU", self.cpu)]
        parts = [f"{_signed(number, as_count)} {name}" for name, number in amounts if number]
        return [*parts, _signed(self.memory, as_bytes)] if self.memory else parts


def plan(comparisons: Iterable[Comparison]) -> Plan:
    """Sum up *comparisons*."""
    counts = dict.fromkeys(Operation, 0)
    uncompared = conflicting = refused = 0
    change: Amounts = {}
    for comparison in comparisons:
        refused += comparison.refusal is not None
        for row in comparison.rows:
            counts[row.change.operation] += 1
            uncompared += row.problem is not None
            conflicting += row.conflict is not None
        for sign, manifests in zip((-1, 1), sides(comparison)):
            for name, number in total(_shares(manifests)).items():
                change[name] = change.get(name, Decimal(0)) + sign * number
    accelerators = sum(
        (number for name, number in change.items() if is_accelerator(name)), Decimal(0)
    )
    zero = Decimal(0)
    cpu, memory = change.get("cpu", zero), change.get("memory", zero)
    return Plan(counts, uncompared, conflicting, refused, accelerators, cpu, memory)


def sides(comparison: Comparison) -> tuple[list[Manifest], list[Manifest]]:
    """List all objects of a job before, and all after."""
    changes = [row.change for row in comparison.rows]
    before = [change.before for change in changes if change.before is not None]
    return before, [change.after for change in changes if change.after is not None]


def facts(comparison: Comparison, hide: Callable[[str], str]) -> list[Fact]:
    """List what changes for a job; all its properties if it is created or deleted."""
    before, after = sides(comparison)
    summary = [*_numbers(before, after), *_texts(before, after, hide)]
    if not before or not after:
        return summary
    files = changed_files(before, after)
    code = [Fact("code", None, hide(", ".join(files)))] if files else []
    return [*(fact for fact in summary if fact.before != fact.after), *code]


def _numbers(before: Sequence[Manifest], after: Sequence[Manifest]) -> list[Fact]:
    old, new = _shares(before), _shares(after)
    numbers = []
    for role in dict.fromkeys(share.role for share in (*new, *old)):
        was, now = (_replicas(side, role) for side in (old, new))
        numbers.append(_fact(f"replicas of {role}", was, now, as_count))
    had, has = total(old), total(new)
    names = sorted({*had, *has}, key=_rank)
    for name in names:
        was = had.get(name, Decimal(0)) if old else None
        now = has.get(name, Decimal(0)) if new else None
        numbers.append(_fact(_LABELS.get(name, name), was, now, partial(as_amount, name)))
    for name in _paid(names):
        numbers.append(_hours(name, old, new))
    return [fact for fact in numbers if fact.before is not None or fact.after is not None]


def _paid(names: Sequence[str]) -> list[str]:
    """Return the resources whose hours count: accelerators, or else the CPU."""
    return [name for name in names if is_accelerator(name)] or [
        name for name in names if name == "cpu"
    ]


def _replicas(shares: Sequence[Share], role: str) -> Decimal | None:
    return next((Decimal(share.replicas) for share in shares if share.role == role), None)


def _rank(name: str) -> tuple[bool, int, str]:
    order = ("cpu", "memory")
    return not is_accelerator(name), order.index(name) if name in order else len(order), name


def _fact(
    name: str, before: Decimal | None, after: Decimal | None, write: Callable[[Decimal], str]
) -> Fact:
    was, now = (None if number is None else write(number) for number in (before, after))
    if before is None or after is None or before == after:
        return Fact(name, was, now)
    return Fact(name, was, now, _signed(after - before, write))


def _hours(name: str, old: Sequence[Share], new: Sequence[Share]) -> Fact:
    label = f"{unit(name)} at the timeout"
    before, after = (hours(side, name) if side else None for side in (old, new))
    if (old and before is None) or (new and after is None):
        was, now = (
            (rounded(amount) if amount is not None else "no timeout") if side else None
            for side, amount in ((old, before), (new, after))
        )
        return Fact(label, was, now)
    return _fact(label, before, after, rounded)


def _texts(
    before: Sequence[Manifest], after: Sequence[Manifest], hide: Callable[[str], str]
) -> list[Fact]:
    sets = [_words(side) for side in (before, after)]
    texts = []
    for name in dict.fromkeys(name for side in sets for name in side):
        old, new = (side.get(name, {}) for side in sets)
        roles = list(dict.fromkeys([*new, *old]))
        pairs = {role: (old.get(role), new.get(role)) for role in roles}
        if len(set(pairs.values())) == 1:
            pairs = {"": pairs[roles[0]]}
        for role, pair in pairs.items():
            was, now = (None if text is None else hide(text) for text in pair)
            texts.append(Fact(f"{name} of {role}" if role else name, was, now))
    return texts


def _words(manifests: Sequence[Manifest]) -> dict[str, dict[str, str]]:
    """Collect the facts that are not numbers, by name and role."""
    texts: dict[str, dict[str, str]] = {"image": {}, "command": {}, "queue": {}, "timeout": {}}
    for workload in workloads(manifests):
        texts["image"][workload.role] = str(workload.container.get("image", ""))
        container = workload.container
        words = [*(container.get("command") or ()), *(container.get("args") or ())]
        shell = words[2] if words[:2] == ["sh", "-c"] and len(words) > 2 else None
        texts["command"][workload.role] = (
            shell or " ".join(map(str, words)) or "default of the image"
        )
        if workload.role == "trainers":  # everything else ends with the trainers
            texts["timeout"][""] = length(workload.deadline) if workload.deadline else "none"
    for manifest in manifests:
        labels = manifest["metadata"].get("labels") or {}
        queue = labels.get(QUEUE_LABEL) or (
            manifest["kind"] == "PodGroup" and manifest.get("spec", {}).get("queue")
        )
        if isinstance(queue, str):
            texts["queue"].setdefault("", queue)
    return texts


def _shares(manifests: Sequence[Manifest]) -> list[Share]:
    """List what each role requests; other roles end when the trainers' Job is removed."""
    requested = [
        Share(workload.role, workload.replicas, demand(workload.pod), workload.deadline)
        for workload in workloads(manifests)
    ]
    keep = kept(manifests)
    trainers = next((share.deadline for share in requested if share.role == "trainers"), None)
    if keep is None or trainers is None:
        return requested
    latest = trainers + keep
    return [
        share
        if share.role == "trainers"
        else share._replace(deadline=min(latest, share.deadline or latest))
        for share in requested
    ]


def _signed(number: Decimal, write: Callable[[Decimal], str]) -> str:
    return f"{'+' if number > 0 else '-'}{write(abs(number))}"
