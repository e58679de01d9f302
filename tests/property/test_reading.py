"""The reader returns for any input, and reads back what YAML writers produce, with positions."""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from paddlespec.spec import source
from paddlespec.spec.scalar import UnusableNumber, plain

if TYPE_CHECKING:
    from paddlespec.spec.document import Document, Place

PIECES = st.sampled_from(
    (
        "a", "b: ", "- ", "? ", ": ", "[", "]", "{", "}", ",", "&a ", "*a", "<<: ", "!t ", "!!str ",
        '"', "'", "|\n", ">-\n", "#", "%YAML 1.2\n", "---\n", "...\n", "\n", "\r\n", "  ", "\t", "é",
        "😀", "\0", "\x85", "\ufeff", "1", "1e9", ".inf", "~", "\\", '"\\0"', '"\\ud800"', "@",
    )
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join)
ANYTHING = st.one_of(
    st.binary(max_size=60),
    TEXTS,
    TEXTS.map(lambda text: text.encode("utf-16")),
    TEXTS.map(lambda text: text.encode() + b"\xff"),
)
LINE = re.compile("\r\n?|\n")


def parsers() -> list[Any]:
    return [source._Parser, source._PureParser]


def read_with(parser: Any, content: bytes | str) -> source.Reading:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "_Parser", parser)
        return source.read(content, "job.yaml")


@given(ANYTHING)
def test_the_reader_always_returns(content: bytes | str) -> None:
    for parser in parsers():
        reading = read_with(parser, content)
        assert reading.documents or reading.diagnostics
        for document in reading.documents:
            json.dumps(document.data, allow_nan=False)
        if isinstance(content, str):
            lines = LINE.split(content.removeprefix("\ufeff"))
            spans = [diagnostic.span for diagnostic in reading.diagnostics if diagnostic.span.line]
            spans += [
                place_span for document in reading.documents for place_span in all_spans(document)
            ]
            for span in spans:
                assert 1 <= span.line <= len(lines)
                assert 1 <= span.column <= len(lines[span.line - 1]) + 1
                assert span.column < span.end_column <= len(lines[span.line - 1]) + 2


@given(TEXTS)
def test_both_parsers_return_the_same(text: str) -> None:
    """Compares valid input; the pure parser rejects tabs between tokens."""
    fast, pure = (read_with(parser, text) for parser in parsers())
    if "\t" in text:
        return
    if not {"syntax"} & {diagnostic.code for diagnostic in [*fast.diagnostics, *pure.diagnostics]}:
        assert fast.diagnostics == pure.diagnostics
        assert [document.data for document in fast.documents] == [
            document.data for document in pure.documents
        ]
        assert [all_spans(document) for document in fast.documents] == [
            all_spans(document) for document in pure.documents
        ]


def is_the_same_to_yaml_1_1(text: str) -> bool:
    """PyYAML writes YAML 1.1: some of its strings are numbers in YAML 1.2."""
    try:
        return isinstance(plain(text), str) or yaml.safe_load(text) != text
    except (UnusableNumber, yaml.YAMLError, ValueError):
        return False


WORDS = st.text(
    st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp")), max_size=12
).filter(lambda text: "\ufeff" not in text)
STRINGS = st.one_of(
    WORDS,
    st.sampled_from(
        ("yes", "010", "1_000", "null", "~", "a: b", "- a", "#", "x\ny\n", " x", "'", '"', "<<")
    ),
).filter(is_the_same_to_yaml_1_1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)
SCALARS = st.one_of(STRINGS, st.integers(-(2**63), 2**63 - 1), st.booleans(), st.none(), FLOATS)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(WORDS.filter(lambda key: key != "<<"), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(
    DATA,
    st.sampled_from((True, False, None)),
    st.sampled_from((None, '"', "'")),
    st.sampled_from((20, 80, 1000)),
    st.booleans(),
)
def test_what_pyyaml_writes_is_read_back(
    data: Any, flow: bool | None, quotes: str | None, width: int, unicode: bool
) -> None:
    text = yaml.dump(
        data,
        Dumper=Untagged,
        default_flow_style=flow,
        default_style=quotes,
        width=width,
        allow_unicode=unicode,
        sort_keys=False,
    )
    for parser in parsers():
        check(read_with(parser, text), text, data, typed=quotes is None)


def begins_like_a_key(data: Any) -> bool:
    return bool(re.search('"[:?]', json.dumps(data, separators=(",", "="))))


@given(DATA.filter(lambda data: not begins_like_a_key(data)))
def test_what_ruamel_writes_is_read_back(data: Any) -> None:
    """Excludes plain words in brackets that libyaml reads as a key or value indicator."""
    stream = StringIO()
    writer = YAML(typ="safe", pure=True)
    writer.allow_unicode = True
    writer.dump(data, stream)
    check(source.read(stream.getvalue(), "job.yaml"), stream.getvalue(), data)


@given(DATA, st.sampled_from((None, 2)))
def test_json_is_read_as_json(data: Any, indent: int | None) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    check(source.read(text, "job.yaml"), text, data)


class Untagged(yaml.SafeDumper):
    """Convert numbers to strings, because quoted numbers would get a tag."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def serialize_node(self, node: Any, parent: Any, index: Any) -> None:
        if isinstance(node, yaml.ScalarNode) and node.style:
            node.tag = "tag:yaml.org,2002:str"
        super().serialize_node(node, parent, index)


def check(reading: source.Reading, text: str, data: Any, *, typed: bool = True) -> None:
    """Check that the data equals what was written, and that every position has its text."""
    assert reading.diagnostics == []
    (document,) = reading.documents
    if typed:
        assert document.data == data
    lines = text.split("\n")
    for value, place in scalars(document.data, document.place):
        assert place.end is not None
        (first, start), (last, end) = place.start, place.end
        part = lines[first : last + 1]
        part[-1] = part[-1][:end]
        part[0] = part[0][start:]
        written = "\n".join(part)
        if not written.startswith(("|", ">")):
            (again,) = source.read(written, "part").documents
            assert again.data == value


def scalars(value: Any, place: Place) -> list[tuple[Any, Place]]:
    if isinstance(value, dict) and isinstance(place.children, dict):
        return [
            one for key, member in value.items() for one in scalars(member, place.children[key])
        ]
    if isinstance(value, list) and isinstance(place.children, list):
        return [one for item, where in zip(value, place.children) for one in scalars(item, where)]
    return [(value, place)]


def all_spans(document: Document) -> list[Any]:
    def below(value: Any, path: tuple[Any, ...]) -> list[Any]:
        spans = [document.locate(path), document.locate_key(path)]
        members = (
            list(value.items())
            if isinstance(value, dict)
            else list(enumerate(value))
            if isinstance(value, list)
            else []
        )
        return spans + [span for part, member in members for span in below(member, (*path, part))]

    return below(document.data, ())
