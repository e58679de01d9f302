"""Label selectors in the syntax of `kubectl -l`, evaluated on the client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_KEY = r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?"
_SET = re.compile(rf"\s*({_KEY})\s+(in|notin)\s+\(([^()]*)\)\s*")
_EQUAL = re.compile(rf"\s*({_KEY})\s*(==|=|!=)\s*({_VALUE})\s*")
_EXISTS = re.compile(rf"\s*(!?)\s*({_KEY})\s*")


class Requirement(NamedTuple):
    """One term of a selector: *key* has one of *values*, or exists; negated unless *holds*."""

    key: str
    values: frozenset[str] | None
    holds: bool = True

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether *labels* meet the requirement."""
        if self.values is None:
            return (self.key in labels) is self.holds
        return (labels.get(self.key) in self.values) is self.holds


class Selector(NamedTuple):
    """Requirements that must all hold."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether *labels* meet every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements)


def parse(text: str) -> Selector:
    """
    Parse a selector such as `team=ads,tier!=test,owner,!old,app in (a,b)`.

    Raises `ValueError` with the part that cannot be parsed.
    """
    return Selector(tuple(_requirements(text)))


def _requirements(text: str) -> Iterator[Requirement]:
    at = 0
    while True:
        if match := _SET.match(text, at):
            values = frozenset(value.strip() for value in match[3].split(","))
            if not all(re.fullmatch(_VALUE, value) for value in values):
                raise ValueError(match[0].strip())
            yield Requirement(match[1], values, match[2] == "in")
        elif match := _EQUAL.match(text, at):
            yield Requirement(match[1], frozenset((match[3],)), match[2] != "!=")
        elif match := _EXISTS.match(text, at):
            yield Requirement(match[2], None, not match[1])
        else:
            raise ValueError(text[at:])
        at = match.end()
        if at == len(text):
            return
        if text[at] != ",":
            raise ValueError(text[at:])
        at += 1
