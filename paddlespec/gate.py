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
from paddlespec.resources import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema_rs import ValidationError

    from paddlespec.document import Document

SOURCE = "paddlejob.v1.json"
EFFECTIVE = "paddlejob.effective.v1.json"
PROJECT = "paddlespec.v1.json"
CONFIG = "paddlespec.config.v1.json"
EXPRESSION = r"\$\{\{"

_KINDS = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}
_LONGEST_PATH = 120


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
    loaded: dict[str, Any] = json.loads(text("schemas", name))
    return loaded


@lru_cache
def _validator(name: str, part: str, names: bool) -> Any:
    """
    What decides; without *names* it is silent about the names in mappings.

    Each such error of jsonschema-rs holds a copy of the mapping: thousands take gigabytes.
    """
    import jsonschema_rs

    node = _part(name, part)
    return jsonschema_rs.Draft202012Validator(node if names else _nameless(node))


def _part(name: str, part: str) -> dict[str, Any]:
    whole = schema(name)
    return {"$defs": whole["$defs"], "$ref": f"#/$defs/{part}"} if part else whole


def _nameless(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _nameless(each) for key, each in node.items() if key != "propertyNames"}
    return [_nameless(each) for each in node] if isinstance(node, list) else node


def check(document: Document, name: str, part: str = "", at: Path = ()) -> Refusal:
    """
    Hold *document* against the schema *name*, or its definition *part*.

    *at* is where the document stands in the effective one; spans are its own.
    """
    data = document.data
    if _validator(name, part, names=True).is_valid(data):
        return Refusal([], set(), set())
    whole = schema(name)
    found = [_misnamed(document, *each) for each in _names(_part(name, part), data, (), whole)]
    for error in _validator(name, part, names=False).iter_errors(data):
        found += _explain(error, document, whole)
    diagnostics = [each._replace(path=(*at, *each.path)) for each in found]
    unknown = {each.path for each in diagnostics if each.code == "unknown-key"}
    spoiled = {each.path for each in diagnostics if each.code != "unknown-key"}
    return Refusal(diagnostics, spoiled, unknown)


def _names(
    node: dict[str, Any], value: Any, path: Path, whole: dict[str, Any]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The keys in mappings with free names that are no names, and what names are there."""
    for branch in node.get("anyOf", [node]):
        if "$ref" in branch:
            branch = whole["$defs"][branch["$ref"].rpartition("/")[2]]
        if isinstance(value, dict):
            rule = branch.get("propertyNames")
            properties, others = branch.get("properties", {}), branch.get("additionalProperties")
            for key, each in value.items():
                if rule and not _is_name(key, rule):
                    yield (*path, key), rule
                member = properties.get(key, others)
                if isinstance(member, dict):
                    yield from _names(member, each, (*path, key), whole)
        elif isinstance(value, list) and "items" in branch:
            for index, each in enumerate(value):
                yield from _names(branch["items"], each, (*path, index), whole)


def _is_name(key: str, rule: dict[str, Any]) -> bool:
    longest = rule.get("maxLength", len(key))
    return len(key) <= longest and bool(re.match(rf"(?:{rule['pattern']})\Z", key))


def _misnamed(document: Document, path: Path, rule: dict[str, Any]) -> Diagnostic:
    message = f"the key {_quoted(path[-1])} is not {rule['x-expected']}"
    return Diagnostic("format", message, document.locate_key(path), path)


def _explain(
    error: ValidationError, document: Document, whole: dict[str, Any]
) -> Iterator[Diagnostic]:
    """One error of the validator as findings; the path of each is what it spoils."""
    path: Path = tuple(error.instance_path)
    value = document.at(path)
    keyword = error.schema_path[-1] if error.schema_path else ""
    kind: Any = error.kind
    node = _node(whole, error)
    if keyword == "additionalProperties":
        known = list(node["properties"])
        for key in kind.unexpected:
            hint = did_you_mean(key, known) or _expected_keys(known)
            span = document.locate_key((*path, key))
            message = f"unknown key {_quoted(key)}"
            yield Diagnostic("unknown-key", message, span, (*path, key), hint)
    elif keyword == "required":
        missing = (*path, kind.property)
        hint = node["properties"][kind.property].get("description")
        message = f"{_where(missing)} is missing"
        yield Diagnostic("missing-key", message, document.locate_key(path), missing, hint)
    elif keyword in ("anyOf", "oneOf"):
        branches = [kind.context[index] for index in _likely(node[keyword], value, whole)]
        if len(branches) == 1:
            for inner in branches[0]:
                yield from _explain(inner, document, whole)
        else:
            yield _one(document, path, "type", _found(_types(node, whole), _shown(path, value)))
    elif keyword != "type" or "enum" not in node:  # what is no choice has its own finding
        yield _one(document, path, *_describe(keyword, node, value, path))


def _one(
    document: Document, path: Path, code: str, message: str, hint: str | None = None
) -> Diagnostic:
    where = f"{_where(path)}: " if path else ""
    return Diagnostic(code, where + message, document.locate(path), path, hint)


def _where(path: Path) -> str:
    text = dotted(path)
    return text if len(text) <= _LONGEST_PATH else text[:_LONGEST_PATH] + "…"


def _is_secret(path: Path) -> bool:
    """Whether *path* is in a variable, whose value no message may tell."""
    return "env" in path[:-1] and "patches" not in path


def _shown(path: Path, value: Any) -> str:
    return _KINDS[_kind(value)] if _is_secret(path) else show(value)


def _describe(
    keyword: Any, node: dict[str, Any], value: Any, path: Path
) -> tuple[str, str, str | None]:
    """The code, message and hint of an error that one keyword names."""
    word = show(value) if isinstance(value, (dict, list)) else _quoted(value)
    word = "the value" if _is_secret(path) else word
    if keyword == "type" or (keyword == "pattern" and node["pattern"] == EXPRESSION):
        types = _types(node, {})
        hint = None
        if isinstance(value, str) and "array" in types:
            hint = "write it as a list: a line that begins with '- '"
        return "type", _found(types, _shown(path, value)), hint
    if keyword == "enum":
        known = [str(each) for each in node["enum"] if each is not None]
        return "choice", f"{word} is not one of {', '.join(known)}", did_you_mean(str(value), known)
    if keyword in ("pattern", "maxLength"):
        expected = node.get("x-expected")
        if expected:
            return "format", f"{word} is not {expected}", None
        return "format", f"{word} is longer than {node.get('maxLength')} characters", None
    if keyword == "minimum":
        return "range", f"{word} is less than {node['minimum']}", None
    if keyword == "maximum":
        return "range", f"{word} is more than {node['maximum']}", None
    if keyword in ("minLength", "minItems"):
        return "empty", "must not be empty", None
    return "shape", f"{_shown(path, value)} does not fit the schema ({keyword})", None


def _found(types: list[str], found: str) -> str:
    expected = [_KINDS[each] for each in types if each != "null" or types == ["null"]]
    text = " or ".join(filter(None, [", ".join(expected[:-1]), expected[-1]]))
    return f"expected {text}, found {found}"


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
    """The branches of a union that *value* was meant for: a choice, else those of its type."""
    kind = _kind(value)
    fitting = [
        index
        for index, each in enumerate(branches)
        if kind in _types(each, whole) or (kind == "integer" and "number" in _types(each, whole))
    ]
    choices = [index for index, each in enumerate(branches) if "enum" in each]
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
