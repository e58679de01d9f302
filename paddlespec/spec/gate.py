"""
The schema gate: validates documents and explains each error in terms of the spec.

Every error of the validator becomes a diagnostic at the exact position, without the vocabulary of
JSON Schema.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.bundled import text
from paddlespec.diagnostic import (
    Diagnostic,
    Path,
    did_you_mean,
    dotted,
)
from paddlespec.spec.spellings import as_type, native
from paddlespec.validator import compiled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.spec.document import Document
    from paddlespec.validator import Error, Validator

SOURCE = "paddlejob.v1.json"
EFFECTIVE = "paddlejob.effective.v1.json"
PROJECT = "paddlespec.v1.json"
CONFIG = "paddlespec.config.v1.json"
EXPRESSION = r"\$\{\{"

_TYPE_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}
_MAX_PATH_LENGTH = 120
_MAX_VALUE_LENGTH = 60
_DECIMAL_BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGTP])B", re.IGNORECASE)


class Refusal(NamedTuple):
    """
    The parts of a document that the gate rejected.

    `unreadable` holds the paths of known fields with invalid values, `unknown` those of unknown
    keys. Remove both before reading the rest.
    """

    diagnostics: list[Diagnostic]
    unreadable: set[Path]
    unknown: set[Path]


@lru_cache
def schema(name: str) -> dict[str, Any]:
    """Load a published schema by its file name."""
    loaded: dict[str, Any] = json.loads(text("schemas", name))
    return loaded


@lru_cache
def _validator(name: str, part: str, with_names: bool) -> Validator:
    """
    Build the validator; without *with_names* it ignores `propertyNames`.

    jsonschema-rs copies the whole mapping into every such error: thousands take gigabytes.
    """
    node = _part(name, part)
    return compiled(node if with_names else _without_names(node))


def _part(name: str, part: str) -> dict[str, Any]:
    whole = schema(name)
    return {"$defs": whole["$defs"], "$ref": f"#/$defs/{part}"} if part else whole


def _without_names(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_names(sub) for key, sub in node.items() if key != "propertyNames"}
    return [_without_names(item) for item in node] if isinstance(node, list) else node


def check(document: Document, name: str, part: str = "", at: Path = ()) -> Refusal:
    """
    Validate *document* against the schema *name*, or its definition *part*.

    *at* is the path of the document in the effective one; spans refer to the document itself.
    """
    data = document.data
    if _validator(name, part, with_names=True).is_valid(data):
        return Refusal([], set(), set())
    whole = schema(name)
    diagnostics = [
        _invalid_name(document, path, rule)
        for path, rule in _invalid_names(_part(name, part), data, (), whole)
    ]
    for error in _validator(name, part, with_names=False).errors(data):
        diagnostics += _explain(error, document, whole)
    diagnostics = [fault._replace(path=(*at, *fault.path)) for fault in diagnostics]
    unknown = {fault.path for fault in diagnostics if fault.code == "unknown-key"}
    unreadable = {fault.path for fault in diagnostics if fault.code != "unknown-key"}
    return Refusal(diagnostics, unreadable, unknown)


def _invalid_names(
    node: dict[str, Any], value: Any, path: Path, whole: dict[str, Any]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the invalid keys of mappings with free names, and the rule each key breaks."""
    for branch in node.get("anyOf", [node]):
        if "$ref" in branch:
            branch = whole["$defs"][branch["$ref"].rpartition("/")[2]]
        if isinstance(value, dict):
            rule = branch.get("propertyNames")
            properties, others = branch.get("properties", {}), branch.get("additionalProperties")
            for key, member in value.items():
                if rule and not _is_name(key, rule):
                    yield (*path, key), rule
                member_schema = properties.get(key, others)
                if isinstance(member_schema, dict):
                    yield from _invalid_names(member_schema, member, (*path, key), whole)
        elif isinstance(value, list) and "items" in branch:
            for index, item in enumerate(value):
                yield from _invalid_names(branch["items"], item, (*path, index), whole)


def _is_name(key: str, rule: dict[str, Any]) -> bool:
    limit = rule.get("maxLength", len(key))
    return len(key) <= limit and bool(re.match(rf"(?:{rule['pattern']})\Z", key))


def _invalid_name(document: Document, path: Path, rule: dict[str, Any]) -> Diagnostic:
    message = f"invalid {rule['x-kind']} {_quoted(path[-1])}"
    hint = f"use {rule['x-expected']}"
    return Diagnostic("format", message, document.locate_key(path), path, hint)


def _explain(error: Error, document: Document, whole: dict[str, Any]) -> Iterator[Diagnostic]:
    """Turn one error of the validator into diagnostics, each with the path of the invalid value."""
    path, keyword, node = error.path, error.keyword, error.node
    value = document.at(path)
    if path[-1:] == ("replicas",) and isinstance(value, dict) and not value.keys() - {"min", "max"}:
        yield _elastic(document, path, value)
    elif keyword == "additionalProperties":
        known = list(node["properties"])
        for key in error.keys:
            hint = native((*path, key)) or did_you_mean(key, known) or _expected_keys(known)
            span = document.locate_key((*path, key))
            message = f"unknown key {_quoted(key)}"
            yield Diagnostic("unknown-key", message, span, (*path, key), hint)
    elif keyword == "required":
        (key,) = error.keys
        missing = (*path, key)
        description = node["properties"][key].get("description")
        hint = f"add `{key}`: {_first_sentence(description)}" if description else None
        message = f"{_where(missing)} is required"
        yield Diagnostic("missing-key", message, document.locate_key(path), missing, hint)
    elif keyword in ("anyOf", "oneOf"):
        branches = [error.branches[index] for index in _likely(node[keyword], value, whole)]
        if len(branches) == 1:
            for inner in branches[0]:
                yield from _explain(inner, document, whole)
        else:
            message = _type_error(path, _types(node, whole), value)
            yield Diagnostic("type", message, document.locate(path), path)
    elif keyword != "type" or "enum" not in node:  # the `enum` keyword reports the same fault
        code, message, hint = _describe(keyword, node, value, path)
        yield Diagnostic(code, message, document.locate(path), path, hint)


