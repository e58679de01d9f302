"""What Kueue says of a workload that it does not admit, as far as the form is known."""

from __future__ import annotations

import re

from paddlespec.cluster.why.amounts import amount, numbers

_NAME = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
_RESOURCE = r"[A-Za-z0-9][\w./-]*"
_UNUSED = re.compile(
    rf"insufficient unused quota for (?P<resource>{_RESOURCE}) in flavor (?P<flavor>{_NAME}),"
    r" (?P<more>[\d.]+[A-Za-z]{0,2}) more needed"
)
_MOST = re.compile(
    rf"insufficient quota for (?P<resource>{_RESOURCE}) in flavor (?P<flavor>{_NAME}),"
    r".{0,80}request \((?P<asked>[\d.]+[A-Za-z]{0,2})\) > maximum capacity"
    r" \((?P<most>[\d.]+[A-Za-z]{0,2})\)"
)
_BORROW = re.compile(
    rf"borrowing limit for (?P<resource>{_RESOURCE}) in flavor (?P<flavor>{_NAME}) exceeded"
)
_UNKNOWN = re.compile(rf"resource (?P<resource>{_RESOURCE}) unavailable in ClusterQueue")
_TAINT = re.compile(rf"untolerated taint .{{0,200}}in flavor (?P<flavor>{_NAME})")
_QUEUE = re.compile(
    rf"(?P<kind>LocalQueue|ClusterQueue) (?P<name>{_NAME}) (?P<what>doesn't exist|is inactive)"
)
_SELECTOR = "namespace doesn't match ClusterQueue selector"


def words(message: str) -> str | None:
    """Kueue's message, as far as its form is known."""
    if found := _UNUSED.search(message):
        short = _amount(found["resource"], found["more"])
        return f"its queue is short of {short} more (flavor {found['flavor']})"
    if found := _MOST.search(message):
        asked, most = (_amount(found["resource"], found[each]) for each in ("asked", "most"))
        return f"asks for {asked}, and its queue never has more than {most}"
    if found := _BORROW.search(message):
        return f"its queue may borrow no more {found['resource']} (flavor {found['flavor']})"
    if found := _UNKNOWN.search(message):
        return f"its queue has no {found['resource']}"
    if found := _TAINT.search(message):
        return f"does not tolerate the taint of the flavor {found['flavor']}"
    if found := _QUEUE.search(message):
        return queue_words(found["kind"], found["name"], found["what"])
    if _SELECTOR in message:
        return "its queue takes no jobs of this namespace"
    return None


def queue_words(kind: str, name: object, what: str) -> str:
    """What is wrong with a queue, or with what stands behind it."""
    noun = "queue" if kind == "LocalQueue" else "cluster queue"
    if what == "is inactive":
        return f"the {noun} {name} is stopped or not complete"
    return f"there is no {noun} {name}"


def _amount(resource: str, text: str) -> str:
    number = numbers({resource: text})
    return amount(resource, number[resource]) if number else f"{text} {resource}"
