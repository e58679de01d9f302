"""
What the last lines of a replica say of other replicas: words of Paddle, gloo, brpc and sockets.

Whoever speaks of others is seldom the one to blame.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

# What gloo, brpc and sockets say when the other side is gone.
_OF_OTHERS = re.compile(
    r"gloo::|gloo/transport|Connection (?:reset|closed) by peer|Connection refused|Broken pipe"
    r"|peer (?:is )?(?:closed|gone|lost)|TimeoutException|\[E112\]"
)
# The launcher, which has no timeout of its own.
_WAITING = (
    (r"Waiting peer (?:start|ready)\.\.\.|peer not ready", "not all have come to the rendezvous"),
    (r"master not ready|put value failed", "the master of the rendezvous does not answer"),
    (r"start master failed", "the master of the rendezvous cannot listen on its port"),
)
# What is below it: the store and the backends of a collective, and brpc of the pservers.
_BROKEN = (
    (r"TCPStore.{0,80}(?:timed? ?out|timeout)", "the store of the rendezvous was not reached"),
    (r"gloo::TimeoutException", "another replica did not answer in time"),
    (r"gloo/.{0,200}Connection (?:reset|closed) by peer", "another replica has gone"),
    (r"\[E112\]", "a pserver cannot be reached"),
)
_PATTERNS = [(re.compile(each), words, True) for each, words in _WAITING]
_PATTERNS += [(re.compile(each), words, False) for each, words in _BROKEN]


class Meaning(NamedTuple):
    """A known sentence exactly as it was found, what it tells, and whether its writer waits."""

    quote: str
    words: str
    waits: bool


def speak_of_others(tail: bytes) -> bool:
    """Whether an output ends with the complaint that another replica is gone."""
    return bool(_OF_OTHERS.search(tail.decode(errors="replace")))


def meaning(lines: Iterable[str]) -> Meaning | None:
    """The last known sentence among *lines*; of the line only that sentence is kept."""
    for line in reversed(list(lines)):
        for pattern, words, waits in _PATTERNS:
            if found := pattern.search(line):
                return Meaning(found[0], words, waits)
    return None
