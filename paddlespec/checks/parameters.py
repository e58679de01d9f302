"""Check that every parameter is used."""

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
# Comparing names is slow: with more than this many, no similar name is suggested.
_MAX_CANDIDATES = 50
# Parameters of these layers are shared by many specs, and not every spec uses them.
_SHARED = ("project", "datacenter")


@reads("spec.parameters", "spec.mode")
def used(facts: Facts) -> Iterator[Diagnostic]:
    """A parameter that no expression uses has no effect; often its name is misspelled."""
    spec, document = facts.job.spec, facts.document
    for name in spec.parameters:
        if f"{_PREFIX}{name}" in facts.used or (name == "passes" and spec.mode == "legacy"):
            continue
        path = ("spec", "parameters", name)
        origin = document.origin(path)
        if origin.layer.startswith(_SHARED) or name in _named(origin.text):
            continue
        message = f'parameter "{name}" is not used'
        yield facts.warning("unused-parameter", message, path, _hint(facts, name), key=True)


@reads("spec.parameters")
def of_profiles(facts: Facts) -> Iterator[Diagnostic]:
    """A profile may only set parameters of the spec, even while the profile is not selected."""
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
            message = f'parameter "{name}" is not used'
            yield facts.warning("unused-parameter", message, path, _hint(facts, name), key=True)


@lru_cache(maxsize=8)
def _named(text: str) -> frozenset[str]:
    """Return the parameters a file names anywhere, even only in a profile."""
    return frozenset(re.findall(r"\bparameters\.([\w-]+)", text))


def _hint(facts: Facts, name: str) -> str:
    known = {used.removeprefix(_PREFIX) for used in facts.used if used.startswith(_PREFIX)}
    similar = did_you_mean(name, sorted(known)) if len(known) <= _MAX_CANDIDATES else None
    return similar or f"use it as ${{{{ parameters.{name} }}}}, or remove it"
