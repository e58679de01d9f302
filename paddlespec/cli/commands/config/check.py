"""`config check`: whether a datacenter has what the jobs of a project need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from paddlespec.cli.shared import datacenters, listing, options
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.values import one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.backends.capabilities import Features
    from paddlespec.shapes.places import CheckState

_ROLES = ("viewer", "differ", "applier", "operator", "registry")


class Row(NamedTuple):
    """One thing that was checked."""

    what: str
    name: str
    state: CheckState
    detail: str = ""


def check(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Name of a datacenter [default: the current one]."),
    ] = None,
    *,
    role: Annotated[
        str,
        typer.Option(
            "--role",
            metavar="|".join(_ROLES),
            help="Check the rights of this role of examples/rbac.",
        ),
    ] = "applier",
    output: listing.Form = "table",
    cluster: options.Cluster,
) -> int:
    """
    Check whether a datacenter has what jobs need.

    Looks at your rights, kinds, queues and storage; changes nothing. Exits with 3 if something is
    missing.

    \b
    paddlespec config check
    paddlespec config check dc1 --role differ
    """
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.report.table import Column, table

    listing.check(output)
    one_of("--role", role, _ROLES)
    with Engines(cluster.request()) as engines:
        engine, chosen = engines.of_connection(name)
        features = needed(engine.capabilities.features, engine, "config check")
        project = datacenters.valid_project()
        shared = (project.datacenters if project else {}).get(chosen or "", {})
        defaults = project.document.at(("defaults",)) if project else None
        found = list(_rows(features, role, engine.namespace, shared, defaults or {}))
    columns = (Column("WHAT"), Column("NAME"), Column("STATE"), Column("DETAIL", cut=True))
    shown = listing.Listing(
        lambda: {"datacenter": chosen, "checks": [row._asdict() for row in found]},
        lambda: [f"{row.what}/{row.name}" for row in found],
        lambda wide, width: table(columns, found, wide=wide, width=width),
    )
    listing.show(output, shown)
    return Exit.refused if any(row.state == "missing" for row in found) else Exit.done


def _rows(
    features: Features, role: str, namespace: str, shared: dict[str, Any], defaults: dict[str, Any]
) -> Iterator[Row]:
    server = features.server()
    yield Row("server", "kubernetes", "ok", f"{server.version} at {server.address}")
    yield from _rights(features, role, namespace)
    layers = (defaults, shared.get("spec") or {})
    needed = {_text(layer, "target") for layer in layers}
    needed |= {_text(layer.get("scheduling"), "scheduler") for layer in layers}
    for name, version in features.extensions().items():
        state: CheckState = "ok" if version else "missing" if name in needed else "absent"
        detail = version or ("jobs here need it" if name in needed else "no job here needs it")
        yield Row("kind", name, state, detail)
    yield from _queues(features, shared.get("queues") or {})
    yield from _storages(features, shared.get("storages") or {})


def _rights(features: Features, role: str, namespace: str) -> Iterator[Row]:
    rights = features.rights(role)
    if not rights.missing:
        yield Row("rights", role, "ok", f"all {rights.needed} in namespace {namespace}")
    verbs: dict[str, list[str]] = {}
    for right in rights.missing:
        verbs.setdefault(right.resource, []).append(right.verb)
    for resource, words in verbs.items():
        yield Row("rights", resource, "missing", f"may not {', '.join(words)}")
    for right in rights.missing_optional:
        yield Row("rights", right.resource, "absent", f"may not {right.verb} (optional)")


def _queues(features: Features, named: dict[str, str]) -> Iterator[Row]:
    from paddlespec.runs.failures import OperationFailed

    known = features.queues() if named else []
    for name, queue in named.items():
        if isinstance(known, OperationFailed):
            yield Row("queue", name, "unknown", known.message)
        elif queue in known:
            yield Row("queue", name, "ok", queue)
        else:
            yield Row("queue", name, "missing", f"queue {queue} does not exist")


def _storages(features: Features, named: dict[str, dict[str, Any]]) -> Iterator[Row]:
    from paddlespec.runs.failures import OperationFailed

    claimed = {name: storage["claim"] for name, storage in named.items() if storage.get("claim")}
    known = features.claims() if claimed else {}
    for name, claim in claimed.items():
        if isinstance(known, OperationFailed):
            yield Row("storage", name, "unknown", known.message)
        elif claim in known:
            yield Row("storage", name, "ok", f"claim {claim}, {known[claim]['phase']}")
        else:
            yield Row("storage", name, "missing", f"claim {claim} does not exist")


def _text(values: Any, key: str) -> str | None:
    found = values.get(key) if isinstance(values, dict) else None
    return found if isinstance(found, str) else None
