"""
Write YAML that every parser reads the same way.

The output has the same meaning in YAML 1.1 (kubectl) and 1.2: a string is quoted if either version
could read it as another type. Multi-line strings become block literals where those are exact.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = r"[A-Za-z0-9_./@+=()$,-]+(?::[A-Za-z0-9_./@+=()$,-]+)*"
_SAFE = re.compile(rf"(?=[A-Za-z_/$]){_WORD}(?: {_WORD})*\Z|[0-9]+(?:m|[KMGT]i)\Z")
# A runner of CI takes such lines of a log for commands, so they are written as quoted strings.
_COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)
_RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_LITERAL = re.compile(
    r"[^\s\0-\x1f\x7f-\x9f\u2028\u2029\ufeff]"
    r"[^\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]*\Z"
)


def dump(value: Any) -> str:
    """Write *value* as a YAML document without the `---` marker."""
    out: list[str] = []
    if isinstance(value, (dict, list)) and value:
        _block(value, "", "", out)
    else:
        out.append(_scalar(value) + "\n")
    return "".join(out)


def dump_all(values: Iterable[Any]) -> str:
    """Write several documents, with a `---` marker before every document."""
    return "".join(f"---\n{dump(value)}" for value in values)


def _block(value: Any, indent: str, first: str, out: list[str]) -> None:
    """Write a collection; *first* replaces the indentation of its first line, after a dash."""
    prefix = first or indent
    if isinstance(value, dict):
        for key, member in value.items():
            out.append(f"{prefix}{_scalar(key)}:")
            prefix = indent
            if isinstance(member, dict) and member:
                out.append("\n")
                _block(member, indent + "  ", "", out)
            elif isinstance(member, list) and member:
                out.append("\n")
                _block(member, indent, "", out)
            else:
                out.append(f" {_text(member, indent + '  ')}\n")
        return
    for item in value:
        if isinstance(item, (dict, list)) and item:
            _block(item, indent + "  ", prefix + "- ", out)
        else:
            out.append(f"{prefix}- {_text(item, indent + '  ')}\n")
        prefix = indent


def _text(value: Any, indent: str) -> str:
    if (
        isinstance(value, str)
        and "\n" in value
        and _LITERAL.match(value)
        and not _COMMAND.search(value)
    ):
        body = value.removesuffix("\n")
        if body and not body.endswith("\n"):
            lines = [f"{indent}{line}" if line else "" for line in body.split("\n")]
            return ("|\n" if value.endswith("\n") else "|-\n") + "\n".join(lines)
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _SAFE.match(value) and value.lower() not in _RESERVED:
            return value
        quoted = json.dumps(value, ensure_ascii=False).replace("##[", "\\x23#[")
        return quoted if quoted.isprintable() else "".join(map(_escaped, quoted))
    if value is None:
        return "null"
    return json.dumps(value)


def _escaped(char: str) -> str:
    """Escape a character for double-quoted YAML, which has no surrogate pairs."""
    if char.isprintable():
        return char
    code = ord(char)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
