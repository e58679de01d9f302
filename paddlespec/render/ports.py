"""
The ports on which the replicas of a job meet.

On the network of the nodes, jobs that share a node need different ports: those that the spec leaves
unset depend on the name of the job. If two jobs get the same port nevertheless, their pods declare
it as a host port, and the scheduler keeps them on different nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from paddlespec.model import Job

# All defaults are outside 35100-64000, the range from which Paddle's launcher picks the ports of
# its workers. Derived ports are also outside the usual ranges of node ports and of the kernel.
LAUNCHER_PORTS = range(35_100, 64_001)
_MASTER, _PSERVER, _GLOO, _LEGACY, _TRAINER = 6768, 6174, 6175, 7164, 6170
_DERIVED = range(20_000, 24_000)
# Blocks for the launcher of Paddle 2.2 and earlier, which counts up from its first port.
_BLOCKS = range(24_000, 29_900, 64)
LAST = 65_535


class Ports(NamedTuple):
    """
    The ports of a job; a legacy pserver has more ports, which follow its first one.

    `trainer` is the first port of a replica's processes under the launcher of Paddle 2.2 and earlier.
    """

    master: int
    pserver: int
    gloo: int
    trainer: int


def of(job: Job) -> Ports:
    """Return the ports of *job*: its own, or the defaults."""
    own, default = job.spec.network.ports, _defaults(job)
    return Ports(
        own.master or default.master,
        own.pserver or default.pserver,
        own.gloo or default.gloo,
        default.trainer,
    )


def _defaults(job: Job) -> Ports:
    if not job.spec.network.host:
        legacy = job.spec.mode == "legacy"
        return Ports(_MASTER, _LEGACY if legacy else _PSERVER, _GLOO, _TRAINER)
    # Steps of two: the pairs of two jobs are either the same or have no port in common.
    number = crc32(str(job.metadata.name).encode())
    first = _DERIVED[number % (len(_DERIVED) // 2) * 2]
    return Ports(first, first, first + 1, _BLOCKS[number % len(_BLOCKS)])


def of_pserver(job: Job) -> list[int]:
    """Return the ports of a pserver."""
    first = of(job).pserver
    if job.spec.mode != "legacy":
        return [first]
    dense, sparse = legacy_counts(job)
    return list(range(first, first + dense + sparse))


def legacy_counts(job: Job) -> tuple[int, int]:
    """Return the numbers of dense and sparse ports of a legacy pserver."""
    legacy = job.spec.legacy
    return (legacy.ports, legacy.sparse_ports) if legacy else (1, 1)


def reserved(job: Job, role: str, *, meets: bool) -> dict[str, int]:
    """Return the ports that the runtime contract reserves in the replicas of *role*, by name."""
    mode, ports = job.spec.mode, of(job)
    if role == "trainers" and mode == "collective" and meets:
        return {"master": ports.master}
    if role == "heter" and mode == "ps":
        return {"heter": ports.pserver}
    if role != "pservers" or mode not in ("ps", "legacy"):
        return {}
    own = {
        f"pserver-{index}" if index else "pserver": port
        for index, port in enumerate(of_pserver(job))
    }
    return {**own, "gloo": ports.gloo} if mode == "ps" else own
