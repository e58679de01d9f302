"""
Generate the JSON schemas (Draft 2020-12) from the models.

Four schemas are published. The *source* schema is for editors and single files: no field is
required, and any scalar may be an expression. The *effective* schema validates documents after
merging and interpolation and accepts exactly what the models accept. The other two describe the
project file and the user configuration. `python -m paddlespec.model.schemas` writes all of them.
"""

from __future__ import annotations

import json
from typing import Any

from paddlespec.bundled import bundled
from paddlespec.model.config import Config
from paddlespec.model.job import Job
from paddlespec.model.project import Project
from paddlespec.spec.gate import EXPRESSION

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
BASE = "https://paddlespec.io/schemas"
_SCALARS = ("string", "integer", "number", "boolean")


def all_schemas() -> dict[str, Schema]:
    """Return the published schemas by file name."""
    effective = effective_schema()
    source = source_schema(effective)
    return {
        "paddlejob.effective.v1.json": effective,
        "paddlejob.v1.json": source,
        "paddlespec.v1.json": project_schema(source),
        "paddlespec.config.v1.json": config_schema(),
    }


def effective_schema() -> Schema:
    """Return the schema of a document with all layers merged, without profiles."""
    schema = tidy(Job.model_json_schema(by_alias=True))
    return head("paddlejob.effective.v1.json", "PaddleJob (effective)", schema)


def source_schema(effective: Schema) -> Schema:
    """Return the schema of one file: optional fields, expressions, and null to unset a field."""
    definitions = {name: _open(node) for name, node in effective["$defs"].items()}
    properties = {
        name: node if name == "apiVersion" else _open(node)
        for name, node in effective["properties"].items()
    }
    properties["kind"] = {
        "description": "PaddleJob for a job, Overlay for a file passed to --overlay.",
        "enum": ["PaddleJob", "Overlay"],
        "enumDescriptions": ["One training job.", "Spec fields that --overlay adds to a job."],
        "examples": ["PaddleJob"],
        "type": "string",
    }
    properties["profiles"] = {
        "additionalProperties": {"$ref": "#/$defs/Spec"},
        "description": "Named variants with the fields of `spec`, selected with --profile.",
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
    """Return the schema of the project file, whose layers have the fields of a source spec."""
    schema = tidy(Project.model_json_schema(by_alias=True))
    for parent, name in [(schema, "defaults"), (schema["$defs"]["Datacenter"], "spec")]:
        docs = {key: parent["properties"][name][key] for key in ("description", "examples")}
        parent["properties"][name] = {"$ref": "#/$defs/Spec", **docs}
    schema["$defs"] |= source["$defs"]
    return head("paddlespec.v1.json", "paddlespec project", schema)


def config_schema() -> Schema:
    """Return the schema of the user configuration."""
    schema = tidy(Config.model_json_schema(by_alias=True))
    return head("paddlespec.config.v1.json", "paddlespec configuration", schema)


def head(name: str, title: str, schema: Schema) -> Schema:
    """Add the keywords that identify *schema*."""
    return {"$schema": DIALECT, "$id": f"{BASE}/{name}", "title": title, **schema}


def tidy(node: Any) -> Any:
    """Simplify pydantic's schema for editors and error messages."""
    if isinstance(node, list):
        return [tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    literal = ("default", "examples", "enumDescriptions")
    node = {
        key: value
        if key in literal
        else {name: tidy(sub) for name, sub in value.items()}
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
        if None in node.get("enum", ()) and "enumDescriptions" in node:
            node["enumDescriptions"] = [*node["enumDescriptions"], "Unset."]
    return node


def _union(branches: list[Schema]) -> Schema:
    """
    Merge the branches of a union into one schema where JSON Schema allows it.

    A keyword applies to one type (`minimum` to numbers, `pattern` to strings), so branches with
    different types and no common keyword become one schema with a list of types. The validator
    then reports the actual error instead of "matches no branch".
    """
    kinds = [branch.get("type") for branch in branches]
    if "number" in kinds:
        branches = [branch for branch in branches if branch != {"type": "integer"}]
    plain = [branch for branch in branches if "$ref" not in branch]
    named = [branch for branch in branches if "$ref" in branch]
    merged: Schema = {"type": []}
    for branch in plain:
        types = branch["type"] if isinstance(branch["type"], list) else [branch["type"]]
        merged["type"] += types
        if types == ["null"] and "enum" in merged:
            merged["enum"] = [*merged["enum"], None]
        merged |= {key: value for key, value in branch.items() if key != "type"}
    if len(merged["type"]) == 1:
        merged["type"] = merged["type"][0]
    return {"anyOf": [merged, *named]} if named else merged


def _open(node: Any) -> Any:
    """Relax a part of the effective schema for a single layer."""
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return node
    if "anyOf" in node:
        return {**node, "anyOf": [_open(branch) for branch in node["anyOf"]]}
    node = {key: value for key, value in node.items() if key != "required"}
    if "properties" in node:
        node["properties"] = {name: _open(sub) for name, sub in node["properties"].items()}
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
    if any(name in _SCALARS for name in types):
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
