"""Every mistake in a spec is told at its word, with the repair, in the words of the spec."""

from __future__ import annotations

import pytest
from front import JOB, document, findings, problems

from paddlespec import gate
from paddlespec.diagnostic import InvalidSpec, dotted, has_errors, in_order, nearest

CASES: dict[str, tuple[str, list[str]]] = {
    "misspelt keys": ("trainers: {replica: 4}\n  volums: []", [
        '7:14 unknown-key: unknown key "replica" (did you mean "replicas"?)',
        '8:3 unknown-key: unknown key "volums" (did you mean "volumes"?)',
    ]),
    "another spelling of a key": ("image_pull_policy: Always\n  Scheduling: {}", [
        '7:3 unknown-key: unknown key "image_pull_policy" (did you mean "imagePullPolicy"?)',
        '8:3 unknown-key: unknown key "Scheduling" (did you mean "scheduling"?)',
    ]),
    "a key of another place": ("trainers: {resources: {color: red}}", [
        ('7:26 unknown-key: unknown key "color" '
        "(expected one of cpu, memory, gpu, accelerator, sharedMemory)"),
    ]),
    "text for a number": ("trainers: {replicas: four}", [
        '7:24 type: spec.trainers.replicas: expected an integer, found the text "four"']),
    "half a replica": ("trainers: {replicas: 4.5}", [
        "7:24 type: spec.trainers.replicas: expected an integer, found 4.5"]),
    "a number for text": ("image: x\n  target: 3", [
        '7:3 duplicate-key: the key "image" is already at line 6, column 3',
        "8:11 type: spec.target: expected text, found 3"]),
    "too few and too many": ("trainers: {replicas: 0, ports: {a: 70000}}", [
        "7:24 range: spec.trainers.replicas: 0 is less than 1",
        "7:38 range: spec.trainers.ports.a: 70000 is more than 65535"]),
    "a mapping too little": ("trainers: 4\n  package: .", [
        "7:13 type: spec.trainers: expected a mapping, found 4",
        '8:12 type: spec.package: expected a mapping, found the text "."']),
    "a list too little": ("setup: pip install", [
        ('7:10 type: spec.setup: expected a list, found the text "pip install" '
        "(write it as a list: a line that begins with '- ')")]),
    "a mapping where a list belongs": ("volumes: {name: a}", [
        "7:3 type: spec.volumes: expected a list, found a mapping"]),
    "yes is text": ("scheduling: {gang: yes}", [
        '7:22 type: spec.scheduling.gang: expected true or false, found the text "yes"']),
    "a wrong choice": ("outputPolicy: Refuse", [
        ('7:17 choice: spec.outputPolicy: "Refuse" is not one of refuse, reuse, clear '
        '(did you mean "refuse"?)')]),
    "a choice of another type": ("imagePullPolicy: [Always]", [
        ("7:3 choice: spec.imagePullPolicy: a list is not one of Always, IfNotPresent, Never "
        '(did you mean "Always"?)')]),
    "a format": ("policy: {timeout: 12 hours}\n  workspace: relative", [
        ('7:21 format: spec.policy.timeout: "12 hours" is not '
        "a duration such as 90s, 12h, 1h30m or 7d"),
        ('8:14 format: spec.workspace: "relative" is not '
        "an absolute path without colons, such as /data")]),
    "quantities": ("trainers: {resources: {cpu: -1, memory: 4GB, sharedMemory: []}}", [
        "7:31 range: spec.trainers.resources.cpu: -1 is less than 0",
        '7:43 format: spec.trainers.resources.memory: "4GB" is not a quantity such as 2, 500m or 4Gi',
        "7:48 type: spec.trainers.resources.sharedMemory: expected a number or text, found a list"]),
    "a name of a variable": ("env: {1A: x}", [
        '7:9 format: the key "1A" is not a variable name: letters, digits and underscores']),
    "a variable of many values": ("env: {A: [1], B: {secert: x}}", [
        "7:9 type: spec.env.A: expected text, true or false, a number or a mapping, found a list",
        '7:21 unknown-key: unknown key "secert" (did you mean "secret"?)']),
    "variables as a list": ("env: [{name: A, value: b}]", [
        "7:3 type: spec.env: expected a mapping, found a list"]),
    "nothing where something belongs": ("command: []\n  target: ''", [
        "7:3 empty: spec.command: must not be empty",
        "8:11 empty: spec.target: must not be empty"]),
    "a command": ("command: {a: b}", [
        "7:3 type: spec.command: expected text or a list, found a mapping"]),
    "an argument": ("command: [python, 3]", [
        "7:21 type: spec.command[1]: expected text, found 3"]),
    "a volume": ("volumes: [{name: A_b, mountPath: data, claim: {sise: 3}}]", [
        ('7:20 format: spec.volumes[0].name: "A_b" is not '
        "lower-case letters, digits and hyphens, at most 63"),
        ('7:36 format: spec.volumes[0].mountPath: "data" is not '
        "an absolute path without colons, such as /data"),
        "7:42 missing-key: spec.volumes[0].claim.size is missing (Capacity to ask for.)",
        '7:50 unknown-key: unknown key "sise" (did you mean "size"?)']),
    "what is missing from one mapping": ("volumes: [{claim: a}]", [
        "7:13 missing-key: spec.volumes[0].mountPath is missing (Where the replicas see it.)",
        "7:13 missing-key: spec.volumes[0].name is missing (Name; layers merge volumes by it.)"]),
    "patches": ("patches: [{patch: []}, {target: {}, patch: [{op: x}]}]", [
        "7:13 missing-key: spec.patches[0].target is missing (Which objects it applies to.)",
        "7:14 empty: spec.patches[0].patch: must not be empty",
        "7:47 missing-key: spec.patches[1].patch[0].path is missing (JSON pointer of the place.)",
        ('7:52 choice: spec.patches[1].patch[0].op: "x" is not one of '
        "add, remove, replace, move, copy, test")]),
    "a profile that is not chosen": ("target: a\nprofiles: {smoke: {trainers: {replica: 1}}, b: 3}", [
        '8:31 unknown-key: unknown key "replica" (did you mean "replicas"?)',
        "8:48 type: profiles.b: expected a mapping, found 3"]),
    "a field at the wrong level": ("metadata: {}\nmode: ps", [
        '7:3 unknown-key: unknown key "metadata"',
        ('8:1 unknown-key: unknown key "mode" '
        "(expected one of apiVersion, kind, metadata, spec, profiles)")]),
}  # fmt: skip


