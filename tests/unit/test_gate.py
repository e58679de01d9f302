"""Schema errors are reported at the exact position, with a fix, in terms of the spec."""

from __future__ import annotations

import pytest
from front import JOB, document, findings, problems

from paddlespec.diagnostic import (
    InvalidSpec,
    dotted,
    has_errors,
    in_order,
    nearest,
)
from paddlespec.spec import gate

CASES: dict[str, tuple[str, list[str]]] = {
    "misspelled keys": ("trainers: {replica: 4}\n  volums: []", [
        '7:14 unknown-key: unknown key "replica" (did you mean "replicas"?)',
        '8:3 unknown-key: unknown key "volums" (did you mean "volumes"?)',
    ]),
    "snake case and capitals": ("image_pull_policy: Always\n  Scheduling: {}", [
        '7:3 unknown-key: unknown key "image_pull_policy" (did you mean "imagePullPolicy"?)',
        '8:3 unknown-key: unknown key "Scheduling" (did you mean "scheduling"?)',
    ]),
    "a key of another mapping": ("trainers: {resources: {color: red}}", [
        ('7:26 unknown-key: unknown key "color" (use one of cpu, memory, ephemeralStorage, limits, '
         "gpu, accelerator, extended, claims, sharedMemory)"),
    ]),
    "a string for a number": ("trainers: {replicas: four}", [
        '7:24 type: invalid value for spec.trainers.replicas: expected an integer, got "four"',
    ]),
    "a fraction of a replica": ("trainers: {replicas: 4.5}", [
        "7:24 type: invalid value for spec.trainers.replicas: expected an integer, got 4.5",
    ]),
    "a number for a string": ("image: x\n  target: 3", [
        '7:3 duplicate-key: duplicate key "image": first set at line 6, column 3',
        "8:11 type: invalid value for spec.target: expected a string, got 3 (put it in quotes)",
    ]),
    "too few and too many": ("trainers: {replicas: 0, ports: {a: 70000}}", [
        "7:24 range: invalid value 0 for spec.trainers.replicas: must be at least 1",
        "7:38 range: invalid value 70000 for spec.trainers.ports.a: must be at most 65535",
    ]),
    "a scalar for a mapping": ("trainers: 4\n  package: .", [
        "7:13 type: invalid value for spec.trainers: expected a mapping, got 4",
        '8:12 type: invalid value for spec.package: expected a mapping, got "."',
    ]),
    "a scalar for a list": ("setup: pip install", [
        ('7:10 type: invalid value for spec.setup: expected a list, got "pip install" (write it '
         "as a list, with '- ' before each item)"),
    ]),
    "a mapping for a list": ("volumes: {name: a}", [
        "7:3 type: invalid value for spec.volumes: expected a list, got a mapping",
    ]),
    "yes is a string": ("scheduling: {gang: yes}", [
        ('7:22 type: invalid value for spec.scheduling.gang: expected a boolean, got "yes" '
         "(use true or false, without quotes)"),
    ]),
    "an unknown choice": ("outputPolicy: Refuse", [
        ('7:17 choice: invalid value "Refuse" for spec.outputPolicy: expected one of refuse, '
         'reuse, clear (did you mean "refuse"?)'),
    ]),
    "a list for a choice": ("imagePullPolicy: [Always]", [
        ("7:3 choice: invalid value for spec.imagePullPolicy: expected one of Always, "
         'IfNotPresent, Never (did you mean "Always"?)'),
    ]),
    "invalid formats": ("policy: {timeout: 12 hours}\n  workspace: relative", [
        ('7:21 format: invalid duration "12 hours" for spec.policy.timeout (use a duration such '
         "as 90s, 12h, 1h30m or 7d)"),
        ('8:14 format: invalid path "relative" for spec.workspace (use an absolute path without '
         "colons, such as /data)"),
    ]),
    "quantities": ("trainers: {resources: {cpu: -1, memory: 4GB, sharedMemory: []}}", [
        "7:31 range: invalid value -1 for spec.trainers.resources.cpu: must be at least 0",
        '7:43 format: invalid quantity "4GB" for spec.trainers.resources.memory (use 4Gi, or 4G)',
        ("7:48 type: invalid value for spec.trainers.resources.sharedMemory: expected a number or "
         "a string, got a list"),
    ]),
    "an invalid variable name": ("env: {1A: x}", [
        '7:9 format: invalid variable name "1A" (use letters, digits and underscores)',
    ]),
    "a list for a variable": ("env: {A: [1], B: {secert: x}}", [
        ("7:9 type: invalid value for spec.env.A: expected a string, a boolean, a number or a "
         "mapping, got a list"),
        '7:21 unknown-key: unknown key "secert" (did you mean "secret"?)',
    ]),
    "a list of variables": ("env: [{name: A, value: b}]", [
        "7:3 type: invalid value for spec.env: expected a mapping, got a list",
    ]),
    "empty values": ("command: []\n  target: ''", [
        "7:3 empty: spec.command must not be empty",
        "8:11 empty: spec.target must not be empty",
    ]),
    "a command": ("command: {a: b}", [
        "7:3 type: invalid value for spec.command: expected a string or a list, got a mapping",
    ]),
    "an argument of a command": ("command: [python, 3]", [
        ("7:21 type: invalid value for spec.command[1]: expected a string, got 3 "
         "(put it in quotes)"),
    ]),
    "a volume": ("volumes: [{name: A_b, mountPath: data, claim: {sise: 3}}]", [
        ('7:20 format: invalid name "A_b" for spec.volumes[0].name (use at most 63 lower-case '
         "letters, digits and hyphens)"),
        ('7:36 format: invalid path "data" for spec.volumes[0].mountPath (use an absolute path '
         "without colons, such as /data)"),
        "7:42 missing-key: spec.volumes[0].claim.size is required (add `size`: requested capacity)",
        '7:50 unknown-key: unknown key "sise" (did you mean "size"?)',
    ]),
    "two keys missing from one mapping": ("volumes: [{claim: a}]", [
        ("7:13 missing-key: spec.volumes[0].mountPath is required (add `mountPath`: path of the "
         "volume in the replicas)"),
        "7:13 missing-key: spec.volumes[0].name is required (add `name`: name of the volume)",
    ]),
    "patches": ("patches: [{patch: []}, {target: {}, patch: [{op: x}]}]", [
        "7:13 missing-key: spec.patches[0].target is required (add `target`: objects to patch)",
        "7:14 empty: spec.patches[0].patch must not be empty",
        ("7:47 missing-key: spec.patches[1].patch[0].path is required (add `path`: JSON pointer "
         "to the value)"),
        ('7:52 choice: invalid value "x" for spec.patches[1].patch[0].op: expected one of add, '
         "remove, replace, move, copy, test"),
    ]),
    "a profile that is not selected": ("target: a\nprofiles: {smoke: {trainers: {replica: 1}}, b: 3}", [
        '8:31 unknown-key: unknown key "replica" (did you mean "replicas"?)',
        "8:48 type: invalid value for profiles.b: expected a mapping, got 3",
    ]),
    "fields at the wrong level": ("metadata: {}\nmode: ps", [
        '7:3 unknown-key: unknown key "metadata"',
        '8:1 unknown-key: unknown key "mode" (use one of apiVersion, kind, metadata, spec, profiles)',
    ]),
}  # fmt: skip


