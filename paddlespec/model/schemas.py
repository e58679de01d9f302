"""
The JSON schemas (Draft 2020-12), made from the models.

Four are published: the *source* schema for editors and single files, in which any layer may be
silent and any scalar an expression; the *effective* schema, the gate after merging and
interpolation, which accepts exactly what the model accepts; and the project file's. The fourth is
that of a person's own configuration.
`python -m paddlespec.model.schemas` writes them.
"""

from __future__ import annotations

import json
from typing import Any

from paddlespec.gate import EXPRESSION
from paddlespec.model.config import Config
from paddlespec.model.job import Job
from paddlespec.model.project import Project
from paddlespec.resources import bundled

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
BASE = "https://paddlespec.io/schemas"
_SCALARS = ("string", "integer", "number", "boolean")


def all_schemas() -> dict[str, Schema]:
    """Every published schema by its file name."""
    effective = effective_schema()
    source = source_schema(effective)
    return {
        "paddlejob.effective.v1.json": effective,
        "paddlejob.v1.json": source,
        "paddlespec.v1.json": project_schema(source),
        "paddlespec.config.v1.json": config_schema(),
    }


def effective_schema() -> Schema:
    """What a document must be once all layers are merged; profiles are no part of it."""
    schema = tidy(Job.model_json_schema(by_alias=True))
    return head("paddlejob.effective.v1.json", "PaddleJob (effective)", schema)


def source_schema(effective: Schema) -> Schema:
    """What one file may say: nothing required that a layer may supply, expressions, tombstones."""
    definitions = {name: _open(each) for name, each in effective["$defs"].items()}
    properties = {
        name: each if name == "apiVersion" else _open(each)
        for name, each in effective["properties"].items()
    }
    properties["kind"] = {
        "description": "PaddleJob for a job; Overlay for a file given to --overlay.",
        "enum": ["PaddleJob", "Overlay"],
        "enumDescriptions": ["One training job.", "Values that an --overlay adds to a job."],
        "examples": ["PaddleJob"],
        "type": "string",
    }
    properties["profiles"] = {
        "additionalProperties": {"$ref": "#/$defs/Spec"},
        "description": "Named variants of the spec, chosen with --profile; each of its shape.",
        "examples": [{"smoke": {"trainers": {"replicas": 1}}}],
        "type": ["object", "null"],
    }
    schema = {
        "additionalProperties": False,
        "description": effective["description"],
        "properties": properties,
        "required": ["apiVersion", "kind"],
        "type": "object",
        "$defs": definitions,
    }
    return head("paddlejob.v1.json", "PaddleJob", schema)


def project_schema(source: Schema) -> Schema:
    """The project file; its layers have the shape of a source spec."""
    schema = tidy(Project.model_json_schema(by_alias=True))
    for holder, name in [(schema, "defaults"), (schema["$defs"]["Datacenter"], "spec")]:
        said = {key: holder["properties"][name][key] for key in ("description", "examples")}
        holder["properties"][name] = {"$ref": "#/$defs/Spec", **said}
    schema["$defs"] |= source["$defs"]
    return head("paddlespec.v1.json", "paddlespec project", schema)


def config_schema() -> Schema:
    """A person's own configuration."""
    schema = tidy(Config.model_json_schema(by_alias=True))
    return head("paddlespec.config.v1.json", "paddlespec configuration", schema)


def head(name: str, title: str, schema: Schema) -> Schema:
    """*schema* with the words that say which one it is."""
    return {"$schema": DIALECT, "$id": f"{BASE}/{name}", "title": title, **schema}


def tidy(node: Any) -> Any:
    """Pydantic's schema in the shape that editors and error messages read best."""
    if isinstance(node, list):
        return [tidy(each) for each in node]
    if not isinstance(node, dict):
        return node
    literal = ("default", "examples", "enumDescriptions")
    node = {
        key: value
        if key in literal
        else {name: tidy(each) for name, each in value.items()}
        if key in ("properties", "$defs")
        else tidy(value)
        for key, value in node.items()
        if key != "title" or isinstance(value, dict)
    }
    if "description" in node:
        node["description"] = " ".join(node["description"].split())
    if node.get("additionalProperties") is True:
        del node["additionalProperties"]
    if "const" in node:
        node["enum"] = [node.pop("const")]
    for pattern, values in node.pop("patternProperties", {}).items():
        node["additionalProperties"] = values
        node["propertyNames"] = {"pattern": pattern, **node.get("propertyNames", {})}
    if "$ref" in node and "default" in node:
        node["default"] = {}
    if node.get("default", 0) is None:
        del node["default"]
    if "anyOf" in node:
        node |= _union(node.pop("anyOf"))
    return node


def _union(branches: list[Schema]) -> Schema:
    """
    One schema for a union where JSON Schema allows it.

    Keywords speak of one type each (`minimum` of numbers, `pattern` of strings), so branches with
    different types and no common keyword are one schema with a list of types: then an error is
    reported as itself and not as "matches no branch".
    """
    kinds = [each.get("type") for each in branches]
    if "number" in kinds:
        branches = [each for each in branches if each != {"type": "integer"}]
    plain = [each for each in branches if "$ref" not in each]
    named = [each for each in branches if "$ref" in each]
    merged: Schema = {"type": []}
    for each in plain:
        types = each["type"] if isinstance(each["type"], list) else [each["type"]]
        merged["type"] += types
        if types == ["null"] and "enum" in merged:
            merged["enum"] = [*merged["enum"], None]
        merged |= {key: value for key, value in each.items() if key != "type"}
    if len(merged["type"]) == 1:
        merged["type"] = merged["type"][0]
    return {"anyOf": [merged, *named]} if named else merged


def _open(node: Any) -> Any:
    """A part of the effective schema as one layer may write it."""
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return node
    if "anyOf" in node:
        return {**node, "anyOf": [_open(each) for each in node["anyOf"]]}
    node = {key: value for key, value in node.items() if key != "required"}
    if "properties" in node:
        node["properties"] = {name: _open(each) for name, each in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            node[key] = _open(node[key])
    if "type" not in node:
        return node
    types = node["type"] if isinstance(node["type"], list) else [node["type"]]
    if "enum" in node:
        values = {key: node.pop(key) for key in ("enum", "enumDescriptions") if key in node}
        node.pop("type")
        expression = {"type": ["string", "null"], "pattern": EXPRESSION}
        return {**node, "anyOf": [values | {"type": "string"}, expression]}
    if any(each in _SCALARS for each in types):
        if "string" not in types:
            types = [*types, "string"]
            node["pattern"] = EXPRESSION
        elif "pattern" in node:
            node["pattern"] = f"({node['pattern']})|{EXPRESSION}"
            node.pop("maxLength", None)
    node["type"] = types if "null" in types else [*types, "null"]
    return node


def main() -> None:
    """Write the published schemas."""
    for name, schema in all_schemas().items():
        with open(bundled("schemas", name), "w", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(schema, indent=2) + "\n")


if __name__ == "__main__":
    main()
