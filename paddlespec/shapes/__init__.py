"""
What commands print with `-o json`: one typed shape for each, from which its JSON schema is made.

Reports that build plain data are checked against these types by mypy; nothing imports them when a
command runs. `python -m paddlespec.shapes` writes the schemas. How to add an output: write its
shape, name it below, run that, then `pytest tests/golden --update-golden`, and add
its command to the table of docs/output.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.shapes import capacity, changes, findings, jobs, places, runs

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
    """Every schema of an output by its name."""
    return {name: _schema(name, shape) for name, shape in OUTPUTS.items()}


def _schema(name: str, shape: Any) -> Schema:
    from paddlespec.model.schemas import head, tidy

    return head(f"output/{name}.v1.json", f"paddlespec output: {name}", tidy(_described(shape)))


def _described(shape: Any) -> Schema:
    """Pydantic's schema; what it says of inherited keys stands in the shape that has them."""
    from pydantic import TypeAdapter

    found = TypeAdapter(shape).json_schema()
    for base in getattr(shape, "__orig_bases__", ()):
        if getattr(base, "__annotations__", None):
            found.get("properties", {}).update(_described(base)["properties"])
    return found
