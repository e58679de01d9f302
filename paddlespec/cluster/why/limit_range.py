"""A LimitRange that does not let pods be created."""

from __future__ import annotations

import re

_BOUND = re.compile(
    r"(?P<bound>maximum|minimum) (?P<resource>[\w./-]+) usage per (?P<kind>Container|Pod)"
    r" is (?P<limit>[\w.]+)(?:, but (?P<said>limit|request) is (?P<found>[\w.]+)"
    r"|\. +No (?P<unsaid>limit|request) is specified)"
)
_RATIO = re.compile(
    r"(?P<resource>[\w./-]+) max limit to request ratio per (?P<kind>Container|Pod) is"
    r" (?P<limit>[\w.]+), but (?:provided ratio is (?P<found>\d+\.\d+)|no \w+ is specified)"
)


def words(message: str) -> str | None:
    """What the namespace allows, and what was asked for."""
    if found := _BOUND.search(message):
        most = "may have at most" if found["bound"] == "maximum" else "must have at least"
        kind = found["kind"].lower()
        told = f"a {kind} {most} {found['limit']} {found['resource']}"
        if found["unsaid"]:
            return f"{told}, and names no {found['unsaid']} (limit range)"
        return f"{told}, and its {found['said']} is {found['found']} (limit range)"
    if found := _RATIO.search(message):
        told = (
            f"the {found['resource']} limit of a {found['kind'].lower()} may be at most "
            f"{found['limit']} times its request"
        )
        ratio = (found["found"] or "").rstrip("0").rstrip(".")
        than = f", and is {ratio} times" if ratio else ""
        return f"{told}{than} (limit range)"
    return None