def told(text: str) -> list[str]:
    return [
        f"{each.span.line}:{each.span.column} {each.code}: {each.message}"
        + (f" ({each.hint})" if each.hint else "")
        for each in findings(text)
    ]


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_told_at_its_word(name: str) -> None:
    text, expected = CASES[name]
    assert told(f"{JOB}  {text}\n") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["1:1 type"]),
        ("# nothing\n", ["1:1 type"]),
        ("[]", ["1:1 type"]),
        ("text", ["1:1 type"]),
        ("apiVersion: v1\nkind: Job\n", ["1:1 missing-key", "1:1 missing-key", "1:13 choice", "2:7 choice"]),
        ("apiVersion: paddlespec.io/v1\nkind: PaddleJob\nmetadata: {}\nspec: {}\n",
         ["3:1 missing-key", "4:1 missing-key", "4:1 missing-key"]),
        (JOB.replace("kind: PaddleJob\n", ""), ["1:1 missing-key"]),
        (JOB.replace("kind: PaddleJob", "kind: Overlay"), ["2:7 choice"]),
        (JOB + "---\n" + JOB.replace("mode", "mod"), ["11:1 missing-key", "12:3 unknown-key"]),
    ],
)  # fmt: skip
def test_whole_documents(text: str, expected: list[str]) -> None:
    assert problems(text) == expected


def test_a_valid_job_is_silent() -> None:
    assert problems(JOB) == []


def test_findings_of_every_kind_come_at_once() -> None:
    text = JOB.replace("image: x", "image: 3") + (
        "  trainer: {}\n  policy: {retries: -1}\n  command: ${{ nope }}\n  setup: [1, '${{ nope }}']\n"
    )
    assert problems(text) == [
        "6:10 type",
        "7:3 unknown-key",
        "8:21 range",
        "9:12 unknown-name",
        "10:11 type",
        "10:14 unknown-name",
    ]


def test_long_words_are_cut() -> None:
    text = f'{JOB}  output: "{"x" * 3000}"\n  {"y" * 900}: 1\n'
    assert [len(str(each)) < 300 for each in findings(text)] == [True, True]


def test_thousands_of_faults_are_all_told() -> None:
    names = ", ".join(f"{index}: 1" for index in range(5000))
    assert len(findings(f"{JOB}  env: {{{names}}}\n")) == 5000


SALT = (
    "  env: {SALT: {value: [hunter2], sensitive: true}, B: {secret: Hunter2, key: {a: hunter2}}}\n"
)


def test_no_message_tells_a_variables_value() -> None:
    found = findings(JOB + SALT)
    assert [each.code for each in found] == ["type", "format", "type"]
    assert not any("unter2" in f"{each.message} {each.hint}" for each in found)


def test_other_values_are_told() -> None:
    (found,) = findings(f"{JOB}  parameters: {{a: [x]}}\n  workdir: here\n".replace("[x]", "x"))
    assert '"here"' in found.message


def test_what_was_refused_is_named_by_path() -> None:
    text = f"{JOB}  trainer: {{}}\n  trainers: {{replicas: four}}\n  volumes: [{{name: a}}]\n"
    refusal = gate.check(document(text), gate.EFFECTIVE)
    assert refusal.unknown == {("spec", "trainer")}
    assert refusal.spoiled == {
        ("spec", "trainers", "replicas"),
        ("spec", "volumes", 0, "mountPath"),
    }


def test_a_part_is_held_to_its_definition_and_told_where_it_belongs() -> None:
    layer = document("trainers: {replica: 1}\nimage: 3\n", "defaults.yaml")
    refusal = gate.check(layer, gate.SOURCE, "Spec", ("spec",))
    assert {str(each.span) for each in refusal.diagnostics} == {
        "defaults.yaml:2:8",
        "defaults.yaml:1:12",
    }
    assert refusal.unknown == {("spec", "trainers", "replica")}


def test_findings_are_sorted_and_told_once() -> None:
    found = findings(f"{JOB}  policy: {{retries: -1}}\n  imag: x\n")
    assert in_order([*reversed(found), *found]) == found
    assert has_errors(found)
    assert InvalidSpec(reversed(found)).diagnostics == found


def test_paths_are_written_as_people_write_them() -> None:
    assert dotted(("spec", "volumes", 0, "name")) == "spec.volumes[0].name"
    assert dotted(("metadata", "labels", "a.b/c")) == 'metadata.labels."a.b/c"'


def test_the_nearest_word_is_a_likely_one() -> None:
    assert nearest("replica", ["replicas", "resources"]) == "replicas"
    assert nearest("MOUNT_PATH", ["mountPath", "name"]) == "mountPath"
    assert nearest("xyz", ["replicas"]) is None
