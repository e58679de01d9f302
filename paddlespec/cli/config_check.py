"""`config check`: whether a datacenter has what the jobs of a project need there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from paddlespec.cli import listing, options
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.cli.places import Engines
    from paddlespec.cluster.client import Client
    from paddlespec.project import Project
    from paddlespec.shapes.places import CheckState

Name = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="A datacenter; the current one if absent.")
]
_ROLES = ("viewer", "differ", "applier", "operator", "registry")


class Row(NamedTuple):
    """One thing that was looked at."""

    what: str
    name: str
    state: CheckState
    detail: str = ""


def check(
    name: Name = None,
    role: Annotated[
        str,
        typer.Option("--role", metavar="|".join(_ROLES), help="Whose rights: see examples/rbac."),
    ] = "applier",
    output: listing.Form = "table",
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Look whether a datacenter has what jobs need: rights, kinds, queues, storage.

    Nothing is written. Exits with 3 when something is missing.

    \b
    paddlespec config check
    paddlespec config check dc1 --role differ
    """
    from paddlespec.cli.places import Engines
    from paddlespec.report.table import Column, table

    listing.check(output)
    if role not in _ROLES:
        raise Stop(Exit.usage, f"--role {role}: expected one of {', '.join(_ROLES)}")
    with Engines(kubeconfig, context, namespace, None) as engines:
        client, chosen, project = reached(engines, name)
        shared = (project.datacenters if project else {}).get(chosen or "", {})
        defaults = project.document.at(("defaults",)) if project else None
        rows = list(_rows(client, role, shared, defaults or {}))
    columns = (Column("WHAT"), Column("NAME"), Column("STATE"), Column("DETAIL", cut=True))
    listing.show(
        output,
        lambda: {"datacenter": chosen, "checks": [each._asdict() for each in rows]},
        lambda: [f"{each.what}/{each.name}" for each in rows],
        lambda wide, width: table(columns, rows, wide=wide, width=width),
    )
    return Exit.refused if any(each.state == "missing" for each in rows) else Exit.done


def reached(engines: Engines, name: str | None) -> tuple[Client, str | None, Project | None]:
    """The connection to a datacenter, its name, and the project that speaks of it."""
    from paddlespec.cli import connect
    from paddlespec.cli.config_file import the_project
    from paddlespec.cluster.engine import Engine

    project = the_project() if connect.here() else None
    found = connect.place_of(name, project, chosen=engines.context is not None)
    engine = cast("Engine", engines.at(found.context.value, found.namespace.value))
    return engine.client, found.datacenter.value, project


def _rows(
    client: Client, role: str, shared: dict[str, Any], defaults: dict[str, Any]
) -> Iterator[Row]:
    from paddlespec.cluster import rights, terrain

    yield Row("server", "kubernetes", "ok", f"{client.server_version()} at {client.host}")
    lacking = rights.lacking(client, rights.needed(role))
    verbs: dict[str, list[str]] = {}
    for each in lacking:
        verbs.setdefault(each.resource, []).append(each.verb)
    if not lacking:
        count = len(rights.needed(role))
        yield Row("rights", role, "ok", f"all {count} in namespace {client.namespace}")
    for resource, words in verbs.items():
        yield Row("rights", resource, "missing", f"may not {', '.join(words)}")
    for each in rights.lacking(client, rights.optional(role)):
        yield Row("rights", each.resource, "absent", f"may not {each.verb}, and need not")
    layers = (defaults, shared.get("spec") or {})
    needed = {_of(each, "target") for each in layers}
    needed |= {_of(each.get("scheduling"), "scheduler") for each in layers}
    for name, version in terrain.installed(client).items():
        state: CheckState = "ok" if version else "missing" if name in needed else "absent"
        detail = version or ("jobs here need it" if name in needed else "no job here needs it")
        yield Row("kind", name, state, detail)
    yield from _queues(client, shared)
    yield from _storages(client, shared)


def _queues(client: Client, shared: dict[str, Any]) -> Iterator[Row]:
    from paddlespec.backend import OperationFailed
    from paddlespec.cluster import terrain

    wanted = shared.get("queues") or {}
    found = terrain.allowed(lambda: terrain.queues(client)) if wanted else []
    for name, queue in wanted.items():
        if isinstance(found, OperationFailed):
            yield Row("queue", name, "unknown", found.message)
        else:
            told = queue if queue in found else f"there is no queue {queue}"
            yield Row("queue", name, "ok" if queue in found else "missing", told)


def _storages(client: Client, shared: dict[str, Any]) -> Iterator[Row]:
    from paddlespec.backend import OperationFailed
    from paddlespec.cluster import terrain

    wanted = shared.get("storages") or {}
    claimed = {name: each["claim"] for name, each in wanted.items() if each.get("claim")}
    found = terrain.allowed(lambda: terrain.claims(client)) if claimed else {}
    for name, claim in claimed.items():
        if isinstance(found, OperationFailed):
            yield Row("storage", name, "unknown", found.message)
        elif claim not in found:
            yield Row("storage", name, "missing", f"there is no claim {claim}")
        else:
            yield Row("storage", name, "ok", f"claim {claim}, {found[claim]['phase']}")


def _of(values: Any, key: str) -> str | None:
    found = values.get(key) if isinstance(values, dict) else None
    return found if isinstance(found, str) else None
