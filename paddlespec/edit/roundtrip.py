"""The same edit through ruamel.yaml: keeps comments, but not every blank and indentation."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.edit.splice import Action
    from paddlespec.edit.writer import Style

_WIDEST = 1 << 20


def rewrite(
    text: str, document: int, path: Path, action: Action, wanted: Any, style: Style
) -> str | None:
    """
    *text* with one value changed, or nothing where ruamel.yaml cannot read or write it.

    Whatever it raises, the answer is the same: the caller refuses the edit.
    """
    from ruamel.yaml import YAML

    yaml: Any = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = _WIDEST
    yaml.line_break = style.newline
    offset = style.list_step
    yaml.indent(mapping=style.step, sequence=offset + 2, offset=offset)
    out = io.StringIO(newline="")
    try:
        documents = list(yaml.load_all(text)) or [None]
        documents[document] = _changed(documents[document], path, action, wanted)
        yaml.dump_all(documents, out)
    except Exception:  # noqa: BLE001 - a library's limits are not the user's fault
        return None
    return out.getvalue()


def _changed(data: Any, path: Path, action: Action, wanted: Any) -> Any:
    """*data* with the value at *path* as in *wanted*; a missing parent comes with all below it."""
    if not path or not _holds(data, path[0]):
        if isinstance(data, dict) and path:
            data[path[0]] = wanted[path[0]]
            return data
        return wanted
    if len(path) == 1 and action == "remove":
        del data[path[0]]
    else:
        data[path[0]] = _changed(data[path[0]], path[1:], action, wanted[path[0]])
    return data


def _holds(data: Any, part: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, dict) and part in data
