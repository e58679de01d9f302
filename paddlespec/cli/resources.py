"""`get resources`: what nodes and queues have, in one datacenter or in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli import listing, local, options, reach
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.capacity.holding import Holding
    from paddlespec.capacity.line import Unknown
    from paddlespec.cli.places import Engines

    Found = tuple[list[Holding], list[Unknown]]

_AT_ONCE = 8
UNREACHABLE = "unreachable"


def resources(
    everywhere: Annotated[
        bool,
        typer.Option(
            "--all-datacenters", help="Of every datacenter of the project, and of one's own."
        ),
    ] = False,
    output: listing.Form = "table",
    target: local.Where = None,
    datacenter: reach.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
    timeout: options.Timeout = None,
) -> int:
    """
    Show how much cpu, memory and accelerators there are, and how much of them is free.

    First the totals, then each queue and each node. FREE is what a job could take now: nothing of
    a node that is cordoned or not ready. Exits with 3 when a datacenter cannot be reached.

    \b
    paddlespec get resources
    paddlespec get resources --all-datacenters --timeout 20s
    paddlespec get resources --target local
    """
    from paddlespec.cli.places import LOCAL, Engines, deadline_of
    from paddlespec.report.capacity import holding_data, holdings

    listing.check(output)
    if everywhere and (datacenter or context or target):
        raise Stop(Exit.usage, "--all-datacenters asks everywhere: name no other place")
    unknown: list[Unknown] = []
    with Engines(kubeconfig, context, namespace, deadline_of(timeout)) as engines:
        if target == LOCAL:
            from paddlespec.local import machine

            found = list(machine.holdings())
        elif everywhere:
            found, unknown = _everywhere(engines)
        else:
            found, unknown = _of(engines, datacenter)
    reach.tell(unknown)
    data = {
        "resources": [holding_data(each) for each in found],
        "unknown": [{"what": each.what, "reason": each.reason} for each in unknown],
    }
    names = dict.fromkeys(f"{each.kind}/{each.name}" for each in found)
    listing.show(
        output,
        lambda: data,
        lambda: names,
        lambda wide, width: holdings(found, places=everywhere, wide=wide, width=width),
    )
    is_lost = any(each.state == UNREACHABLE for each in found)
    return Exit.refused if is_lost else Exit.done


def _of(engines: Engines, datacenter: str | None) -> Found:
    from paddlespec.cluster.holdings import holdings

    found, unknown = holdings(reach.client(engines, datacenter))
    if datacenter is None:
        return found, unknown
    return [each._replace(datacenter=datacenter) for each in found], unknown


def _everywhere(engines: Engines) -> Found:
    """Every datacenter at once; one that does not answer is a line and keeps none of the others."""
    from paddlespec.cli import connect
    from paddlespec.crew import Crew

    project = connect.here()
    names = list(
        dict.fromkeys([*(project.datacenters if project else ()), *connect.own().connections])
    )
    if not names:
        hint = "paddlespec config add NAME --context CONTEXT"
        raise Stop(Exit.usage, "no datacenter is known", hint)
    found: list[Holding] = []
    unknown: list[Unknown] = []
    for name, (own, more) in zip(
        names, Crew(lambda name: _reached(engines, name), names, _AT_ONCE).results()
    ):
        found += own
        unknown += [each._replace(what=f"{name}: {each.what}") for each in more]
    return found, unknown


def _reached(engines: Engines, name: str) -> Found:
    from paddlespec.backend import OperationFailed
    from paddlespec.capacity.holding import Holding

    try:
        return _of(engines, name)
    except (OperationFailed, Stop) as error:
        lost = Holding("datacenter", name, state=UNREACHABLE, reason=error.message, datacenter=name)
        return [lost], []
