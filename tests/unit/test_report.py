"""The formats of findings, and that none of them shows a secret."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from textwrap import dedent
from typing import Any

import jsonschema_rs
import pytest
from front import findings

from paddlespec import report
from paddlespec.diagnostic import (
    Diagnostic,
    InvalidSpec,
    Severity,
    Span,
)
from paddlespec.report.text import diagnostics, verdict
from paddlespec.report.width import (
    brief,
    cells,
    shortened,
    visible,
)
from paddlespec.spec import source, update

CANARY = "hunter2-canary"
HEAD = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: a}
spec:
  mode: collective
  image: x
"""
SPEC = HEAD + "  trainers:\n    replica: 4\n"
WHOLE = Diagnostic("file", "cannot be read: no such file", Span("gone.yaml"))
OPTION = Diagnostic(
    "unknown-path",
    'unknown path "trainers.replica"',
    Span("--update trainers.replica=8"),
    ("spec", "trainers", "replica"),
    'did you mean "trainers.replicas"?',
)
SARIF = json.loads(
    (FilePath(__file__).parents[1] / "data" / "sarif-2.1.0.schema.json").read_text("utf-8")
)


def shown(text: str, reported: list[Diagnostic] | None = None) -> str:
    reported = findings(text) if reported is None else reported
    assert reported
    return diagnostics(reported, {"job.yaml": text}, color=False, excerpts=True)


def at(line: int, column: int, end: int, code: str = "x", message: str = "m") -> Diagnostic:
    return Diagnostic(code, message, Span("job.yaml", line, column, end))


def test_without_excerpts_a_finding_is_one_line_and_its_hint() -> None:
    reported = [*findings(SPEC), WHOLE, OPTION]
    written = diagnostics(reported, {"job.yaml": SPEC}, color=False)
    lines = written.splitlines()
    assert [line for line in lines if not line.startswith("  hint: ")] == [
        str(finding) for finding in reported
    ]
    assert len(lines) == len(reported) + sum(finding.hint is not None for finding in reported)
    assert 'job.yaml:8:5: error: unknown key "replica" [unknown-key]' in written


def test_a_finding_with_control_characters_stays_on_one_line() -> None:
    reported = [Diagnostic("x", "a\nb\x1b[2Jc\u202ed", Span("odd\nname.yaml", 1, 1, 2))]
    assert diagnostics(reported, {}, color=False) == (
        "odd\\nname.yaml:1:1: error: a\\nb\ufffd[2Jc\ufffdd [x]\n"
    )


def test_an_excerpt_underlines_the_position_and_shows_the_hint() -> None:
    assert shown(SPEC) == dedent("""\
        job.yaml:8:5: error: unknown key "replica" [unknown-key]
            8 |     replica: 4
              |     ^~~~~~~
          hint: did you mean "replicas"?
        """)


