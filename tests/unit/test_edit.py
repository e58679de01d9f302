"""Edits in place: what changes, and above all what does not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from paddlespec.cli.commands.set import set_values
from paddlespec.cli.shared.exits import Stop
from paddlespec.diagnostic import InvalidSpec
from paddlespec.spec.edit import Source, choose, edited
from paddlespec.spec.edit.nodes import roots
from paddlespec.spec.edit.splice import splice
from paddlespec.spec.source import read
from paddlespec.spec.update import parse

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "apiVersion: paddlespec.io/v1\nkind: PaddleJob\n"


def after(text: str, *changes: str, document: int = 0) -> str:
    updates = [parse(change, option="") for change in changes]
    return edited(text, "job.yaml", updates, document)


def spec_after(text: str, *changes: str) -> str:
    """Apply changes and return the lines below the head."""
    return after(HEAD + text, *changes).removeprefix(HEAD)


def refusal(text: str, *changes: str) -> str:
    with pytest.raises(InvalidSpec) as error:
        after(text, *changes)
    return str(error.value)


EDITS = {
    "a plain scalar keeps its comment": (
        "spec:\n  mode: ps   # why\n",
        "mode=legacy",
        "spec:\n  mode: legacy   # why\n",
    ),
    "single quotes": (
        "spec:\n  image: 'a:1'\n",
        "image=it's",
        "spec:\n  image: 'it''s'\n",
    ),
    "double quotes": (
        'spec:\n  image: "a:1" # x\n',
        'image=b "c"',
        'spec:\n  image: "b \\"c\\"" # x\n',
    ),
    "a duration needs no quotes": (
        "spec:\n  policy: {timeout: 12h}\n",
        "policy.timeout=1h30m",
        "spec:\n  policy: {timeout: 1h30m}\n",
    ),
    "an expression needs no quotes": (
        "spec:\n  command: a\n",
        "command=python t.py ${{ parameters.p }}",
        "spec:\n  command: python t.py ${{ parameters.p }}\n",
    ),
    "text that looks like a number is quoted": (
        "spec:\n  image: a\n",
        "image=1.10",
        'spec:\n  image: "1.10"\n',
    ),
    "text that YAML 1.1 takes for a truth value is quoted": (
        "spec:\n  image: a\n",
        "image=yes",
        'spec:\n  image: "yes"\n',
    ),
    "a comma inside of brackets is quoted": (
        "metadata:\n  annotations: {a: b}\n",
        "metadata.annotations.a=x, y",
        'metadata:\n  annotations: {a: "x, y"}\n',
    ),
    "a folded scalar": (
        "spec:\n  command: >-  # run\n    python\n    train.py\n  mode: ps\n",
        "command=python a.py",
        "spec:\n  command: python a.py # run\n  mode: ps\n",
    ),
    "several lines become a literal": (
        "spec:\n  command: python a.py  # run\n",
        "command=cd x\npython a.py",
        "spec:\n  command: |-  # run\n    cd x\n    python a.py\n",
    ),
    "a value on a line of its own": (
        "spec:\n  image:\n    # why\n    a # b\n",
        "image=c",
        "spec:\n  image:\n    # why\n    c # b\n",
    ),
    "a new key follows the last one": (
        "spec:\n  trainers:\n    replicas: 1 # one\n    # deeper\n  # outer\nprofiles: {}\n",
        "trainers.image=b",
        (
            "spec:\n  trainers:\n    replicas: 1 # one\n    image: b\n    # deeper\n  # outer\n"
            "profiles: {}\n"
        ),
    ),
    "a new key follows a literal": (
        "spec:\n  command: |\n    a\n\n# tail\n",
        "image=b",
        "spec:\n  command: |\n    a\n  image: b\n\n# tail\n",
    ),
    "a new key follows a literal that keeps its breaks": (
        "spec:\n  command: |+\n    a\n\n",
        "image=b",
        "spec:\n  command: |+\n    a\n\n  image: b\n",
    ),
    "a new key in braces": (
        "metadata: {name: a} # c\n",
        "metadata.namespace=b",
        "metadata: {name: a, namespace: b} # c\n",
    ),
    "a new key in braces of several lines": (
        "spec:\n  parameters: {\n    a: 1, # one\n    b: 2  # two\n  }\n",
        "parameters.c=3",
        "spec:\n  parameters: {\n    a: 1, # one\n    b: 2,  # two\n    c: 3\n  }\n",
    ),
    "parents come with the key": (
        "metadata:\n    name: a\n",
        "trainers.resources.cpu=2",
        "metadata:\n    name: a\nspec:\n    trainers:\n        resources:\n            cpu: 2\n",
    ),
    "an empty value becomes a mapping": (
        "spec:\n  trainers:   # who\n  mode: ps\n",
        "trainers.replicas=2",
        "spec:\n  trainers:   # who\n    replicas: 2\n  mode: ps\n",
    ),
    "a scalar becomes a mapping": (
        "spec:\n  env:\n    A: x # c\n",
        "env.A={secret: s, key: k}",
        "spec:\n  env:\n    A: # c\n      secret: s\n      key: k\n",
    ),
    "a mapping becomes a scalar": (
        "spec:\n  env:\n    A: # c\n      secret: s\n      key: k\n    B: y\n",
        "env.A=x",
        "spec:\n  env:\n    A: x # c\n    B: y\n",
    ),
    "a list replaces a list": (
        "spec:\n  setup: # c\n  - a\n  - b\n  mode: ps\n",
        "setup=[c]",
        "spec:\n  setup: # c\n  - c\n  mode: ps\n",
    ),
    "an item follows the last one": (
        "spec:\n  setup:\n  - a # b\n  # c\n  mode: ps\n",
        "setup+=d",
        "spec:\n  setup:\n  - a # b\n  - d\n  # c\n  mode: ps\n",
    ),
    "an item in brackets": (
        "spec:\n  setup: [a, b] # c\n",
        "setup+=d",
        "spec:\n  setup: [a, b, d] # c\n",
    ),
    "an item in brackets of several lines with a last comma": (
        "spec:\n  setup: [\n    a,  # one\n  ]\n",
        "setup+=d",
        "spec:\n  setup: [\n    a,  # one\n    d,\n  ]\n",
    ),
    "an item is written like the one before it": (
        "spec:\n  volumes:\n    - {name: a, mountPath: /a}\n",
        "volumes+={name: b, mountPath: /b}",
        "spec:\n  volumes:\n    - {name: a, mountPath: /a}\n    - {name: b, mountPath: /b}\n",
    ),
    "an item of lines": (
        "spec:\n  volumes:\n    - name: a\n      mountPath: /a\n",
        "volumes+={name: b, mountPath: /b}",
        "spec:\n  volumes:\n    - name: a\n      mountPath: /a\n    - name: b\n      mountPath: /b\n",
    ),
    "the first item": ("spec:\n  setup: []\n", "setup+=a", "spec:\n  setup:\n    - a\n"),
    "an item by its name": (
        "spec:\n  volumes:\n    - name: a # c\n      mountPath: /a\n",
        "volumes[a].mountPath=/b",
        "spec:\n  volumes:\n    - name: a # c\n      mountPath: /b\n",
    ),
    "a key goes with its comment": (
        "spec:\n  # above\n  mode: ps # with it\n  # below\n  image: a\n",
        "mode-",
        "spec:\n  # above\n  # below\n  image: a\n",
    ),
    "the first key of an item goes": (
        "spec:\n  volumes:\n    - readOnly: true # c\n      name: a\n",
        "volumes[a].readOnly-",
        "spec:\n  volumes:\n    - name: a\n",
    ),
    "the first key of an item goes, a comment below it stays": (
        "spec:\n  volumes:\n    - readOnly: true # c\n      # why\n      name: a\n",
        "volumes[a].readOnly-",
        "spec:\n  volumes:\n    -\n      # why\n      name: a\n",
    ),
    "a key in braces goes": (
        "metadata: {name: a, namespace: b}\n",
        "metadata.name-",
        "metadata: {namespace: b}\n",
    ),
    "the last key in braces goes": (
        "metadata: {name: a, namespace: b}\n",
        "metadata.namespace-",
        "metadata: {name: a}\n",
    ),
    "the only key goes, comments inside stay": (
        "spec:\n  env:\n    # note\n    A: x\n    # more\n",
        "env.A-",
        "spec:\n  env: {}\n    # note\n    # more\n",
    ),
    "an item goes": (
        "spec:\n  setup:\n    - a\n    - b # c\n",
        "setup[1]-",
        "spec:\n  setup:\n    - a\n",
    ),
    "an item of a list in a list goes": (
        "spec:\n  trainers:\n    affinity:\n      a:\n        - - x\n          - y\n",
        "trainers.affinity.a[0][0]-",
        "spec:\n  trainers:\n    affinity:\n      a:\n        - - y\n",
    ),
    "an item on a line of its own in brackets goes": (
        "spec:\n  setup: [\n    a, # one\n    b, # two\n  ]\n",
        "setup[0]-",
        "spec:\n  setup: [\n    b, # two\n  ]\n",
    ),
    "an anchor stays with a value that nothing shares": (
        "spec:\n  image: &i a\n",
        "image=b",
        "spec:\n  image: &i b\n",
    ),
    "an alias is written out where it changes": (
        "spec:\n  trainers:\n    env: &e\n      A: x\n  pservers:\n    env: *e # c\n",
        "pservers.env.B=z",
        (
            "spec:\n  trainers:\n    env: &e\n      A: x\n  pservers:\n    env: # c\n"
            "      A: x\n      B: z\n"
        ),
    ),
    "a key hides what << brings": (
        "spec:\n  env: &e {A: x}\n  trainers:\n    env:\n      <<: *e\n",
        "trainers.env.A=z",
        "spec:\n  env: &e {A: x}\n  trainers:\n    env:\n      <<: *e\n      A: z\n",
    ),
    "explicit keys": ("spec:\n  ? image\n  : a\n", "image=b", "spec:\n  ? image\n  : b\n"),
    "wide characters before it": (
        "metadata:\n  annotations: {a: 😀é, b: c} # 😀\n",
        "metadata.annotations.b=d",
        "metadata:\n  annotations: {a: 😀é, b: d} # 😀\n",
    ),
    "nothing changes": (
        "spec:\n  image:   'a'\n",
        "image=a",
        "spec:\n  image:   'a'\n",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_changes_only_its_value(name: str) -> None:
    before, change, expected = EDITS[name]
    assert spec_after(before, change) == expected


@pytest.mark.parametrize("name", EDITS)
def test_line_breaks_are_kept_even_if_the_last_is_missing(name: str) -> None:
    before, change, expected = EDITS[name]
    windows = (HEAD + before).replace("\n", "\r\n")
    assert after(windows, change) == (HEAD + expected).replace("\n", "\r\n")
    if not before.endswith("\n\n") and "|" not in before:
        assert spec_after(before.removesuffix("\n"), change) == expected.removesuffix("\n")


@pytest.mark.parametrize("name", EDITS)
def test_splicing_is_enough_for_common_edits(name: str) -> None:
    """The round trip through ruamel.yaml rewrites more; these edits must not need it."""
    before, change, expected = EDITS[name]
    text = HEAD + before
    [document] = read(HEAD + expected, "x").documents
    update = parse(change, option="")
    path = tuple(0 if part == "a" and "volumes" in update.path else part for part in update.path)
    if name != "nothing changes":
        assert splice(text, roots(text)[0], path, update.action, document.data) == HEAD + expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "spec:\n  image: a\n"),
        ("# note", "# note\nspec:\n  image: a\n"),
        ("# note\n", "# note\nspec:\n  image: a\n"),
        ("{}\n", "spec:\n  image: a\n"),
        ("null", "spec:\n  image: a"),
        ("---\n", "---\nspec:\n  image: a\n"),
        ("--- {}\n", "---\nspec:\n  image: a\n"),
        ("--- # note\n", "--- # note\nspec:\n  image: a\n"),
    ],
)
def test_a_value_can_be_added_to_an_empty_file(text: str, expected: str) -> None:
    assert after(text, "image=a") == expected


def test_json_stays_json() -> None:
    text = '{\n  "kind": "PaddleJob",\n  "spec": {\n    "setup": [\n      "a",\n      "b"\n    ]\n  }\n}\n'
    text = text.replace("{\n", '{\n  "apiVersion": "paddlespec.io/v1",\n', 1)
    assert after(text, 'setup+=c "d"').count('      "b",\n      "c \\"d\\""\n    ]') == 1
    assert '      "a"\n    ]' in after(text, "setup[1]-")
    assert '    ],\n    "env": {"A": "1"}\n' in after(text, "env.A=1")


def test_other_edits_rewrite_the_document() -> None:
    """The value of a block scalar at the end of a file changes when a line follows it."""
    assert spec_after("spec:\n  command: |\n    x", "image=b") == (
        "spec:\n  command: |-\n    x\n  image: b\n"
    )
    assert "replicas: 3" in spec_after(
        "spec:\n  trainers:\n    replicas: !!str 4\n", "trainers.replicas=3"
    )


def test_a_shared_value_is_not_edited() -> None:
    text = HEAD + "spec:\n  env: &e\n    A: x\n  trainers:\n    env: *e\n"
    assert "has an anchor" in refusal(text, "env.A=y")
    merged = HEAD + "spec:\n  env: &e {A: x}\n  trainers:\n    env: {<<: *e}\n"
    assert "has an anchor" in refusal(merged, "trainers.env.A-")


def test_a_change_that_adds_an_error_is_rejected() -> None:
    text = HEAD + "spec:\n  mode: ps\n"
    assert refusal(text, "trainers.replicas=four") == (
        "trainers.replicas=four: error: invalid value for spec.trainers.replicas: "
        'expected an integer, got "four" [type]'
    )
    assert "[choice]" in refusal(text, "image=a", "mode=pss")
    assert "[unknown-path]" in refusal(text, "env.A-")
    assert "[unknown-path]" in refusal(text, "setup[0]=a")


def test_existing_errors_do_not_prevent_an_edit() -> None:
    text = HEAD + "spec:\n  mode: pss\n  oops: 1\n"
    assert after(text, "image=a") == text + "  image: a\n"
    assert after(text, "mode=ps") == text.replace("pss", "ps")
    assert after(text, "oops-") == text.replace("  oops: 1\n", "")


def test_invalid_files_and_project_files_are_rejected() -> None:
    assert "[duplicate-key]" in refusal("a: 1\na: 2\n", "image=a")
    assert "[syntax]" in refusal("a: [\n", "image=a")
    project = "apiVersion: paddlespec.io/v1\nkind: Project\nproject: a\n"
    assert "project file" in refusal(project, "image=a")


SEVERAL = f"{HEAD}metadata: {{name: one}}\n--- # second\n{HEAD}metadata: {{name: two}}\n"


def test_a_document_is_selected_by_name_or_number() -> None:
    assert choose(SEVERAL, "x", "two") == choose(SEVERAL, "x", "2") == 1
    assert choose(HEAD, "x", None) == 0
    with pytest.raises(InvalidSpec) as error:
        choose(SEVERAL, "jobs.yaml", None)
    assert str(error.value) == "jobs.yaml: error: the file contains 2 documents [edit]"
    assert error.value.diagnostics[0].hint == "select one with --document: one, two"
    for missing in ("tow", "3", "0"):
        with pytest.raises(InvalidSpec):
            choose(SEVERAL, "x", missing)


def test_other_documents_are_kept() -> None:
    changed = after(SEVERAL, "image=a", document=1)
    assert changed == SEVERAL + "spec:\n  image: a\n"
    first = after(SEVERAL, "image=a", document=0)
    assert first == SEVERAL.replace("one}\n", "one}\nspec:\n  image: a\n")


@pytest.mark.parametrize(
    "content",
    [
        HEAD.encode(),
        b"\xef\xbb\xbf" + HEAD.encode(),
        b"\xff\xfe" + HEAD.encode("utf-16-le"),
        b"\xfe\xff" + HEAD.encode("utf-16-be"),
    ],
    ids=["plain", "bom", "little-endian", "big-endian"],
)
def test_the_encoding_is_kept(content: bytes) -> None:
    source = Source.of(content, "x")
    assert source.text == HEAD
    assert source.with_text(source.text) == content


def test_set_writes_the_file_and_keeps_its_permissions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(HEAD)
    file.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to("job.yaml")
    assert set_values(str(link), ["image=a", "mode=ps"]) == 0
    assert file.read_text() == HEAD + "spec:\n  image: a\n  mode: ps\n"
    assert file.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["job.yaml", "link.yaml"]
    assert capsys.readouterr().out == ""


def test_set_makes_all_changes_or_none(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(HEAD)
    with pytest.raises(InvalidSpec):
        set_values(str(file), ["image=a", "mode=nonsense"])
    with pytest.raises(InvalidSpec) as error:
        set_values(str(file), ["imagee=a", "modee=b"])
    assert len(error.value.diagnostics) == 2
    assert file.read_text() == HEAD


def test_a_dry_run_shows_the_difference_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(HEAD + "spec: {mode: ps}")
    set_values("job.yaml", ["mode=legacy"], dry_run=True)
    assert capsys.readouterr().out == (
        "--- a/job.yaml\n+++ b/job.yaml\n@@ -1,3 +1,3 @@\n"
        " apiVersion: paddlespec.io/v1\n kind: PaddleJob\n"
        "-spec: {mode: ps}\n\\ No newline at end of file\n"
        "+spec: {mode: legacy}\n\\ No newline at end of file\n"
    )
    assert (tmp_path / "job.yaml").read_text() == HEAD + "spec: {mode: ps}"


def test_read_and_write_errors_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpec, match="no such file"):
        set_values(str(tmp_path / "none.yaml"), ["image=a"])
    with pytest.raises(InvalidSpec, match="is a directory"):
        set_values(str(tmp_path), ["image=a"])
    from paddlespec.cli.shared.write_files import write_all

    kept = tmp_path / "kept"
    kept.write_text("old")
    with pytest.raises(Stop):
        write_all({str(kept): b"new", str(tmp_path / "gone" / "file"): b"x"})
    assert kept.read_text() == "old"
    assert os.listdir(tmp_path) == ["kept"]
