"""Reading YAML: values of YAML 1.2, exact positions, and limits on hostile input."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from front import brief, data, document

from paddlespec.spec import source

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path


@pytest.fixture(params=["libyaml", "pure"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with both parsers."""
    if request.param == "pure":
        monkeypatch.setattr(source, "_Parser", source._PureParser)
    elif source._Parser is source._PureParser:
        pytest.skip("this PyYAML has no libyaml")
    name: str = request.param
    return name


def problems(content: bytes | str) -> list[str]:
    return brief(source.read(content, "job.yaml").diagnostics)


def message(content: bytes | str) -> str:
    (diagnostic,) = source.read(content, "job.yaml").diagnostics
    return diagnostic.message


ALIAS_BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)
MERGE_BOMB = "a0: &a0 {" + ",".join(f"k{i}: 1" for i in range(100)) + "}\n"
MERGE_BOMB += "".join(
    f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 9)}], z{i}: 1}}\n" for i in range(1, 30)
)
DEEP_ALIASES = "a0: &a0 x\n" + "".join(
    f"a{i}: &a{i} {'[' * 50}*a{i - 1}{']' * 50}\n" for i in range(1, 50)
)
DEEP_MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: *a{i - 1}, k{i}: 1}}\n" for i in range(1, 1000)
)
HOSTILE: dict[str, tuple[bytes | str, list[str]]] = {
    "alias bomb": (ALIAS_BOMB, ["6:10 too-large"]),
    "merge bomb": (MERGE_BOMB, ["4:31 too-large"]),
    "aliases that nest": (DEEP_ALIASES, ["3:59 too-deep"]),
    "merge keys of merge keys": (DEEP_MERGES, ["83:16 too-large"]),
    "200 kB of [": ("[" * 200_000, ["1:65 too-deep"]),
    "100k of - ": ("- " * 100_000, ["1:129 too-deep"]),
    "100k of {a: ": ("{a: " * 100_000, ["1:257 too-deep"]),
    "more than 4 MiB": (b"a" * (5 << 20), ["job.yaml too-large"]),
    "too many values": ("- a\n" * 100_001, ["100000:3 too-large"]),
    "10,000 digits": ("a: " + "1" * 10_000, ["1:4 number"]),
    "10,000 hexadecimal digits": ("a: 0x" + "f" * 10_000, ["1:4 number"]),
    "a version of 10,000 digits": ("%YAML 1." + "9" * 10_000 + "\n---\na", ["1:# syntax"]),
    "an escape beyond Unicode": ('a: "\\UFFFFFFFF"', ["1:7 syntax"]),
    "an escaped NUL": ('a: "x\\0"', ["1:4 syntax"]),
    "an escaped NUL in a key": ('"\\0": 1', ["1:1 syntax"]),
    "NUL": (b"a: 1\nb: \0", ["2:4 syntax"]),
    "a control character": ("a: 1\r\nb: é\x1b", ["2:5 syntax"]),
    "a line break of Unicode": ("a: x\u2028b: 1", ["1:5 syntax"]),
    "next line": ('a: "x\x85y"', ["1:6 syntax"]),
    "a lone surrogate": ("a: \ud800", ["1:4 syntax"]),
    "a mark inside of the text": ("a: 1\nb: \ufeffx", ["2:4 syntax"]),
    "a list that holds itself": ("a: &x [*x]", ["1:8 alias"]),
    "a mapping that merges itself": ("a: &x {b: 1, <<: *x}", ["1:14 merge-key", "1:18 alias"]),
    "an alias of nothing": ("a: *nothing", ["1:4 alias"]),
    "tags": ("a: !!python/object/apply:os.system [x]\nb: !Foo x\nc: !!int 3", [
        "1:4 tag", "2:4 tag", "3:4 tag"]),
    "a tagged key": ("!Foo a: 1", ["1:1 tag"]),
    "a tag that is no UTF-8": ("a: !%FF x", ["1:# syntax"]),
    "duplicate keys": ("a: 1\nb: 2\na: 3\n", ["3:1 duplicate-key"]),
    "keys that are the same text": ('1: a\n"1": b\n', ["2:1 duplicate-key"]),
    "two merge keys": ("x: &x {a: 1}\ny: {<<: *x, <<: *x}", ["2:13 duplicate-key"]),
    "a mapping as key": ("? {a: 1}\n: x\n", ["1:3 key"]),
    "an alias as key": ("a: &k b\n*k : 1\n", ["2:1 key"]),
    "a merge key of text": ("a: {<<: b}", ["1:5 merge-key"]),
    "infinity": ("a: .inf\nb: .nan\nc: 1e999", ["1:4 number", "2:4 number", "3:4 number"]),
    "a tab": ("a:\n\tb: 1\n", ["2:1 syntax"]),
    "a value that cannot begin so": ("a: @b", ["1:4 syntax"]),
    "an unclosed list at the end": ("a: 1\nb: [", ["2:5 syntax"]),
    "an unclosed quote": ("a: 'b\nc: d", ["2:5 syntax"]),
    "not UTF-8": (b"a: 1\nb: \xc3\xa9\xff", ["2:5 encoding"]),
    "not UTF-8 after a byte order mark": (b"\xef\xbb\xbfa: \xff", ["1:4 encoding"]),
    "not UTF-8 after other line ends": (b"a: 1\rb: 2\r\nc: \xff", ["3:4 encoding"]),
    "half a UTF-16 character": (b"\xff\xfea", ["1:1 encoding"]),
    "a lone half of a pair in UTF-16": ("a\n".encode("utf-16") + b"\x00\xd8x\0", ["2:1 encoding"]),
    "a broken second document": ("a: 1\n---\nb: [\n", ["4:1 syntax"]),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_is_reported_at_its_position(name: str, parser: str) -> None:
    content, expected = HOSTILE[name]
    diagnostics = sorted(
        source.read(content, "job.yaml").diagnostics, key=lambda diagnostic: diagnostic.span
    )
    assert [
        actual.replace(f":{diagnostic.span.column} ", ":# ") if ":# " in pattern else actual
        for actual, pattern, diagnostic in zip(
            brief(diagnostics), expected, diagnostics, strict=True
        )
    ] == expected
    assert all(len(diagnostic.message) < 200 for diagnostic in diagnostics)


def test_surrogates_in_escapes_are_rejected(parser: str) -> None:
    assert [problem[:2] for problem in problems('a: "\\ud83d\\ude00"')] == ["1:"]
    assert [problem[:2] for problem in problems('"\\udfff": 1')] == ["1:"]


def test_messages_describe_the_error() -> None:
    assert message("a: 1\nb: 2\na: 3\n") == 'duplicate key "a": first set at line 1, column 1'
    assert message("a: *b") == "anchor &b is not defined above"
    assert message("a: @b") == "a value cannot start with @; quote it"
    assert message("a:\n\tb: 1") == "tabs cannot be used for indentation; use spaces"
    assert message("a: \x07") == "invalid character U+0007"
    assert message(b"\xff\xfea") == "not valid UTF-16-LE text"
    assert message("a: !Foo b") == "tag !Foo is not allowed"


def test_a_long_document_is_read(parser: str) -> None:
    reading = source.read("".join(f"k{i}: 1\n" for i in range(49_000)), "job.yaml")
    assert reading.diagnostics == []
    assert len(reading.documents[0].data) == 49_000


def test_readable_documents_are_returned_with_diagnostics() -> None:
    reading = source.read("a: !Foo 1\nb: 2\n---\nc: *d\n---\ne: [", "job.yaml")
    assert [document.data for document in reading.documents] == [{"a": "1", "b": 2}, {"c": None}]
    assert brief(reading.diagnostics) == ["1:4 tag", "4:4 alias", "6:5 syntax"]


VALUES: dict[str, Any] = {
    "on: yes\nno: off": {"on": "yes", "no": "off"},
    "a: 010\nb: 0o10\nc: 0x1F": {"a": 10, "b": 8, "c": 31},
    "a: 1_000\nb: 0b11\nc: 12:30:45\nd: 2024-01-01": {
        "a": "1_000",
        "b": "0b11",
        "c": "12:30:45",
        "d": "2024-01-01",
    },
    "a: 1e3\nb: =": {"a": 1000.0, "b": "="},
    "a: [http://x/y:z]\nb: {c:d}": {"a": ["http://x/y:z"], "b": {"c:d": None}},
    "%YAML 1.1\n---\na: yes": {"a": "yes"},
    "a: '1'\nb: \"true\"\nc: !!str 1": {"a": "1", "b": "true", "c": "1"},
    "a:\n  - b\n  -\n  - {}\n": {"a": ["b", None, {}]},
    "a: |\n  x\n  y\nb: >-\n  x\n  y\n": {"a": "x\ny\n", "b": "x y"},
    '{"a": {"b": [1, 2.5, null, false, "\\u00e9"]}}': {"a": {"b": [1, 2.5, None, False, "é"]}},
    "a: &x {b: 1}\nc: *x": {"a": {"b": 1}, "c": {"b": 1}},
    "&k a: b\nc: *k": {"a": "b", "c": "a"},
    "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}": {"a": {"b": 1, "c": 2}, "d": {"c": 3, "b": 1}},
    "a: &x {b: 1}\ny: &y {b: 2, c: 3}\nd: {<<: [*x, *y]}": {
        "a": {"b": 1},
        "y": {"b": 2, "c": 3},
        "d": {"b": 1, "c": 3},
    },
    "a: {'<<': 1}": {"a": {"<<": 1}},
    "😀: [😀, 'é']": {"😀": ["😀", "é"]},
    "": None,
    "# only a comment\n": None,
    "text": "text",
}


@pytest.mark.parametrize("text", VALUES)
def test_values_are_those_of_yaml_1_2(text: str, parser: str) -> None:
    reading = source.read(text, "job.yaml")
    assert reading.diagnostics == []
    assert [json.dumps(document.data) for document in reading.documents] == [
        json.dumps(VALUES[text])
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_encodings_and_line_endings_make_no_difference(
    ends: str, encoding: str, parser: str
) -> None:
    text = ends.join(("é: 😀", "b:", "- 'x'", ""))
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    reading = source.read((mark + text).encode(encoding), "job.yaml")
    assert reading.diagnostics == []
    assert reading.documents[0].data == {"é": "😀", "b": ["x"]}
    assert str(reading.documents[0].locate(("b", 0))) == "job.yaml:3:3"


def test_a_stream_can_contain_several_documents(parser: str) -> None:
    reading = source.read("---\na: 1\n---\n...\n---\n- b\n", "job.yaml")
    assert [document.data for document in reading.documents] == [{"a": 1}, None, ["b"]]


SPANS = """\
block: word
flow: {a: 1, é: [x, "y z"], 'q': 'it''s'}
list:
- item
-   {n: 1}
folded: two
  lines
literal: |
  text
empty:
😀: 😀😀 # comment
anchored: &x  value
alias: *x
"""


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("block",), "1:8-12", "1:1-6"),
        (("flow",), "2:1-5", "2:1-5"),
        (("flow", "a"), "2:11-12", "2:8-9"),
        (("flow", "é"), "2:14-15", "2:14-15"),
        (("flow", "é", 1), "2:21-26", "2:21-26"),
        (("flow", "q"), "2:34-41", "2:29-32"),
        (("list",), "3:1-5", "3:1-5"),
        (("list", 0), "4:3-7", "4:3-7"),
        (("list", 1), "5:5-6", "5:5-6"),
        (("list", 1, "n"), "5:9-10", "5:6-7"),
        (("folded",), "6:9-10", "6:1-7"),
        (("literal",), "8:10-11", "8:1-8"),
        (("empty",), "10:7-8", "10:1-6"),
        (("😀",), "11:4-6", "11:1-2"),
        (("anchored",), "12:11-20", "12:1-9"),
        (("alias",), "12:11-20", "13:1-6"),
        (("missing",), "1:1-2", "1:1-2"),
        (("flow", "missing", "deeper"), "2:1-5", "2:1-5"),
    ],
)
def test_spans_are_exact(path: Path, value: str, key: str, parser: str) -> None:
    read = document(SPANS)

    def spelled(span: Any) -> str:
        return f"{span.line}:{span.column}-{span.end_column}"

    assert (spelled(read.locate(path)), spelled(read.locate_key(path))) == (value, key)


def test_merged_keys_have_their_original_position() -> None:
    read = document("base: &b {x: 1}\nuse:\n  <<: *b\n  y: 2\n")
    assert str(read.locate(("use", "x"))) == "job.yaml:1:14"
    assert str(read.locate_key(("use", "x"))) == "job.yaml:1:11"


def test_the_pure_parser_replaces_a_missing_libyaml() -> None:
    """Uses another process, because the parser is chosen at import."""
    program = (
        "import sys; sys.modules['yaml._yaml'] = None\n"
        "from paddlespec.spec import source\n"
        "assert source._Parser is source._PureParser\n"
        "print(source.read('a: [1, x]', 'job.yaml').documents[0].data)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout == "{'a': [1, 'x']}\n"


def test_json_data_equals_the_text() -> None:
    assert data("a: {b: 1}") == {"a": {"b": 1}}
