"""Whether every parameter has a reader."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.diagnostic import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic

_PREFIX = "parameters."
# Similar names are looked for among at most so many: each one costs.
_MOST_NAMES = 50
# What every spec of a project or datacenter may use, not each one does.
_SHARED = ("project", "datacenter")


@reads("spec.parameters", "spec.mode")
def used(facts: Facts) -> Iterator[Diagnostic]:
    """A parameter that no expression names changes nothing, which a misspelt one shows."""
    spec, document = facts.job.spec, facts.document
    for name in spec.parameters:
        if f"{_PREFIX}{name}" in facts.used or (name == "passes" and spec.mode == "legacy"):
            continue
        path = ("spec", "parameters", name)
        origin = document.origin(path)
        if origin.layer.startswith(_SHARED) or name in _named(origin.text):
            continue
        message = f"nothing uses the parameter {name}"
        yield facts.warning("unused-parameter", message, path, _hint(facts, name), key=True)


@reads("spec.parameters")
def of_profiles(facts: Facts) -> Iterator[Diagnostic]:
    """A profile sets parameters that the spec has, also when it is not chosen."""
    profiles = facts.document.place.child("profiles")
    if profiles is None or not isinstance(profiles.children, dict):
        return
    for profile, place in profiles.children.items():
        parameters = place.child("parameters")
        children = parameters.children if parameters else None
        for name in children if isinstance(children, dict) else ():
            if name in facts.job.spec.parameters or name in _named(place.origin.text):
                continue
            path = ("profiles", profile, "parameters", name)
            message = f"nothing uses the parameter {name}"
            yield facts.warning("unused-parameter", message, path, _hint(facts, name), key=True)


@lru_cache(maxsize=8)
def _named(text: str) -> frozenset[str]:
    """The parameters that a file names somewhere, if only in a profile."""
    return frozenset(re.findall(r"\bparameters\.([\w-]+)", text))


def _hint(facts: Facts, name: str) -> str:
    known = {each.removeprefix(_PREFIX) for each in facts.used if each.startswith(_PREFIX)}
    near = did_you_mean(name, sorted(known)) if len(known) <= _MOST_NAMES else None
    return near or f"write ${{{{ parameters.{name} }}}} where it belongs, or remove it"