def _elastic(document: Document, path: Path, value: dict[str, Any]) -> Diagnostic:
    """Refuse a range of replicas by name; the schema would only expect an integer."""
    most = value.get("max")
    message = "no target supports elastic jobs: the number of replicas is fixed during a run"
    hint = f"write `replicas: {most if isinstance(most, int) else 2}`"
    return Diagnostic("elastic", message, document.locate(path), path, hint)


def _where(path: Path) -> str:
    text = dotted(path) or "the document"
    return text if len(text) <= _MAX_PATH_LENGTH else text[:_MAX_PATH_LENGTH] + "…"


def _first_sentence(description: str) -> str:
    sentence = re.split(r"[.;](?: |$)", description)[0]
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def _is_secret(path: Path) -> bool:
    """Whether *path* is inside a variable, whose value must not appear in a message."""
    return "env" in path[:-1] and "patches" not in path


def _describe(
    keyword: Any, node: dict[str, Any], value: Any, path: Path
) -> tuple[str, str, str | None]:
    """Return the code, message and hint for the failure of one keyword."""
    where = _where(path)
    is_shown = not (isinstance(value, (dict, list)) or _is_secret(path))
    quoted = f" {_quoted(value)}" if is_shown else ""
    if keyword == "type" or (keyword == "pattern" and node["pattern"] == EXPRESSION):
        types = _types(node, {})
        return "type", _type_error(path, types, value), as_type(types, value)
    if keyword == "enum":
        known = [str(choice) for choice in node["enum"] if choice is not None]
        choices = f"one of {', '.join(known)}" if len(known) > 1 else known[0]
        message = f"invalid value{quoted} for {where}: expected {choices}"
        return "choice", message, did_you_mean(str(value), known)
    if keyword in ("pattern", "maxLength") and "x-expected" in node:
        message = f"invalid {node['x-kind']}{quoted} for {where}"
        hint = _as_quantity(value) if is_shown and node["x-kind"] == "quantity" else None
        return "format", message, f"use {hint or node['x-expected']}"
    if keyword in ("pattern", "maxLength"):
        return "format", f"{where} is longer than {node.get('maxLength')} characters", None
    if keyword == "minimum":
        message = f"invalid value{quoted} for {where}: must be at least {node['minimum']}"
        return "range", message, None
    if keyword == "maximum":
        message = f"invalid value{quoted} for {where}: must be at most {node['maximum']}"
        return "range", message, None
    if keyword in ("minLength", "minItems"):
        return "empty", f"{where} must not be empty", None
    return "shape", f"invalid value{quoted} for {where} (schema keyword: {keyword})", None


def _type_error(path: Path, types: list[str], value: Any) -> str:
    names = [_TYPE_NAMES[name] for name in types if name != "null" or types == ["null"]]
    expected = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    actual = _TYPE_NAMES[_type_of(value)]
    if not (value is None or isinstance(value, (dict, list)) or _is_secret(path)):
        actual = _quoted(value)
    return f"invalid value for {_where(path)}: expected {expected}, got {actual}"


def _as_quantity(value: Any) -> str | None:
    """Suggest quantities for a size such as `4GB`."""
    match = _DECIMAL_BYTES.fullmatch(str(value))
    if match is None:
        return None
    number, unit = match[1], match[2].upper()
    return f"{number}{unit}i, or {number}{unit if unit != 'K' else 'k'}"


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_LENGTH else text[: _MAX_VALUE_LENGTH - 3] + '…"'


def _expected_keys(known: list[str]) -> str | None:
    return f"use one of {', '.join(known)}" if len(known) <= 12 else None


def _likely(branches: list[dict[str, Any]], value: Any, whole: dict[str, Any]) -> list[int]:
    """Return the likely branches of a union for *value*: an enumeration, or those of its type."""
    accepted = {_type_of(value)}
    if accepted == {"integer"}:
        accepted.add("number")
    matches = [
        index
        for index, branch in enumerate(branches)
        if not accepted.isdisjoint(_types(branch, whole))
    ]
    choices = [index for index, branch in enumerate(branches) if "enum" in branch]
    return choices or matches


def _types(node: dict[str, Any], whole: dict[str, Any]) -> list[str]:
    if "$ref" in node:
        return ["object"]
    if "anyOf" in node:
        return [name for branch in node["anyOf"] for name in _types(branch, whole)]
    types = node.get("type", [])
    types = types if isinstance(types, list) else [types]
    return [name for name in types if name != "string" or node.get("pattern") != EXPRESSION]


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names[type(value)]
