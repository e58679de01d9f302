"""Edit with ruamel.yaml, which keeps comments, but not all spaces and indentation."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.spec.edit.splice import Action
    from paddlespec.spec.edit.writer import Style

_MAX_WIDTH = 1 << 20


def rewrite(
    text: str, document: int, path: Path, action: Action, expected: Any, style: Style
) -> str | None:
    """
    Change one value of *text*; returns None if ruamel.yaml cannot read or write it.

    Its exceptions are not distinguished: in every case the caller rejects the edit.
    """
    from ruamel.yaml import YAML

    yaml: Any = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = _MAX_WIDTH
    yaml.line_break = style.newline
    offset = style.list_step
    yaml.indent(mapping=style.step, sequence=offset + 2, offset=offset)
    out = io.StringIO(newline="")
    try:
        documents = list(yaml.load_all(text)) or [None]
        documents[document] = _changed(documents[document], path, action, expected)
        yaml.dump_all(documents, out)
    except Exception:  # noqa: BLE001 - limits of the library are not user errors
        return None
    return out.getvalue()


def _changed(data: Any, path: Path, action: Action, expected: Any) -> Any:
    """Set the value at *path* to that in *expected*; a missing parent is added as a whole."""
    if not path or not _holds(data, path[0]):
        if isinstance(data, dict) and path:
            data[path[0]] = expected[path[0]]
            return data
        return expected
    if len(path) == 1 and action == "remove":
        del data[path[0]]
    else:
        data[path[0]] = _changed(data[path[0]], path[1:], action, expected[path[0]])
    return data


def _holds(data: Any, part: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, dict) and part in data
