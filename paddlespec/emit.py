"""
Writing YAML that every reader takes the same way.

The output reads equal under YAML 1.1 (kubectl) and 1.2: what either could take for something else
than text is quoted. Texts of several lines are block literals where these hold them exactly.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = r"[A-Za-z0-9_./@+=()$,-]+(?::[A-Za-z0-9_./@+=()$,-]+)*"
_SAFE = re.compile(rf"(?=[A-Za-z_/$]){_WORD}(?: {_WORD})*\Z|[0-9]+(?:m|[KMGT]i)\Z")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_LITERAL = re.compile(
    r"[^\s\0-\x1f\x7f-\x9f\u2028\u2029\ufeff]"
    r"[^\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]*\Z"
)


def dump(value: Any) -> str:
    """*value* as a YAML document without its marker."""
    out: list[str] = []
    if isinstance(value, (dict, list)) and value:
        _block(value, "", "", out)
    else:
        out.append(_scalar(value) + "\n")
    return "".join(out)


def dump_all(values: Iterable[Any]) -> str:
    """Several documents, each behind its marker."""
    return "".join(f"---\n{dump(each)}" for each in values)


def _block(value: Any, indent: str, first: str, out: list[str]) -> None:
    """Write a collection; *first* stands before its first line, which may follow a dash."""
    prefix = first or indent
    if isinstance(value, dict):
        for key, each in value.items():
            out.append(f"{prefix}{_scalar(key)}:")
            prefix = indent
            if isinstance(each, dict) and each:
                out.append("\n")
                _block(each, indent + "  ", "", out)
            elif isinstance(each, list) and each:
                out.append("\n")
                _block(each, indent, "", out)
            else:
                out.append(f" {_text(each, indent + '  ')}\n")
        return
    for each in value:
        if isinstance(each, (dict, list)) and each:
            _block(each, indent + "  ", prefix + "- ", out)
        else:
            out.append(f"{prefix}- {_text(each, indent + '  ')}\n")
        prefix = indent


def _text(value: Any, indent: str) -> str:
    if isinstance(value, str) and "\n" in value and _LITERAL.match(value):
        body = value.removesuffix("\n")
        if body and not body.endswith("\n"):
            lines = [f"{indent}{line}" if line else "" for line in body.split("\n")]
            return ("|\n" if value.endswith("\n") else "|-\n") + "\n".join(lines)
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _SAFE.match(value) and value.lower() not in _WORDS:
            return value
        quoted = json.dumps(value, ensure_ascii=False)
        return quoted if quoted.isprintable() else "".join(map(_escaped, quoted))
    if value is None:
        return "null"
    return json.dumps(value)


def _escaped(char: str) -> str:
    """A character as double-quoted YAML may hold it; JSON's surrogate pairs mean nothing there."""
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
