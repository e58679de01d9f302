"""Expressions: `${{ names }}` in a spec."""

from __future__ import annotations

from typing import Any

import pytest
from front import JOB, document, findings

from paddlespec.spec.interpolate import Interpolated, interpolate


def done(spec: str, datacenter: str | None = None) -> Interpolated:
    return interpolate(document(f"{JOB}{spec}"), datacenter)


def value(expression: str, parameters: str = "{}", datacenter: str | None = None) -> Any:
    """Return the value of a field with its expressions replaced."""
    result = done(f"  parameters: {parameters}\n  target: {expression}\n", datacenter)
    assert result.diagnostics == []
    return result.document.at(("spec", "target"))


def reported(spec: str, datacenter: str | None = None) -> list[str]:
    return [
        f"{diagnostic.span.line}:{diagnostic.span.column} {diagnostic.code}: {diagnostic.message}"
        + (f" ({diagnostic.hint})" if diagnostic.hint else "")
        for diagnostic in done(spec, datacenter).diagnostics
    ]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("{a: 10}", 10),
        ("{a: 0.5}", 0.5),
        ("{a: true}", True),
        ("{a: '10'}", "10"),
        ("{a: ''}", ""),
        ("{a: '${{ parameters.b }}', b: 3}", 3),
        ("{a: 'x${{ parameters.b }}', b: 3}", "x3"),
    ],
)
def test_a_whole_expression_keeps_the_type(parameters: str, expected: object) -> None:
    result = value("${{ parameters.a }}", parameters)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${{parameters.n}}", 10),
        ("${{   parameters.n   }}", 10),
        ("n=${{ parameters.n }}", "n=10"),
        ("${{ parameters.n }} ", 10),
        ("'${{ parameters.n }} '", "10 "),
        ("${{ parameters.n }}${{ parameters.t }}", "10true"),
        ("x ${{ parameters.f }} y ${{ parameters.t }}", "x 0.1 y true"),
        ("${{ metadata.name }}", "a"),
        ("${{ spec.trainers.replicas }}", 1),
        ("/pfs/${{ datacenter.name }}/home", "/pfs/dc1/home"),
    ],
)
def test_expressions_are_replaced_inside_text(text: str, expected: object) -> None:
    assert value(text, "{n: 10, f: 0.1, t: true}", "dc1") == expected


def test_replicas_default_to_one() -> None:
    both = "  target: ${{ spec.trainers.replicas }}/${{ spec.pservers.replicas }}\n"
    wrote = done(f"{both}  trainers: {{replicas: 4}}\n  pservers: {{replicas: 2}}\n")
    assert wrote.document.at(("spec", "target")) == "4/2"
    assert done(f"{both}  pservers: {{}}\n").document.at(("spec", "target")) == "1/1"
    assert reported(both) == ["7:11 expression: spec.pservers.replicas has no value"]


@pytest.mark.parametrize(
    "text",
    [
        "$HOME",
        "${HOME}",
        "$(POD_IP)",
        "$$",
        "}}",
        "$ {{ a }}",
        "{{ a }}",
        "$((1+1))",
        "${A:-b}",
    ],
)
def test_variables_of_the_shell_and_of_kubernetes_are_kept(text: str) -> None:
    assert value(f"'{text}'") == text
    assert value(f"'{text} ${{{{ parameters.n }}}}'", "{n: 1}") == f"{text} 1"


@pytest.mark.parametrize("text", ["${{", "${{ a", "a ${{ b } }", "${{ ${{ a }}"])
def test_an_unclosed_expression_is_an_error(text: str) -> None:
    assert reported(f"  target: '{text}'\n") == [
        "7:11 expression: expression is not closed with }}"
    ]


def test_an_unknown_name_suggests_a_similar_one() -> None:
    assert reported("  parameters: {passes: 1}\n  target: ${{ parameters.pases }}\n") == [
        '8:11 unknown-name: unknown name "parameters.pases" in expression (did you mean "parameters.passes"?)'
    ]
    assert reported("  target: ${{ env.HOME }}\n") == [
        (
            '7:11 unknown-name: unknown name "env.HOME" in expression (use one of parameters.NAME, '
            "datacenter.name, metadata.name, spec.trainers.replicas, spec.pservers.replicas)"
        )
    ]
    assert reported("  target: ${{ datacenter.name }}\n") == [
        "7:11 expression: no datacenter is selected (select one with --datacenter)"
    ]


