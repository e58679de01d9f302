"""The connection to a cluster for commands that look at a place and not at a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.capacity.line import Unknown
    from paddlespec.cli.places import Engines
    from paddlespec.cluster.client import Client

Datacenter = Annotated[
    str | None,
    typer.Option("--datacenter", metavar="NAME", help="A datacenter of the project, or one's own."),
]
Everywhere = Annotated[bool, typer.Option("-A", "--all-namespaces", help="Of every namespace.")]


def client(engines: Engines, datacenter: str | None = None) -> Client:
    """To the datacenter that is named, else where kubectl or the current datacenter goes."""
    from paddlespec.cli.config_check import reached
    from paddlespec.cluster.engine import Engine

    if datacenter is not None:
        return reached(engines, datacenter)[0]
    return cast("Engine", engines.at(None)).client


def space(client: Client, namespace: str | None, *, everywhere: bool) -> str:
    """The namespace to look into; empty for all of them."""
    if everywhere and namespace:
        raise Stop(Exit.usage, f"-A means every namespace, and -n {namespace} one of them")
    return "" if everywhere else client.namespace


def tell(unknown: Sequence[Unknown]) -> None:
    """Say what one may not look at."""
    from paddlespec.cli.tell import note

    for each in dict.fromkeys(unknown):
        note(f"{each.what}: unknown: {each.reason}")