def reported(text: str) -> list[str]:
    return [
        f"{fault.span.line}:{fault.span.column} {fault.code}: {fault.message}"
        + (f" ({fault.hint})" if fault.hint else "")
        for fault in findings(text)
    ]


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_reported_at_its_position(name: str) -> None:
    text, expected = CASES[name]
    assert reported(f"{JOB}  {text}\n") == expected


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


def test_a_valid_job_has_no_diagnostics() -> None:
    assert problems(JOB) == []


def test_all_kinds_of_errors_are_reported_at_once() -> None:
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


def test_long_values_are_shortened() -> None:
    text = f'{JOB}  output: "{"x" * 3000}"\n  {"y" * 900}: 1\n'
    assert [len(str(fault)) < 300 for fault in findings(text)] == [True, True]


def test_thousands_of_errors_are_all_reported() -> None:
    names = ", ".join(f"{index}: 1" for index in range(5000))
    assert len(findings(f"{JOB}  env: {{{names}}}\n")) == 5000


SALT = (
    "  env: {SALT: {value: [hunter2], sensitive: true}, B: {secret: Hunter2, key: {a: hunter2}}}\n"
)


def test_messages_never_show_the_value_of_a_variable() -> None:
    faults = findings(JOB + SALT)
    assert [fault.code for fault in faults] == ["type", "format", "type"]
    assert not any("unter2" in f"{fault.message} {fault.hint}" for fault in faults)


def test_messages_show_other_values() -> None:
    (fault,) = findings(f"{JOB}  parameters: {{a: x}}\n  workdir: here\n")
    assert '"here"' in fault.message


@pytest.mark.parametrize(
    ("size", "hint"),
    [
        ("4GB", "use 4Gi, or 4G"),
        ("1.5 mb", "use 1.5Mi, or 1.5M"),
        ("8KB", "use 8Ki, or 8k"),
        ("4 Gi", "use a number with an optional unit, such as 2, 500m or 4Gi"),
    ],
)
def test_a_size_in_decimal_bytes_is_corrected(size: str, hint: str) -> None:
    (fault,) = findings(f"{JOB}  trainers: {{resources: {{memory: {size}}}}}\n")
    assert fault.hint == hint


def test_rejected_values_are_returned_by_path() -> None:
    text = f"{JOB}  trainer: {{}}\n  trainers: {{replicas: four}}\n  volumes: [{{name: a}}]\n"
    refusal = gate.check(document(text), gate.EFFECTIVE)
    assert refusal.unknown == {("spec", "trainer")}
    assert refusal.unreadable == {
        ("spec", "trainers", "replicas"),
        ("spec", "volumes", 0, "mountPath"),
    }


def test_a_part_is_validated_against_its_definition() -> None:
    layer = document("trainers: {replica: 1}\nimage: 3\n", "defaults.yaml")
    refusal = gate.check(layer, gate.SOURCE, "Spec", ("spec",))
    assert {str(fault.span) for fault in refusal.diagnostics} == {
        "defaults.yaml:2:8",
        "defaults.yaml:1:12",
    }
    assert refusal.unknown == {("spec", "trainers", "replica")}


def test_diagnostics_are_sorted_and_duplicates_removed() -> None:
    faults = findings(f"{JOB}  policy: {{retries: -1}}\n  imag: x\n")
    assert in_order([*reversed(faults), *faults]) == faults
    assert has_errors(faults)
    assert InvalidSpec(reversed(faults)).diagnostics == faults


def test_paths_are_formatted_for_people() -> None:
    assert dotted(("spec", "volumes", 0, "name")) == "spec.volumes[0].name"
    assert dotted(("metadata", "labels", "a.b/c")) == 'metadata.labels."a.b/c"'


def test_only_similar_words_are_suggested() -> None:
    assert nearest("replica", ["replicas", "resources"]) == "replicas"
    assert nearest("MOUNT_PATH", ["mountPath", "name"]) == "mountPath"
    assert nearest("xyz", ["replicas"]) is None
