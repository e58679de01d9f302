"""Find the replica that caused a failure, and the last lines of its log."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backends.cluster.why import ended
from paddlespec.runs.failure_text import meaning, speak_of_others

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paddlespec.render.manifest import Manifest

    # Returns the last lines of a pod's log, or None if it cannot be read.
    Read = Callable[[Manifest], "list[str] | None"]

# At most this many logs are read.
_SUSPECTS = 3


class Culprit(NamedTuple):
    """The pod that failed first; `wrote` is None if its log cannot be read."""

    pod: Manifest
    wrote: list[str] | None

    def lines(self) -> Iterator[str]:
        """Yield the last lines of its log, and their probable meaning."""
        if self.wrote is None:
            yield "its log cannot be read"
            return
        yield from (f"| {line}" for line in self.wrote)
        if known := meaning(self.wrote):
            yield f"probable cause: {known.text}"


def culprit(pods: Iterable[Manifest], read: Read) -> Culprit | None:
    """
    Find the first failed pod whose log does not complain about other replicas.

    A victim may exit before the replica that caused its failure. If every log complains about
    others, the first pod is returned. Pods that were terminated are considered only if there are no
    others.
    """
    failed = ended.in_order(pods)
    suspects = [pod for pod in failed if not ended.is_terminated(pod)] or failed
    candidates: list[Culprit] = []
    for pod in suspects[:_SUSPECTS]:
        candidate = Culprit(pod, read(pod))
        if not speak_of_others("\n".join(candidate.wrote or ()).encode()):
            return candidate
        candidates.append(candidate)
    return candidates[0] if candidates else None