def test_a_parameter_cannot_refer_to_itself() -> None:
    assert reported("  parameters: {a: '${{ parameters.a }}'}\n") == [
        "7:19 expression: parameters.a refers to itself"
    ]
    circle = "  parameters: {a: '${{ parameters.b }}', b: '${{ parameters.a }}', c: 1}\n"
    assert reported(f"{circle}  target: ${{{{ parameters.c }}}}\n") == [
        "7:19 expression: parameters.b refers to itself",
        "7:45 expression: parameters.a refers to itself",
    ]


def test_an_error_does_not_make_other_names_circular() -> None:
    assert reported(
        "  parameters: {a: '${{ parameters.b }}', b: '${{ nope }}', c: '${{ parameters.b }}'}\n"
    ) == [
        (
            '7:45 unknown-name: unknown name "nope" in expression (use one of parameters.NAME, '
            "datacenter.name, metadata.name, spec.trainers.replicas, spec.pservers.replicas)"
        )
    ]


def test_a_missing_parameter_is_reported_once() -> None:
    result = done("  parameters: {user: null}\n  target: /home/${{ parameters.user }}\n")
    assert [str(diagnostic) for diagnostic in result.diagnostics] == [
        'job.yaml:7:16: error: parameter "user" has no value [parameter-required]'
    ]
    assert result.diagnostics[0].hint == (
        "set it in a profile, in an overlay, or with -u parameters.user=VALUE"
    )
    assert result.unresolved == {("spec", "parameters", "user"), ("spec", "target")}


def test_used_names_are_returned() -> None:
    result = done(
        "  parameters: {a: '${{ parameters.b }}', b: 1}\n  target: ${{ metadata.name }}\n"
    )
    assert result.used == {"parameters.b", "metadata.name"}


def test_a_document_without_expressions_is_unchanged() -> None:
    before = document(JOB)
    assert interpolate(before).document.data is before.data


def test_the_original_document_is_not_modified() -> None:
    before = document(f"{JOB}  setup: ['${{{{ metadata.name }}}}', b]\n")
    after = interpolate(before).document
    assert after.at(("spec", "setup")) == ["a", "b"]
    assert before.at(("spec", "setup")) == ["${{ metadata.name }}", "b"]
    assert after.locate(("spec", "setup", 0)) == before.locate(("spec", "setup", 0))


def test_a_value_is_validated_after_interpolation() -> None:
    text = f"{JOB}  parameters: {{n: four}}\n  trainers: {{replicas: '${{{{ parameters.n }}}}'}}\n"
    assert [str(finding) for finding in findings(text)] == [
        (
            "job.yaml:8:24: error: invalid value for spec.trainers.replicas: "
            'expected an integer, got "four" [type]'
        )
    ]
    assert findings(text.replace("four", "4")) == []


def doubling(length: int) -> str:
    names = [
        f"a{i}: '${{{{ parameters.a{i - 1} }}}}${{{{ parameters.a{i - 1} }}}}'"
        for i in range(1, length)
    ]
    return f"  parameters: {{a0: xxxxxxxx, {', '.join(names)}}}\n"


def test_the_size_of_parameters_is_limited() -> None:
    assert done(doubling(10)).diagnostics == []
    assert reported(doubling(60))[0].endswith("expression: expressions expand to more than 4 MiB")


def test_the_nesting_of_parameters_is_limited() -> None:
    names = [f"a{i}: '${{{{ parameters.a{i + 1} }}}}'" for i in range(500)]
    diagnostics = done(f"  parameters: {{{', '.join(names)}, a500: 1}}\n").diagnostics
    assert "nested more than 32 levels deep" in diagnostics[0].message


def test_many_unclosed_expressions_are_one_diagnostic() -> None:
    assert len(reported(f"  target: '{'${{' * 100_000}'\n")) == 1
