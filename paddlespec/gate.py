"""
The gate: whether a document has the shape that a schema asks for, and where it has not.

jsonschema-rs decides; every error becomes a diagnostic at the word in question, in the terms of
the spec and not of JSON Schema.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Diagnostic, Path, did_you_mean, dotted
from paddlespec.resources import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema_rs import ValidationError

    from paddlespec.document import Document

SOURCE = "paddlejob.v1.json"
EFFECTIVE = "paddlejob.effective.v1.json"
PROJECT = "paddlespec.v1.json"
EXPRESSION = r"\$\{\{"

_KINDS = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}


class Refusal(NamedTuple):
    """
    What the gate refused.

    `spoiled` are the paths of known fields whose value no check may rely on; `unknown` are keys
    that mean nothing. Both are to be removed before the rest is read.
    """

    diagnostics: list[Diagnostic]
    spoiled: set[Path]
    unknown: set[Path]


@lru_cache
def schema(name: str) -> dict[str, Any]:
    """The published schema of that file name."""
    with open(tree("schemas") / name, encoding="utf-8") as file:
        loaded: dict[str, Any] = json.load(file)
    return loaded


@lru_cache
def _validator(name: str, part: str) -> Any:
    import jsonschema_rs

    whole = schema(name)
    node = {**whole, "$ref": f"#/$defs/{part}"} if part else whole
    if part:
        node = {"$defs": whole["$defs"], "$ref": f"#/$defs/{part}"}
    return jsonschema_rs.Draft202012Validator(node)


def check(document: Document, name: str, part: str = "", at: Path = ()) -> Refusal:
    """
    Hold *document* against the schema *name*, or its definition *part*.

    *at* is where the document stands in the effective one; spans are its own.
    """
    validator = _validator(name, part)
    data = document.data
    if validator.is_valid(data):
        return Refusal([], set(), set())
    diagnostics: list[Diagnostic] = []
    spoiled: set[Path] = set()
    unknown: set[Path] = set()
    for error in validator.iter_errors(data):
        for diagnostic, path in _explain(error, document, schema(name)):
            diagnostics.append(diagnostic._replace(path=(*at, *diagnostic.path)))
            (unknown if diagnostic.code == "unknown-key" else spoiled).add((*at, *path))
    return Refusal(diagnostics, spoiled, unknown)


def _explain(
    error: ValidationError, document: Document, whole: dict[str, Any]
) -> Iterator[tuple[Diagnostic, Path]]:
    """One error of the validator as findings, each with the path that it spoils."""
    path: Path = tuple(error.instance_path)
    value = document.at(path)
    keyword = error.schema_path[-1] if error.schema_path else ""
    node = _node(whole, error)
    if keyword == "additionalProperties":
        known = list(node["properties"])
        for key in value:
            if key not in known:
                hint = did_you_mean(key, known) or _expected_keys(known)
                span = document.locate_key((*path, key))
                yield (
                    Diagnostic("unknown-key", f'unknown key "{key}"', span, (*path, key), hint),
                    (*path, key),
                )
    elif keyword == "required":
        for key in node["required"]:
            if key not in value:
                message = f"{dotted((*path, key))} is missing"
                hint = node["properties"][key].get("description")
                span = document.locate_key(path)
                yield Diagnostic("missing-key", message, span, (*path, key), hint), (*path, key)
    elif "propertyNames" in error.schema_path[-2:]:
        for key in value:
            if not re.match(rf"(?:{node['pattern']})\Z", key) or len(key) > node.get("maxLength", 999):
                message = f'the key "{key}" is not {node["x-expected"]}'
                span = document.locate_key((*path, key))
                yield Diagnostic("format", message, span, (*path, key)), (*path, key)
    elif keyword in ("anyOf", "oneOf"):
        branches = [error.kind.context[index] for index in _likely(node[keyword], value, whole)]
        if len(branches) == 1:
            for inner in branches[0]:
                yield from _explain(inner, document, whole)
        else:
            yield _one(document, path, "type", _found(_types(node, whole), value)), path
    else:
        code, message, hint = _describe(keyword, node, value)
        yield _one(document, path, code, message, hint), path


def _one(
    document: Document, path: Path, code: str, message: str, hint: str | None = None
) -> Diagnostic:
    where = f"{dotted(path)}: " if path else ""
    return Diagnostic(code, where + message, document.locate(path), path, hint)


def _describe(keyword: Any, node: dict[str, Any], value: Any) -> tuple[str, str, str | None]:
    """The code, message and hint of an error that one keyword names."""
    if keyword == "type" or (keyword == "pattern" and node["pattern"] == EXPRESSION):
        message = _found(_types(node, {}), value)
        hint = None
        if isinstance(value, str) and "array" in _types(node, {}):
            hint = "write it as a list: a line that begins with '- '"
        return "type", message, hint
    if keyword == "enum":
        known = [str(each) for each in node["enum"] if each is not None]
        message = f"{_quoted(value)} is not one of {', '.join(known)}"
        return "choice", message, did_you_mean(str(value), known)
    if keyword in ("pattern", "maxLength"):
        expected = node.get("x-expected")
        if expected:
            return "format", f"{_quoted(value)} is not {expected}", None
        return "format", f"{_quoted(value)} is longer than {node.get('maxLength')} characters", None
    if keyword == "minimum":
        return "range", f"{show(value)} is less than {node['minimum']}", None
    if keyword == "maximum":
        return "range", f"{show(value)} is more than {node['maximum']:g}", None
    if keyword in ("minLength", "minItems"):
        return "empty", "must not be empty", None
    return "shape", f"{show(value)} does not fit the schema ({keyword})", None


def _found(types: list[str], value: Any) -> str:
    expected = [_KINDS[each] for each in types if each != "null"]
    if types == ["null"]:
        expected = ["nothing"]
    text = " or ".join(filter(None, [", ".join(expected[:-1]), expected[-1]]))
    return f"expected {text}, found {show(value)}"


def show(value: Any) -> str:
    """A value in a message: what it is and, for scalars, how it reads; never long."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    return f"the text {_quoted(value)}" if isinstance(value, str) else _quoted(value)


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + '…"'


def _expected_keys(known: list[str]) -> str | None:
    return f"expected one of {', '.join(known)}" if len(known) <= 12 else None


def _node(whole: dict[str, Any], error: ValidationError) -> dict[str, Any]:
    """The schema object that holds the failed keyword, with references followed."""
    node: Any = whole
    for part in error.schema_path[:-1]:
        node = node[int(part)] if isinstance(node, list) else node[part]
        while isinstance(node, dict) and "$ref" in node and part not in ("properties", "$defs"):
            node = whole["$defs"][node["$ref"].rpartition("/")[2]]
    return node if isinstance(node, dict) else {}


def _likely(branches: list[dict[str, Any]], value: Any, whole: dict[str, Any]) -> list[int]:
    """The branches of a union that *value* was meant for: those of its type."""
    kind = _kind(value)
    fitting = [
        index
        for index, each in enumerate(branches)
        if kind in _types(each, whole) or (kind == "integer" and "number" in _types(each, whole))
    ]
    choices = [index for index in fitting if "enum" in branches[index]]
    return choices or fitting


def _types(node: dict[str, Any], whole: dict[str, Any]) -> list[str]:
    if "$ref" in node:
        return ["object"]
    if "anyOf" in node:
        return [name for each in node["anyOf"] for name in _types(each, whole)]
    types = node.get("type", [])
    types = types if isinstance(types, list) else [types]
    return [each for each in types if each != "string" or node.get("pattern") != EXPRESSION]


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names[type(value)]
