"""Which of several replicas that failed is to blame, and what it wrote last."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cluster.why import ended
from paddlespec.last_words import meaning, speak_of_others

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paddlespec.manifest import Manifest

    # The last lines of a pod, or nothing where they cannot be read.
    Read = Callable[[Manifest], "list[str] | None"]

# Whose last lines are read.
_SUSPECTS = 3


class Culprit(NamedTuple):
    """The pod with which the trouble began; `wrote` is nothing where its log cannot be read."""

    pod: Manifest
    wrote: list[str] | None

    def lines(self) -> Iterator[str]:
        """What it wrote, and what that means where it is known."""
        if self.wrote is None:
            yield "its log cannot be read"
            return
        yield from (f"| {each}" for each in self.wrote)
        if known := meaning(self.wrote):
            yield f"it seems that {known.words}"


def culprit(pods: Iterable[Manifest], read: Read) -> Culprit | None:
    """
    The first whose last words are not about others: a victim may end before its culprit.

    Where all complain of others, it is the first of them; those that were told to end are asked
    only where there is nobody else.
    """
    failed = ended.in_order(pods)
    suspects = [each for each in failed if not ended.is_terminated(each)] or failed
    found: list[Culprit] = []
    for each in suspects[:_SUSPECTS]:
        one = Culprit(each, read(each))
        if not speak_of_others("\n".join(one.wrote or ()).encode()):
            return one
        found.append(one)
    return found[0] if found else None
