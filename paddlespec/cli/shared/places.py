"""The place that a command looks at, for commands that are about no job."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.shared.capabilities import needed
from paddlespec.cli.shared.engines import Engines
from paddlespec.cli.shared.listing import refuse_two_scopes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.backends.capabilities import Capacity
    from paddlespec.backends.protocols import Engine
    from paddlespec.cli.shared.options import Cluster


class Place(NamedTuple):
    """An open place, and the namespace to look into; an empty one means all."""

    engine: Engine
    capacity: Capacity
    namespace: str


@contextmanager
def capacity_of(
    cluster: Cluster, datacenter: str | None, command: str, *, everywhere: bool
) -> Iterator[Place]:
    """Open what *datacenter*, or else the configuration, points to."""
    refuse_two_scopes(cluster.namespace, everywhere=everywhere)
    with Engines(cluster.request()) as engines:
        engine = engines.of_datacenter(datacenter)
        capacity = needed(engine.capabilities.capacity, engine, command)
        yield Place(engine, capacity, "" if everywhere else engine.namespace)
