"""LimitRanges that forbid a pod."""

from __future__ import annotations

import re

_BOUND = re.compile(
    r"(?P<bound>maximum|minimum) (?P<resource>[\w./-]+) usage per (?P<kind>Container|Pod)"
    r" is (?P<limit>[\w.]+)(?:, but (?P<bounded>limit|request) is (?P<actual>[\w.]+)"
    r"|\. +No (?P<unset>limit|request) is specified)"
)
_RATIO = re.compile(
    r"(?P<resource>[\w./-]+) max limit to request ratio per (?P<kind>Container|Pod) is"
    r" (?P<limit>[\w.]+), but (?:provided ratio is (?P<actual>\d+\.\d+)|no \w+ is specified)"
)


def violation(message: str) -> str | None:
    """Say what the namespace allows and what the pod requests; None for other messages."""
    if match := _BOUND.search(message):
        most = "may have at most" if match["bound"] == "maximum" else "must have at least"
        kind = match["kind"].lower()
        sentence = f"a {kind} {most} {match['limit']} {match['resource']}"
        if match["unset"]:
            return f"{sentence}, but sets no {match['unset']} (limit range)"
        return f"{sentence}, but its {match['bounded']} is {match['actual']} (limit range)"
    if match := _RATIO.search(message):
        sentence = (
            f"the {match['resource']} limit of a {match['kind'].lower()} may be at most "
            f"{match['limit']} times its request"
        )
        ratio = (match["actual"] or "").rstrip("0").rstrip(".")
        actual = f", but is {ratio} times" if ratio else ""
        return f"{sentence}{actual} (limit range)"
    return None
