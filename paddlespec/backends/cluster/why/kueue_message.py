"""Translate Kueue's messages about workloads that it does not admit."""

from __future__ import annotations

import re

from paddlespec.backends.cluster.why.amounts import amount, numbers

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


def explain_message(message: str) -> str | None:
    """Translate a message of Kueue; None if its format is unknown."""
    if match := _UNUSED.search(message):
        short = _amount(match["resource"], match["more"])
        return f"needs {short} more than its queue has free (flavor {match['flavor']})"
    if match := _MOST.search(message):
        asked, most = (_amount(match["resource"], match[group]) for group in ("asked", "most"))
        return f"requests {asked}, but its queue is limited to {most}"
    if match := _BORROW.search(message):
        return f"its queue cannot borrow more {match['resource']} (flavor {match['flavor']})"
    if match := _UNKNOWN.search(message):
        return f"its queue has no {match['resource']}"
    if match := _TAINT.search(message):
        return f"does not tolerate the taint of flavor {match['flavor']}"
    if match := _QUEUE.search(message):
        return describe_queue(match["kind"], match["name"], match["what"])
    if _SELECTOR in message:
        return "its queue accepts no jobs from this namespace"
    return None


def describe_queue(kind: str, name: object, what: str) -> str:
    """Say what is wrong with a local queue or its cluster queue."""
    noun = "queue" if kind == "LocalQueue" else "cluster queue"
    if what == "is inactive":
        return f"{noun} {name} is stopped or misconfigured"
    return f"{noun} {name} does not exist"


def _amount(resource: str, text: str) -> str:
    number = numbers({resource: text})
    return amount(resource, number[resource]) if number else f"{text} {resource}"
