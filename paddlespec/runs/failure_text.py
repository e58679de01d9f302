"""
Recognize what the last lines of a replica say about other replicas.

The messages are those of Paddle, gloo, brpc and sockets. A replica that complains about others is
rarely the one that failed first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

# Messages of gloo, brpc and sockets when the peer is gone.
_OF_OTHERS = re.compile(
    r"gloo::|gloo/transport|Connection (?:reset|closed) by peer|Connection refused|Broken pipe"
    r"|peer (?:is )?(?:closed|gone|lost)|TimeoutException|\[E112\]"
)
# Messages of the launcher, which waits without a timeout.
_WAITING = (
    (r"Waiting peer (?:start|ready)\.\.\.|peer not ready", "not all have joined the rendezvous"),
    (r"master not ready|put value failed", "the rendezvous master does not answer"),
    (r"start master failed", "the rendezvous master cannot listen on its port"),
)
# Messages of the layers below: the rendezvous store, collective backends, and brpc of the pservers.
_BROKEN = (
    (r"TCPStore.{0,80}(?:timed? ?out|timeout)", "the rendezvous store could not be reached"),
    (r"gloo::TimeoutException", "another replica did not answer in time"),
    (r"gloo/.{0,200}Connection (?:reset|closed) by peer", "another replica is gone"),
    (r"\[E112\]", "a pserver cannot be reached"),
)
_PATTERNS = [(re.compile(pattern), text, True) for pattern, text in _WAITING]
_PATTERNS += [(re.compile(pattern), text, False) for pattern, text in _BROKEN]


class Meaning(NamedTuple):
    """A known message: the exact quote, its meaning, and whether the replica is waiting."""

    quote: str
    text: str
    waits: bool


def speak_of_others(tail: bytes) -> bool:
    """Report whether *tail* complains that another replica is gone."""
    return bool(_OF_OTHERS.search(tail.decode(errors="replace")))


def meaning(lines: Iterable[str]) -> Meaning | None:
    """Return the last known message in *lines*, without the rest of its line."""
    for line in reversed(list(lines)):
        for pattern, text, waits in _PATTERNS:
            if match := pattern.search(line):
                return Meaning(match[0], text, waits)
    return None
