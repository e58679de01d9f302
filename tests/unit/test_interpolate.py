"""`${{ names }}`: what a spec may say of itself."""

from __future__ import annotations

from typing import Any

import pytest
from front import JOB, document, findings

from paddlespec.interpolate import Interpolated, interpolate


def done(spec: str, datacenter: str | None = None) -> Interpolated:
    return interpolate(document(f"{JOB}{spec}"), datacenter)


def value(expression: str, parameters: str = "{}", datacenter: str | None = None) -> Any:
    """What a field holds after its expressions were replaced."""
    result = done(f"  parameters: {parameters}\n  target: {expression}\n", datacenter)
    assert result.diagnostics == []
    return result.document.at(("spec", "target"))


def told(spec: str, datacenter: str | None = None) -> list[str]:
    return [
        f"{each.span.line}:{each.span.column} {each.code}: {each.message}"
        + (f" ({each.hint})" if each.hint else "")
        for each in done(spec, datacenter).diagnostics
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
    found = value("${{ parameters.a }}", parameters)
    assert found == expected
    assert type(found) is type(expected)


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
def test_the_names_and_how_text_is_joined(text: str, expected: object) -> None:
    assert value(text, "{n: 10, f: 0.1, t: true}", "dc1") == expected


def test_replicas_are_those_of_the_role_or_its_default() -> None:
    both = "  target: ${{ spec.trainers.replicas }}/${{ spec.pservers.replicas }}\n"
    wrote = done(f"{both}  trainers: {{replicas: 4}}\n  pservers: {{replicas: 2}}\n")
    assert wrote.document.at(("spec", "target")) == "4/2"
    assert done(f"{both}  pservers: {{}}\n").document.at(("spec", "target")) == "1/1"
    assert told(both) == ["7:11 expression: spec.pservers.replicas has no value"]


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
def test_what_belongs_to_the_shell_and_to_kubernetes_is_left_alone(text: str) -> None:
    assert value(f"'{text}'") == text
    assert value(f"'{text} ${{{{ parameters.n }}}}'", "{n: 1}") == f"{text} 1"


@pytest.mark.parametrize("text", ["${{", "${{ a", "a ${{ b } }", "${{ ${{ a }}"])
def test_an_expression_that_is_not_closed(text: str) -> None:
    assert told(f"  target: '{text}'\n") == ["7:11 expression: the expression has no closing }}"]


def test_unknown_names_offer_the_nearest() -> None:
    assert told("  parameters: {passes: 1}\n  target: ${{ parameters.pases }}\n") == [
        '8:11 unknown-name: nothing is called "parameters.pases" (did you mean "parameters.passes"?)'
    ]
    assert told("  target: ${{ env.HOME }}\n") == [
        (
            '7:11 unknown-name: nothing is called "env.HOME" (the names are parameters.NAME, '
            "datacenter.name, metadata.name, spec.trainers.replicas, spec.pservers.replicas)"
        )
    ]
    assert told("  target: ${{ datacenter.name }}\n") == [
        "7:11 expression: no datacenter is chosen (name one with --datacenter)"
    ]


def test_nothing_may_stand_for_itself() -> None:
    assert told("  parameters: {a: '${{ parameters.a }}'}\n") == [
        "7:19 expression: parameters.a is defined by itself"
    ]
    circle = "  parameters: {a: '${{ parameters.b }}', b: '${{ parameters.a }}', c: 1}\n"
    assert told(f"{circle}  target: ${{{{ parameters.c }}}}\n") == [
        "7:19 expression: parameters.b is defined by itself",
        "7:45 expression: parameters.a is defined by itself",
    ]


def test_one_fault_does_not_make_another_name_circular() -> None:
    assert told(
        "  parameters: {a: '${{ parameters.b }}', b: '${{ nope }}', c: '${{ parameters.b }}'}\n"
    ) == [
        (
            '7:45 unknown-name: nothing is called "nope" (the names are parameters.NAME, '
            "datacenter.name, metadata.name, spec.trainers.replicas, spec.pservers.replicas)"
        )
    ]


def test_a_parameter_without_a_value_is_required_once() -> None:
    result = done("  parameters: {user: null}\n  target: /home/${{ parameters.user }}\n")
    assert [str(each) for each in result.diagnostics] == [
        "job.yaml:7:16: error: the parameter user has no value [parameter-required]"
    ]
    assert result.diagnostics[0].hint == (
        "supply it with a profile, an overlay or -u parameters.user=VALUE"
    )
    assert result.unresolved == {("spec", "parameters", "user"), ("spec", "target")}


def test_names_that_were_met_are_told() -> None:
    result = done(
        "  parameters: {a: '${{ parameters.b }}', b: 1}\n  target: ${{ metadata.name }}\n"
    )
    assert result.used == {"parameters.b", "metadata.name"}


def test_a_document_without_expressions_stays_as_it_is() -> None:
    before = document(JOB)
    assert interpolate(before).document.data is before.data


def test_the_document_before_is_left_alone() -> None:
    before = document(f"{JOB}  setup: ['${{{{ metadata.name }}}}', b]\n")
    after = interpolate(before).document
    assert after.at(("spec", "setup")) == ["a", "b"]
    assert before.at(("spec", "setup")) == ["${{ metadata.name }}", "b"]
    assert after.locate(("spec", "setup", 0)) == before.locate(("spec", "setup", 0))


def test_a_value_is_held_to_the_schema_after_its_expressions() -> None:
    text = f"{JOB}  parameters: {{n: four}}\n  trainers: {{replicas: '${{{{ parameters.n }}}}'}}\n"
    assert [str(each) for each in findings(text)] == [
        (
            "job.yaml:8:24: error: spec.trainers.replicas: "
            'expected an integer, found the text "four" [type]'
        )
    ]
    assert findings(text.replace("four", "4")) == []


def doubling(length: int) -> str:
    names = [
        f"a{i}: '${{{{ parameters.a{i - 1} }}}}${{{{ parameters.a{i - 1} }}}}'"
        for i in range(1, length)
    ]
    return f"  parameters: {{a0: xxxxxxxx, {', '.join(names)}}}\n"


def test_parameters_cannot_grow_without_bound() -> None:
    assert done(doubling(10)).diagnostics == []
    assert told(doubling(60))[0].endswith(
        "expression: the expressions make more than 4 MiB of text"
    )


def test_a_chain_of_parameters_has_an_end() -> None:
    names = [f"a{i}: '${{{{ parameters.a{i + 1} }}}}'" for i in range(500)]
    found = done(f"  parameters: {{{', '.join(names)}, a500: 1}}\n").diagnostics
    assert "more than 32 names stand for one another" in found[0].message


def test_many_unclosed_expressions_are_one_finding() -> None:
    assert len(told(f"  target: '{'${{' * 100_000}'\n")) == 1
