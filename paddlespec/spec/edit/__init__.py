"""
Edit a spec in place; comments, order, quotes, line breaks and spaces are kept.

The text is spliced and parsed again. The result is accepted only if its data equals that of the
same `--update`. If splicing fails, ruamel.yaml writes the document, subject to the same test.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import (
    Diagnostic,
    InvalidSpec,
    Path,
    Span,
    did_you_mean,
)
from paddlespec.spec import gate, source, update
from paddlespec.spec.edit.nodes import roots
from paddlespec.spec.edit.splice import splice
from paddlespec.spec.edit.writer import style_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.spec.document import Document
    from paddlespec.spec.edit.splice import Action
    from paddlespec.spec.update import Update

__all__ = ["Source", "choose", "edited", "with_value"]

_BOM = "\ufeff"
_ENCODINGS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class Source(NamedTuple):
    """The text of a file, with the encoding that restores its bytes."""

    text: str
    encoding: str
    mark: str

    @classmethod
    def of(cls, content: bytes, name: str) -> Source:
        """Decode a file; raises `InvalidSpec` if it is not valid YAML."""
        if diagnostics := source.read(content, name).diagnostics:
            raise InvalidSpec(diagnostics)
        encoding = _ENCODINGS.get(content[:2], "utf-8")
        text = content.decode(encoding)
        mark = _BOM if text.startswith(_BOM) else ""
        return cls(text[len(mark) :], encoding, mark)

    def with_text(self, text: str) -> bytes:
        """Encode *text* with the encoding and mark of the file."""
        return (self.mark + text).encode(self.encoding)


def choose(text: str, name: str, requested: str | None) -> int:
    """
    Return the index of the document to edit: the only one, or the *requested* one.

    *requested* is the name of a job, or a number that counts from 1.
    """
    documents = source.read(text, name).documents
    names = [_name(document) for document in documents]
    if requested is None:
        if len(documents) == 1:
            return 0
        message = f"the file contains {len(documents)} documents"
        raise _refused(name, message, f"select one with --document: {', '.join(_labels(names))}")
    if requested in names:
        return names.index(requested)
    if requested.isdecimal() and 0 < int(requested) <= len(documents):
        return int(requested) - 1
    hint = did_you_mean(requested, [candidate for candidate in names if candidate])
    hint = hint or f"use one of {', '.join(_labels(names))}"
    raise _refused(name, f'no document "{requested}" in this file', hint)


def edited(text: str, name: str, updates: Iterable[Update], document: int = 0) -> str:
    """
    Apply *updates* to one document of *text*.

    Raises `InvalidSpec` if an update cannot be applied or adds an error.
    """
    for change in updates:
        text = _edited(text, name, change, document)
    return text


def _edited(text: str, name: str, change: Update, index: int) -> str:
    reading = source.read(text, name)
    if reading.diagnostics:
        raise InvalidSpec(reading.diagnostics)
    before = reading.documents
    if isinstance(before[index].data, dict) and before[index].data.get("kind") == "Project":
        hint = "edit it with `paddlespec config set --project`"
        raise _refused(name, "the file is a project file, not a spec", hint)
    expected = [document.data for document in before]
    path = _with_indexes(expected[index], change.path)
    expected[index] = _applied(before[index], change, path)
    if _same(expected, [document.data for document in before]):
        return text
    result = _rewritten(text, name, index, path, change.action, expected, change.span)
    after = source.read(result, name).documents[index]
    _reject_new_errors(gate.SOURCE, before[index], after, change.span)
    return result


def with_value(
    text: str, name: str, path: Path, value: Any, schema: str, span: Span, action: Action = "set"
) -> str:
    """
    Change one value of *text*, a single document of another *schema*.

    Comments are kept. Raises `InvalidSpec` at *span* if the change adds an error.
    """
    reading = source.read(text, name)
    if reading.diagnostics:
        raise InvalidSpec(reading.diagnostics)
    before = reading.documents[0]
    path = _with_indexes(before.data, path)
    expected = _put(before.data, path, value, action, span)
    if _same([expected], [before.data]):
        return text
    result = _rewritten(text, name, 0, path, action, [expected], span)
    _reject_new_errors(schema, before, source.read(result, name).documents[0], span)
    return result


def _put(data: Any, path: Path, value: Any, action: Action, span: Span) -> Any:
    """Copy *data* and change one member; missing parents are created."""
    if not path:
        return [*(data or []), value] if action == "append" else value
    part, rest = path[0], path[1:]
    if isinstance(data, list):
        if not isinstance(part, int) or part >= len(data):
            raise InvalidSpec([Diagnostic("unknown-path", f'no item "{part}"', span, path)])
        copy: Any = list(data)
    else:
        copy = dict(data) if isinstance(data, dict) else {}
        if action == "remove" and part not in copy:
            raise InvalidSpec([Diagnostic("unknown-path", f"{part} is not set", span, path)])
    if action == "remove" and not rest:
        del copy[part]
    else:
        copy[part] = _put(_member(copy, part), rest, value, action, span)
    return copy


def _rewritten(
    text: str, name: str, index: int, path: Path, action: Action, expected: list[Any], span: Span
) -> str:
    """Return *text* with the *expected* data, changed as little as possible."""
    for attempt in _attempts(text, index, path, action, expected[index]):
        if _parses_to(attempt, name, expected):
            return attempt
    message = "cannot edit the value in place: it has an anchor or an unsupported notation"
    raise InvalidSpec([Diagnostic("edit", message, span, path, f"edit {name} by hand")])


def _attempts(text: str, index: int, path: Path, action: Action, expected: Any) -> Iterator[str]:
    """Yield versions of *text* with the change, the smallest change first."""
    root = roots(text)[index]
    yield splice(text, root, path, action, expected)
    style = style_of(text, root)
    if text[-1:] not in ("\r", "\n"):
        # A block scalar that ends in a line break requires one at the end of the file.
        yield splice(text + style.newline, root, path, action, expected)
    from paddlespec.spec.edit.roundtrip import rewrite

    rewritten = rewrite(text, index, path, action, expected, style)
    if rewritten is not None:
        yield rewritten


def _applied(document: Document, change: Update, path: Path) -> Any:
    """Apply an update to the data; a removed key is deleted instead of set to null."""
    data = update.apply(document, change).data
    if change.action != "remove":
        return data
    parent = data
    for part in path[:-1]:
        parent = _member(parent, part)
    if isinstance(parent, dict):
        del parent[path[-1]]
    return data


def _with_indexes(data: Any, path: Path) -> Path:
    """Replace the names of list items in *path* with their indexes."""
    parts: list[str | int] = []
    for part in path:
        if isinstance(data, list) and isinstance(part, str):
            names = [entry.get("name") if isinstance(entry, dict) else None for entry in data]
            part = names.index(part) if part in names else part
        elif not isinstance(data, list):
            part = str(part)
        parts.append(part)
        data = _member(data, part)
    return tuple(parts)


def _member(data: Any, part: str | int) -> Any:
    try:
        return data[part]
    except (KeyError, IndexError, TypeError):
        return None


def _parses_to(text: str, name: str, expected: Sequence[Any]) -> bool:
    """Whether *text* parses to the *expected* documents."""
    reading = source.read(text, name)
    return not reading.diagnostics and _same(
        [document.data for document in reading.documents], expected
    )


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two lists of documents are equal; `1`, `1.0` and `true` differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _reject_new_errors(schema: str, before: Document, after: Document, span: Span) -> None:
    """Raise `InvalidSpec` for errors that an edit adds; existing errors are ignored."""
    if before.data is None:
        before = before._replace(data={})
    known = {_identity(fault) for fault in gate.check(before, schema).diagnostics}
    faults = gate.check(after, schema).diagnostics
    new = [fault for fault in faults if _identity(fault) not in known]
    if new:
        raise InvalidSpec([fault._replace(span=span) for fault in new])


def _identity(diagnostic: Diagnostic) -> tuple[str, Path, str]:
    return diagnostic.code, diagnostic.path, diagnostic.message


def _name(document: Document) -> str | None:
    name = document.at(("metadata", "name"))
    return name if isinstance(name, str) else None


def _labels(names: Sequence[str | None]) -> list[str]:
    return [name or str(number) for number, name in enumerate(names, 1)]


def _refused(name: str, message: str, hint: str | None = None) -> InvalidSpec:
    return InvalidSpec([Diagnostic("edit", message, Span(name), (), hint)])
