"""`get resources`: what nodes and queues have, in one datacenter or in all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.values import deadline_of

if TYPE_CHECKING:
    from paddlespec.backends.protocols import Engine
    from paddlespec.capacity.holding import Holding
    from paddlespec.capacity.line import Unknown
    from paddlespec.cli.shared.engines import Engines

    Found = tuple[list[Holding], list[Unknown]]

_AT_ONCE = 8
_UNREACHABLE = "unreachable"


def resources(
    *,
    everywhere: Annotated[
        bool,
        typer.Option(
            "--all-datacenters", help="Include every datacenter of the project and your own."
        ),
    ] = False,
    output: listing.Form = "table",
    place: options.JobPlace,
    cluster: options.Cluster,
    timeout: options.Timeout = None,
) -> int:
    """
    Show total and free CPU, memory and accelerators.

    Prints totals first, then each queue and each node. FREE is what a job could take now; a node
    that is cordoned or not ready has none. Exits with 3 if a datacenter cannot be reached.

    \b
    paddlespec get resources
    paddlespec get resources --all-datacenters --timeout 20s
    paddlespec get resources --target local
    """
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.unknowns import note_unknown
    from paddlespec.report.capacity import holding_data, holdings

    listing.check(output)
    if everywhere and (place.datacenter or cluster.context or place.target):
        raise Stop(Exit.usage, "--all-datacenters includes every place: name no other")
    with Engines(cluster.request(deadline_of(timeout))) as engines:
        if everywhere:
            found, unknown = _everywhere(engines)
        elif place.target is not None and place.datacenter is None:
            found, unknown = _of(engines.of_target(place.target))
        else:
            found, unknown = _of_datacenter(engines, place.datacenter)
    note_unknown(unknown)
    data = {
        "resources": [holding_data(row) for row in found],
        "unknown": [{"what": one.what, "reason": one.reason} for one in unknown],
    }
    names = dict.fromkeys(f"{row.kind}/{row.name}" for row in found)
    shown = listing.Listing(
        lambda: data,
        lambda: names,
        lambda wide, width: holdings(found, places=everywhere, wide=wide, width=width),
    )
    listing.show(output, shown)
    is_lost = any(row.state == _UNREACHABLE for row in found)
    return Exit.refused if is_lost else Exit.done


def _of(engine: Engine) -> Found:
    from paddlespec.cli.shared.capabilities import needed

    return needed(engine.capabilities.holdings, engine, "get resources").holdings()


def _of_datacenter(engines: Engines, name: str | None) -> Found:
    found, unknown = _of(engines.of_datacenter(name))
    if name is None:
        return found, unknown
    return [row._replace(datacenter=name) for row in found], unknown


def _everywhere(engines: Engines) -> Found:
    """Every datacenter at once; one that does not answer is a row, and delays no other."""
    from paddlespec.cli.shared import datacenters
    from paddlespec.threads import Crew

    names = datacenters.names()
    if not names:
        hint = "paddlespec config add NAME --context CONTEXT"
        raise Stop(Exit.usage, "no datacenters are configured", hint)
    found: list[Holding] = []
    unknown: list[Unknown] = []
    for name, (rows, more) in zip(
        names, Crew(lambda name: _reached(engines, name), names, _AT_ONCE).results()
    ):
        found += rows
        unknown += [one._replace(what=f"{name}: {one.what}") for one in more]
    return found, unknown


def _reached(engines: Engines, name: str) -> Found:
    from paddlespec.capacity.holding import Holding
    from paddlespec.runs.failures import OperationFailed

    try:
        return _of_datacenter(engines, name)
    except (OperationFailed, Stop) as error:
        row = Holding("datacenter", name, state=_UNREACHABLE, reason=error.message, datacenter=name)
        return [row], []
