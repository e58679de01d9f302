"""
The fields that the Kubernetes API takes, as JSON schemas: `python -m api_schema` writes them.

They come from the API server of the cluster tests, and from the definition of JobSet: without
descriptions, defaults and what servers alone write. `shape` adds what a quantity is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from control_plane import ensure_built, started
from control_plane.extensions import definitions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from control_plane import ControlPlane

Schema = dict[str, Any]

FILE = Path(__file__).parents[2] / "paddlespec" / "render" / "kubernetes.json"
GROUPS = {
    "/openapi/v3/api/v1": ("v1", ("ConfigMap", "PersistentVolumeClaim", "Service")),
    "/openapi/v3/apis/apps/v1": ("apps/v1", ("StatefulSet",)),
    "/openapi/v3/apis/batch/v1": ("batch/v1", ("Job",)),
}
WRITTEN_BY_SERVERS = ("status", "managedFields")
# Definitions repeat whole pods; what is shorter than this is not worth a name.
SHORTEST_SHARED = 120
QUANTITY = {"$ref": "#/$defs/quantity"}
ANY: Schema = {}


def published(plane: ControlPlane) -> Schema:
    """Return the kinds that patches can touch, by `apiVersion kind`, and what they share."""
    known: dict[str, Schema] = {}
    kinds: dict[str, Schema] = {}
    for path, (version, names) in GROUPS.items():
        schemas = plane.request("GET", path)["components"]["schemas"]
        for name in names:
            group, _, number = version.rpartition("/")
            key = f"io.k8s.api.{group or 'core'}.{number}.{name}"
            kinds[f"{version} {name}"] = _node(schemas[key], schemas, known)
    (definition,) = definitions("jobset")
    (served,) = definition["spec"]["versions"]
    jobset = _node(served["schema"]["openAPIV3Schema"], {}, known)
    jobset["properties"]["metadata"] = {"$ref": "#/$defs/ObjectMeta"}
    kinds[
        f"{definition['spec']['group']}/{served['name']} {definition['spec']['names']['kind']}"
    ] = _shared(jobset, known)
    version = plane.request("GET", "/version")
    return {
        "version": f"{version['major']}.{version['minor']}",
        "kinds": kinds,
        "$defs": dict(sorted(known.items())),
    }


def _node(node: Schema, schemas: dict[str, Schema], known: dict[str, Schema]) -> Schema:
    """Return what *node* says about types, with the definitions it refers to in *known*."""
    if "allOf" in node:
        (node,) = node["allOf"]
    if "$ref" in node:
        return _definition(node["$ref"].rpartition("/")[2], schemas, known)
    if node.get("x-kubernetes-preserve-unknown-fields"):
        return ANY
    if node.get("x-kubernetes-int-or-string"):
        return QUANTITY if "pattern" in node else _typed("integer", "string")
    kind = node.get("type")
    if kind == "array":
        return {**_typed("array"), "items": _node(node["items"], schemas, known)}
    if kind == "object" and "properties" in node:
        properties = {
            name: _node(value, schemas, known)
            for name, value in sorted(node["properties"].items())
            if name not in WRITTEN_BY_SERVERS
        }
        properties |= {name: ANY for name in WRITTEN_BY_SERVERS if name in node["properties"]}
        required = {"required": node["required"]} if "required" in node else {}
        return {
            **_typed("object"),
            "properties": properties,
            "additionalProperties": False,
            **required,
        }
    if kind == "object" and "additionalProperties" in node:
        values = _node(node["additionalProperties"], schemas, known)
        return {**_typed("object"), "additionalProperties": values}
    if kind is None or kind == "object":
        return ANY
    # The API takes an empty text for an absent one.
    choices = {"enum": [*node["enum"], "", None]} if "enum" in node else {}
    return {**_typed(kind), **choices}


def _typed(*names: str) -> Schema:
    return {"type": [*names, "null"]}


def _definition(name: str, schemas: dict[str, Schema], known: dict[str, Schema]) -> Schema:
    short = name.rpartition(".")[2]
    if short == "Quantity":
        return QUANTITY
    if short == "IntOrString":
        return _typed("integer", "string")
    if "properties" not in schemas[name]:
        return _node(schemas[name], schemas, known)
    if short not in known:
        known[short] = {}
        known[short] = _node(schemas[name], schemas, known)
    return {"$ref": f"#/$defs/{short}"}


def _shared(whole: Schema, known: dict[str, Schema]) -> Schema:
    """Name the parts of *whole* that repeat, or that definitions in *known* hold already."""
    texts = {json.dumps(value, sort_keys=True): name for name, value in known.items() if value}
    counts: dict[str, int] = {}
    before = len(known)
    for node in _nodes(whole):
        text = json.dumps(node, sort_keys=True)
        counts[text] = counts.get(text, 0) + 1

    def replaced(node: Any) -> Any:
        if isinstance(node, list):
            return [replaced(item) for item in node]
        if not isinstance(node, dict):
            return node
        text = json.dumps(node, sort_keys=True)
        inner = {key: replaced(value) for key, value in node.items()}
        is_type = isinstance(node.get("type"), list)
        if not is_type or len(text) < SHORTEST_SHARED or (counts[text] < 2 and text not in texts):
            return inner
        if text not in texts:
            texts[text] = f"jobset{len(known) - before}"
            known[texts[text]] = inner
        return {"$ref": f"#/$defs/{texts[text]}"}

    result: Schema = replaced(whole)
    return result


def _nodes(node: Any) -> Iterator[Schema]:
    if isinstance(node, dict):
        yield node
    for value in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from _nodes(value)


def text_of(schema: Schema) -> str:
    """Return *schema* with one definition a line, which makes changes readable."""

    def lines(values: dict[str, Schema]) -> str:
        shown = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
        return "{\n    " + ",\n    ".join(shown) + "\n  }"

    version = json.dumps(schema["version"])
    kinds, shared = lines(schema["kinds"]), lines(schema["$defs"])
    return f'{{\n  "version": {version},\n  "kinds": {kinds},\n  "$defs": {shared}\n}}\n'


def main() -> None:
    """Write the schemas that are installed with the program."""
    with started(ensure_built()) as plane:
        FILE.write_text(text_of(published(plane)), encoding="utf-8")


if __name__ == "__main__":
    main()
