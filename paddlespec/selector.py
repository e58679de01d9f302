"""Label selectors, as `kubectl -l` has them: for what no server selects for us."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_KEY = r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?"
_SET = re.compile(rf"\s*({_KEY})\s+(in|notin)\s+\(([^()]*)\)\s*")
_EQUAL = re.compile(rf"\s*({_KEY})\s*(==|=|!=)\s*({_VALUE})\s*")
_THERE = re.compile(rf"\s*(!?)\s*({_KEY})\s*")


class Requirement(NamedTuple):
    """One part of a selector: the label *key* has one of *values*, or is there, or the contrary."""

    key: str
    values: frozenset[str] | None
    holds: bool = True

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether *labels* are as required."""
        if self.values is None:
            return (self.key in labels) is self.holds
        return (labels.get(self.key) in self.values) is self.holds


class Selector(NamedTuple):
    """Requirements that all have to hold."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether *labels* are selected."""
        return all(each.matches(labels) for each in self.requirements)


def parse(text: str) -> Selector:
    """What `-l` says, as in `team=ads,tier!=test,owner,!old,app in (a,b)`; or `ValueError`."""
    return Selector(tuple(_requirements(text)))


def _requirements(text: str) -> Iterator[Requirement]:
    at = 0
    while True:
        if found := _SET.match(text, at):
            values = frozenset(each.strip() for each in found[3].split(","))
            if not all(re.fullmatch(_VALUE, each) for each in values):
                raise ValueError(found[0].strip())
            yield Requirement(found[1], values, found[2] == "in")
        elif found := _EQUAL.match(text, at):
            yield Requirement(found[1], frozenset((found[3],)), found[2] != "!=")
        elif found := _THERE.match(text, at):
            yield Requirement(found[2], None, not found[1])
        else:
            raise ValueError(text[at:])
        at = found.end()
        if at == len(text):
            return
        if text[at] != ",":
            raise ValueError(text[at:])
        at += 1
