"""
Edits of a spec in place: comments, order, quotes, breaks and blanks survive.

Text is spliced and read again; only what then means exactly what `--update` would have made of it
is accepted. Where splicing fails, ruamel.yaml writes the document, held to the same test.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import gate, source, update
from paddlespec.diagnostic import Diagnostic, InvalidSpec, Path, Span, did_you_mean
from paddlespec.edit.nodes import roots
from paddlespec.edit.splice import splice
from paddlespec.edit.writer import style_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.document import Document
    from paddlespec.edit.splice import Action
    from paddlespec.update import Update

__all__ = ["Source", "choose", "edited", "with_value"]

_BOM = "\ufeff"
_ENCODINGS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class Source(NamedTuple):
    """A file's text, and what it takes to get the file's bytes back."""

    text: str
    encoding: str
    mark: str

    @classmethod
    def of(cls, content: bytes, name: str) -> Source:
        """Decode a file that our reader accepts; raises `InvalidSpec` when it does not."""
        if found := source.read(content, name).diagnostics:
            raise InvalidSpec(found)
        encoding = _ENCODINGS.get(content[:2], "utf-8")
        text = content.decode(encoding)
        mark = _BOM if text.startswith(_BOM) else ""
        return cls(text[len(mark) :], encoding, mark)

    def with_text(self, text: str) -> bytes:
        """The bytes of the file when it says *text*."""
        return (self.mark + text).encode(self.encoding)


def choose(text: str, name: str, wanted: str | None) -> int:
    """
    The index of the document that an edit is for: the only one, or the one that *wanted* names.

    *wanted* is a job's name, or a number that counts from 1.
    """
    documents = source.read(text, name).documents
    names = [_name(each) for each in documents]
    if wanted is None:
        if len(documents) == 1:
            return 0
        message = f"holds {len(documents)} documents"
        raise _refused(name, message, f"choose one with --document: {', '.join(_labels(names))}")
    if wanted in names:
        return names.index(wanted)
    if wanted.isdecimal() and 0 < int(wanted) <= len(documents):
        return int(wanted) - 1
    hint = did_you_mean(wanted, [each for each in names if each])
    hint = hint or f"there is {', '.join(_labels(names))}"
    raise _refused(name, f'holds no document "{wanted}"', hint)


def edited(text: str, name: str, updates: Iterable[Update], document: int = 0) -> str:
    """
    *text* after all *updates* of one of its documents.

    Raises `InvalidSpec` when one cannot be made, or makes an error that was not there before.
    """
    for each in updates:
        text = _edited(text, name, each, document)
    return text


def _edited(text: str, name: str, change: Update, index: int) -> str:
    reading = source.read(text, name)
    if reading.diagnostics:
        raise InvalidSpec(reading.diagnostics)
    before = reading.documents
    if isinstance(before[index].data, dict) and before[index].data.get("kind") == "Project":
        raise _refused(
            name, "is a project file, not a spec", "`paddlespec config set --project` edits it"
        )
    wanted = [each.data for each in before]
    path = _concrete(wanted[index], change.path)
    wanted[index] = _applied(before[index], change, path)
    if _same(wanted, [each.data for each in before]):
        return text
    result = _rewritten(text, name, index, path, change.action, wanted, change.span)
    _hold_to(gate.SOURCE, before[index], source.read(result, name).documents[index], change.span)
    return result


def with_value(
    text: str, name: str, path: Path, value: Any, schema: str, span: Span, action: Action = "set"
) -> str:
    """
    *text*, which is no spec but one document of another *schema*, with one value changed.

    Comments survive. Raises `InvalidSpec` at *span* when the change makes an error.
    """
    reading = source.read(text, name)
    if reading.diagnostics:
        raise InvalidSpec(reading.diagnostics)
    before = reading.documents[0]
    path = _concrete(before.data, path)
    wanted = _put(before.data, path, value, action, span)
    if _same([wanted], [before.data]):
        return text
    result = _rewritten(text, name, 0, path, action, [wanted], span)
    _hold_to(schema, before, source.read(result, name).documents[0], span)
    return result


def _put(data: Any, path: Path, value: Any, action: Action, span: Span) -> Any:
    """A copy of *data* with one member changed; missing parents come with it."""
    if not path:
        return [*(data or []), value] if action == "append" else value
    part, rest = path[0], path[1:]
    if isinstance(data, list):
        if not isinstance(part, int) or part >= len(data):
            raise InvalidSpec([Diagnostic("unknown-path", f"nothing is called {part}", span, path)])
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
    text: str, name: str, index: int, path: Path, action: Action, wanted: list[Any], span: Span
) -> str:
    """*text* as it means exactly what is *wanted*, changed as little as can be."""
    for each in _attempts(text, index, path, action, wanted[index]):
        if _means(each, name, wanted):
            return each
    message = "cannot be edited in place: the value is shared by an anchor, or oddly written"
    raise InvalidSpec([Diagnostic("edit", message, span, path, f"edit {name} by hand")])


def _attempts(text: str, index: int, path: Path, action: Action, wanted: Any) -> Iterator[str]:
    """Ways to make the change, the one that touches least first."""
    root = roots(text)[index]
    yield splice(text, root, path, action, wanted)
    style = style_of(text, root)
    if text[-1:] not in ("\r", "\n"):
        # A block of text that ends in a break needs one at the end of the file.
        yield splice(text + style.newline, root, path, action, wanted)
    from paddlespec.edit.roundtrip import rewrite

    rewritten = rewrite(text, index, path, action, wanted, style)
    if rewritten is not None:
        yield rewritten


def _applied(document: Document, change: Update, path: Path) -> Any:
    """What `--update` makes of the document; a removed key is gone and no tombstone."""
    data = update.apply(document, change).data
    if change.action != "remove":
        return data
    holder = data
    for part in path[:-1]:
        holder = _member(holder, part)
    if isinstance(holder, dict):
        del holder[path[-1]]
    return data


def _concrete(data: Any, path: Path) -> Path:
    """*path* with the items of lists by number."""
    found: list[str | int] = []
    for part in path:
        if isinstance(data, list) and isinstance(part, str):
            names = [each.get("name") if isinstance(each, dict) else None for each in data]
            part = names.index(part) if part in names else part
        elif not isinstance(data, list):
            part = str(part)
        found.append(part)
        data = _member(data, part)
    return tuple(found)


def _member(data: Any, part: str | int) -> Any:
    try:
        return data[part]
    except (KeyError, IndexError, TypeError):
        return None


def _means(text: str, name: str, wanted: Sequence[Any]) -> bool:
    """Whether *text* reads as exactly the documents that are wanted."""
    reading = source.read(text, name)
    return not reading.diagnostics and _same([each.data for each in reading.documents], wanted)


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two lists of documents hold the same; `1`, `1.0` and `true` differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _hold_to(schema: str, before: Document, after: Document, span: Span) -> None:
    """Refuse an edit that makes an error; those that were there are none of its business."""
    if before.data is None:
        before = before._replace(data={})
    known = {_identity(each) for each in gate.check(before, schema).diagnostics}
    found = gate.check(after, schema).diagnostics
    new = [each for each in found if _identity(each) not in known]
    if new:
        raise InvalidSpec([each._replace(span=span) for each in new])


def _identity(found: Diagnostic) -> tuple[str, Path, str]:
    return found.code, found.path, found.message


def _name(document: Document) -> str | None:
    name = document.at(("metadata", "name"))
    return name if isinstance(name, str) else None


def _labels(names: Sequence[str | None]) -> list[str]:
    return [each or str(number) for number, each in enumerate(names, 1)]


def _refused(name: str, message: str, hint: str | None = None) -> InvalidSpec:
    return InvalidSpec([Diagnostic("edit", message, Span(name), (), hint)])