def test_color_changes_only_color() -> None:
    import re

    reported = [*findings(SPEC), WHOLE, OPTION]
    colored = diagnostics(reported, {"job.yaml": SPEC}, color=True)
    assert "\x1b[" in colored
    plain = diagnostics(reported, {"job.yaml": SPEC}, color=False, excerpts=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


@pytest.mark.parametrize(
    ("line", "column", "end", "expected", "underline"),
    [
        pytest.param("a: b", 4, 5, "a: b", "   ^", id="one character"),
        pytest.param("a: bcd", 4, 4, "a: bcd", "   ^", id="no width"),
        pytest.param("a: b", 9, 12, "a: b", "    ^", id="behind the end"),
        pytest.param("模型: 名字", 5, 7, "模型: 名字", "      ^~~~", id="wide"),
        pytest.param("cafe\u0301: x", 1, 6, "cafe\u0301: x", "^~~~", id="combining"),
        pytest.param("\ta: b", 5, 6, "    a: b", "       ^", id="tab"),
        pytest.param("a: \x1bb", 4, 5, "a: \ufffdb", "   ^", id="control"),
    ],
)
def test_the_underline_is_below_the_word(
    line: str, column: int, end: int, expected: str, underline: str
) -> None:
    _, excerpt, marker = shown(line, [at(1, column, end)]).splitlines()
    assert excerpt.partition("| ")[2] == expected
    assert marker.partition("| ")[2] == underline


@pytest.mark.parametrize("start", [1, 20, 500, 990])
def test_a_long_line_is_cut_around_its_word(start: int) -> None:
    line = "".join(str(index % 10) for index in range(1000))
    _, excerpt, marker = shown(line, [at(1, start, start + 5)]).splitlines()
    excerpt, marker = (text.partition("| ")[2] for text in (excerpt, marker))
    assert len(excerpt) <= 101
    word = excerpt[marker.index("^") : len(marker)]
    assert word == line[start - 1 : start + 4]


def test_a_finding_without_a_line_has_only_its_hint() -> None:
    written = diagnostics([WHOLE, OPTION], {}, color=False, excerpts=True)
    assert written.splitlines() == [
        str(WHOLE),
        str(OPTION),
        '  hint: did you mean "trainers.replicas"?',
    ]


@pytest.mark.parametrize(
    ("jobs", "severities", "expected"),
    [
        (1, "", "1 spec is valid"),
        (3, "", "3 specs are valid"),
        (1, "w", "1 spec is valid, 1 warning"),
        (3, "eew", "3 specs, 2 errors, 1 warning"),
        (0, "e", "0 specs, 1 error"),
    ],
)
def test_verdict(jobs: int, severities: str, expected: str) -> None:
    kinds = {"e": Severity.error, "w": Severity.warning}
    reported = [WHOLE._replace(severity=kinds[severity]) for severity in severities]
    assert verdict(jobs, reported) == expected


# Each holds the canary in a line that a finding is about.
LEAKS = {
    "beside the key in question": "env: {SALT: {value: CANARY, sensitve: true}}",
    "in the value in question": "env: {SALT: {value: CANARY, sensitive: maybe}}",
    "a plain neighbour": "env: {API_KEY: CANARY, B: [1]}",
    "two on a line": "env: {A: {value: CANARY, sensitive: true}, B: {value: CANARY, x: 1}}",
    "quoted": 'env: {A: {value: "CANARY", sensitive: true, x: 1}}',
    "again in a comment": "env: {A: {value: CANARY, sensitive: true, x: 1}}   # CANARY",
    "a misspelt env": "envs: {A: CANARY}",
    "of a role": "trainers: {env: {A: {value: CANARY, sensitive: true}}, replica: 1}",
    "a parameter of a secret": "parameters: {p: CANARY, 9: x}\n"
    '  env: {A: {value: "${{ parameters.p }}", sensitive: true}}',
    "broken: no end": "env: {A: {value: CANARY, sensitive: true",
    "broken: a block": "env:\n    A:\n      value: CANARY: x\n      sensitive: true",
    "broken: a list": "env:\n    A: [CANARY",
    "broken: no indent": "env: {\nA: {value: CANARY: {\n",
    "a key twice": "env: {A: CANARY, A: CANARY}",
}


@pytest.mark.parametrize("text", LEAKS.values(), ids=LEAKS.keys())
def test_no_excerpt_shows_a_secret(text: str) -> None:
    written = HEAD + "  " + text.replace("CANARY", CANARY) + "\n"
    excerpts = shown(written)
    assert CANARY not in excerpts
    assert "|" in excerpts


def test_a_value_that_looks_secret_is_hidden_and_underlined() -> None:
    text = HEAD + f"  env: {{API_KEY: {CANARY}}}\n"
    column = text.splitlines()[6].index(CANARY) + 1
    reported = [at(7, column, column + len(CANARY), "looks-like-secret")]
    _, excerpt, marker = shown(text, reported).splitlines()
    assert excerpt.endswith("  env: {API_KEY: ***}")
    assert excerpt[marker.index("^") : len(marker)] == "***"


def test_a_reported_plain_value_is_shown() -> None:
    assert "  env: {A: &" not in shown(HEAD + "  env: {A: *nothing}\n")
    assert "env: {A: *nothing}" in shown(HEAD + "  env: {A: *nothing}\n")


def test_underlines_move_with_what_is_hidden_before_them() -> None:
    text = HEAD + f"  env: {{A: {CANARY}, B: [1]}}\n"
    _, excerpt, marker, *_ = shown(text).splitlines()
    assert excerpt.endswith("  env: {A: ***, B: [***]}")
    assert excerpt[marker.index("^") : len(marker)] == "B"


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
@pytest.mark.parametrize(
    "option",
    [
        f"--update env.SALT={{value: {CANARY}, sensitive: maybe}}",
        f"--update spec.trainers.env.KEY={CANARY}",
    ],
)
def test_no_format_shows_the_value_of_a_variable_set_by_an_option(form: str, option: str) -> None:
    reported = [Diagnostic("looks-like-secret", "looks like a credential", Span(option))]
    reported += [finding._replace(code="type") for finding in reported]
    if form == "text":
        written = diagnostics(reported, {}, color=True) + diagnostics(reported, {}, color=False)
    else:
        written = report.diagnostics(form, reported)
    assert CANARY not in written
    assert "***" in written


def test_other_options_are_shown_as_given() -> None:
    assert "--update trainers.replica=8" in diagnostics([OPTION], {}, color=False)


def test_json_has_every_field_and_the_counts() -> None:
    warning = at(8, 5, 12)._replace(severity=Severity.warning, path=("spec", "volumes", 0))
    written = json.loads(report.diagnostics("json", [warning, OPTION]))
    assert written == {
        "diagnostics": [
            {
                "code": "x",
                "severity": "warning",
                "message": "m",
                "file": "job.yaml",
                "line": 8,
                "column": 5,
                "endColumn": 12,
                "path": "spec.volumes[0]",
                "hint": None,
            },
            {
                "code": "unknown-path",
                "severity": "error",
                "message": 'unknown path "trainers.replica"',
                "file": "--update trainers.replica=8",
                "line": None,
                "column": None,
                "endColumn": None,
                "path": "spec.trainers.replica",
                "hint": 'did you mean "trainers.replicas"?',
            },
        ],
        "errors": 1,
        "warnings": 1,
    }


def test_github_annotations_are_escaped() -> None:
    span = Span("a,b:c%.yaml", 12, 7, 14)
    reported = [Diagnostic("format", "100% of\r\na: b, c", span, hint="::warning::no")]
    assert report.diagnostics("github", reported) == (
        "::error file=a%2Cb%3Ac%25.yaml,line=12,col=7,endColumn=14,title=format"
        "::100%25 of%0D%0Aa: b, c%0A::warning::no\n"
    )


def test_github_annotations_without_a_line() -> None:
    warning = WHOLE._replace(severity=Severity.warning)
    assert report.diagnostics("github", [warning, OPTION]).splitlines() == [
        "::warning file=gone.yaml,title=file::cannot be read: no such file",
        (
            '::error title=unknown-path::--update trainers.replica=8: unknown path "trainers.replica"'
            '%0Adid you mean "trainers.replicas"?'
        ),
    ]


def sarif(reported: list[Diagnostic]) -> Any:
    log = json.loads(report.diagnostics("sarif", reported))
    jsonschema_rs.Draft202012Validator(SARIF, validate_formats=True).validate(log)
    return log["runs"][0]


def test_sarif_fits_its_schema_and_names_rule_and_region() -> None:
    run = sarif([*findings(SPEC), WHOLE, OPTION])
    described = run["tool"]["driver"]["rules"]
    rules = [rule["id"] for rule in described]
    assert rules == sorted(rules)
    unknown = next(rule for rule in described if rule["id"] == "unknown-key")
    assert unknown["helpUri"] == "https://paddlespec.io/diagnostics#unknown-key"
    assert len(unknown["fullDescription"]["text"]) > len(unknown["shortDescription"]["text"])
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [
        result["ruleId"] for result in run["results"]
    ]
    first, whole, option = (result["locations"][0] for result in run["results"])
    assert first["physicalLocation"]["region"] == {
        "startLine": 8,
        "startColumn": 5,
        "endColumn": 12,
    }
    assert "region" not in whole["physicalLocation"]
    assert option["message"]["text"] == "--update trainers.replica=8"


def test_sarif_without_findings_has_a_run() -> None:
    assert sarif([])["results"] == []


def test_sarif_accepts_any_file_name() -> None:
    name = b"with space/\xff#?%.yaml".decode("utf-8", "surrogateescape")
    (result,) = sarif([WHOLE._replace(span=Span(name))])["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "with%20space/%FF%23%3F%25.yaml"


def test_sarif_fingerprints_do_not_depend_on_lines() -> None:
    def prints(text: str) -> list[str]:
        results = sarif(findings(text))["results"]
        return [result["partialFingerprints"]["paddlespec/v1"] for result in results]

    assert prints(SPEC) == prints(SPEC.replace("spec:", "# one more line\nspec:"))
    twice = sarif([at(1, 1, 2), at(2, 1, 2)])["results"]
    assert twice[0]["partialFingerprints"] != twice[1]["partialFingerprints"]


def test_every_example_of_a_finding_can_be_printed_in_every_format() -> None:
    reported = [
        finding for text in LEAKS.values() for finding in findings(HEAD + "  " + text + "\n")
    ]
    sarif(reported)
    assert len(json.loads(report.diagnostics("json", reported))["diagnostics"]) == len(reported)
    assert len(report.diagnostics("github", reported).splitlines()) == len(reported)


def test_visible_text_is_one_harmless_line() -> None:
    assert visible("a\tb\nc\x07\u200b模") == "a\\tb\\nc\ufffd\ufffd模"


@pytest.mark.parametrize("text", ["abc", "x" * 50, "模" * 30, "a,b,c", ",".join("abcdefgh" * 9)])
@pytest.mark.parametrize("most", [3, 10, 40])
def test_shortened_text_fits_and_keeps_its_ends(text: str, most: int) -> None:
    short = shortened(text, most)
    assert cells(short) <= most
    assert short == text or (short[0] == text[0] and "…" in short)


def test_a_long_list_shows_its_ends_and_the_number_between() -> None:
    listed = [f"host-{index}:6174" for index in range(64)]
    assert brief(",".join(listed)) == ["host-0:6174,", "… 62 more …,", "host-63:6174"]
    assert brief("a,b,c") == ["a,", "b,", "c"]


def test_excerpts_accept_any_text() -> None:
    hostile = [
        "",
        "a",
        "&a [*a]",
        "{",
        "- \t- x",
        "a: 'b\n\n  c'",
        "\ufeffa: b",
        "a: !!x b",
        "\r\r\n",
    ]
    for text in hostile:
        for reported in (source.read(text, "job.yaml").diagnostics, [at(1, 1, 2)], [at(99, 7, 8)]):
            written = diagnostics(reported, {"job.yaml": text}, color=True)
            assert len(written.splitlines()) >= len(reported)


@pytest.mark.parametrize("option", ["--update ", ""])
@pytest.mark.parametrize(
    "text",
    [
        "env.X=[canary",
        "env.X={value: canary",
        "enf.TOKEN=canary",
        "trainers={env: {X: canary}",
        "trainers.env.X=[canary",
    ],
)
def test_the_value_of_an_override_is_not_shown(option: str, text: str) -> None:
    with pytest.raises(InvalidSpec) as error:
        update.parse(text, option.strip())
    shown = diagnostics(error.value.diagnostics, {}, color=False)
    assert "canary" not in shown
    assert text.partition("=")[0] in shown
