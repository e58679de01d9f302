"""
The output of commands with `-o json`: a typed shape for each, from which its JSON schema is made.

mypy checks reports that build plain data against these types; no command imports them at run time.
To add an output, write its shape, name it below, run `python -m paddlespec.shapes` to write the
schemas, run `pytest tests/golden --update-golden`, and add the command to the table in
docs/output.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.shapes import (
    actions,
    capacity,
    changes,
    findings,
    jobs,
    places,
    runs,
)

if TYPE_CHECKING:
    from paddlespec.model.schemas import Schema

OUTPUTS: dict[str, Any] = {
    "validate": findings.Findings,
    "explain": findings.Field,
    "logs": findings.Line,
    "jobs": jobs.Jobs,
    "workers": jobs.Workers,
    "status": jobs.Status,
    "history": runs.History,
    "run": runs.OneRun,
    "diff": changes.Changes,
    "apply": actions.Apply,
    "remove": actions.Remove,
    "plan": changes.Plan,
    "quota": capacity.Quota,
    "queues": capacity.Queues,
    "resources": capacity.Resources,
    "storages": capacity.Storages,
    "registries": places.Registries,
    "config-list": places.Datacenters,
    "config-view": places.Place,
    "config-view-origins": places.PlaceWithOrigins,
    "config-check": places.Checks,
    "version": places.Versions,
}


def all_schemas() -> dict[str, Schema]:
    """Return the schemas of all outputs, keyed by name."""
    return {name: _schema(name, shape) for name, shape in OUTPUTS.items()}


def _schema(name: str, shape: Any) -> Schema:
    from paddlespec.model.schemas import head, tidy

    return head(f"output/{name}.v1.json", f"paddlespec output: {name}", tidy(_described(shape)))


def _described(shape: Any) -> Schema:
    """Return Pydantic's schema, with the descriptions of inherited keys."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(shape).json_schema()
    for base in getattr(shape, "__orig_bases__", ()):
        if getattr(base, "__annotations__", None):
            schema.get("properties", {}).update(_described(base)["properties"])
    return schema
