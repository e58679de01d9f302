"""Templates of other people: what they read, and how much they may compute."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from in_process import command

from paddlespec.render import bounds
from paddlespec.render.template import TemplateFault, Templates

if TYPE_CHECKING:
    from pathlib import Path

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: a}
spec:
  mode: parallel
  image: python:3.11-slim
  command: python train.py
  trainers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}}
"""
CANARY = "canary-of-the-machine"
TEXT = "makes a text or list of more than 4 MiB"
WIDTH = "formats a value with a width of more than 5 digits"
PADDED = "makes a text of more than 4 MiB"
STEPS = "takes more than 1,000,000 steps"
DOUBLED = "{%% set n = namespace(x=%s) %%}{%% for i in range(60) %%}%s{%% endfor %%}a: {{ n.x }}"


def rendered(folder: Path, text: str) -> dict[str, object]:
    (folder / "t.yaml.j2").write_text(OBJECT + text)
    return Templates(str(folder)).render("t.yaml.j2", {"x": 1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
            STEPS,
            id="loops",
        ),
        pytest.param("a: {{ range(10001)|list }}", "range of more than 10,000", id="range"),
        pytest.param("a: {{ 'a' * 3000000000 }}", TEXT, id="repetition"),
        pytest.param("a: {{ 3000000000 * [1] }}", TEXT, id="repeated-list"),
        pytest.param("a: {{ '%2000000000d'|format(1) }}", WIDTH, id="format-filter"),
        pytest.param("a: {{ '%2000000000d' % 1 }}", WIDTH, id="format-operator"),
        pytest.param("a: {{ '%*d' % (2000000000, 1) }}", WIDTH, id="format-star"),
        pytest.param("a: {{ '{:2000000000}'.format('a') }}", WIDTH, id="format-method"),
        pytest.param("a: {{ '{:{}}'.format('a', 2000000000) }}", PADDED, id="format-argument"),
        pytest.param("a: {{ 'a'|center(2000000000) }}", PADDED, id="center"),
        pytest.param("a: {{ 'a'.ljust(2000000000) }}", PADDED, id="ljust"),
        pytest.param("a: {{ 'a\nb'|indent(2000000000) }}", PADDED, id="indent"),
        pytest.param("a: {{ range(3)|slice(2000000000)|list }}", PADDED, id="slice"),
        pytest.param("a: {{ 10 ** 100000000 }}", "number of more than 4,000 bits", id="power"),
        pytest.param(
            DOUBLED % ("3", "{% set n.x = n.x * n.x %}"), "more than 4,000 bits", id="squares"
        ),
        pytest.param(DOUBLED % ("'a'", "{% set n.x = n.x ~ n.x %}"), TEXT, id="doubled-text"),
        pytest.param(DOUBLED % ("'a'", "{% set n.x = n.x + n.x %}"), TEXT, id="added-text"),
        pytest.param(
            DOUBLED % ("'a'", "{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}"), TEXT, id="block"
        ),
        pytest.param(DOUBLED % ("'a'", "{% set n.x = [n.x, n.x] %}"), TEXT, id="shared-list"),
        pytest.param(DOUBLED % ("'a'", "{% set n.x = {1: n.x, 2: n.x} %}"), TEXT, id="shared-dict"),
        pytest.param(
            "{% set s = 'a' * 4000000 %}\n{% for i in range(99) %}\nk{{ i }}: x{{ s }}\n{% endfor %}",
            TEXT,
            id="output",
        ),
        pytest.param("a: {{ lipsum(n=1000000000) }}", "'lipsum' is undefined", id="lipsum"),
        pytest.param(
            "a: {{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "nested too deep", id="deep"
        ),
        pytest.param("{% include 't.yaml.j2' %}", "nested too deep", id="endless"),
        pytest.param("#" * (64 << 10), "is larger than 64 KiB", id="size"),
    ],
)
def test_a_template_is_bounded(tmp_path: Path, text: str, message: str) -> None:
    before = sys.gettrace()
    with pytest.raises(TemplateFault) as caught:
        rendered(tmp_path, text)
    assert message in str(caught.value)
    assert sys.gettrace() is before


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs the size of a process")
def test_what_cannot_be_foreseen_is_bounded_by_memory(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(TemplateFault, match="takes more than 512 MiB of memory"):
        rendered(tmp_path, "{% set s = 'a' * 4000000 %}a: {{ s|replace('a', s) }}")
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_time_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 2))
    monkeypatch.setattr("time.thread_time", lambda: next(clock))
    with pytest.raises(TemplateFault, match="takes more than 5 seconds"):
        rendered(tmp_path, "{% for i in range(9999) %}{% endfor %}a: 1")


def test_depth_is_bounded() -> None:
    value: list[object] = []
    for _ in range(bounds.MAX_DEPTH + 2):
        value = [value]
    with pytest.raises(bounds.TooMuch, match="more than 100 levels deep"):
        bounds.Sizes().check(value)


def test_a_fault_names_the_line_of_the_template(tmp_path: Path) -> None:
    with pytest.raises(TemplateFault, match=r"t\.yaml\.j2:5: makes a text"):
        rendered(tmp_path, "b: 1\na: {{ ('a' ~ x) * 3000000000 }}")


def test_ordinary_templates_are_within_bounds(tmp_path: Path) -> None:
    manifest = rendered(
        tmp_path,
        "a: {{ 'x' ~ x }}\nb: {{ '%05d'|format(3) }}\nc: {{ [1] + [2] * 2 }}\n"
        "d: {{ '{:>3}'.format('a') }}\ne: {{ 2 ** 10 }}\nf: {{ memory|default(17179869184) }}\n"
        "{% for i in range(2) %}\ng{{ i }}: {{ {'k': (i, 'v')}|tojson }}\n{% endfor %}",
    )
    assert [manifest[key] for key in "abcdef"] == [
        "x1",
        "00003",
        [1, 2, 2],
        "  a",
        1024,
        17179869184,
    ]
    assert manifest["g1"] == {"k": [1, "v"]}


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX links")
def test_links_stay_in_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "templates" / "kubernetes").mkdir(parents=True)
    (tmp_path / "secret").write_text(f"- {{{{ {CANARY}\n")
    monkeypatch.chdir(tmp_path / "repo")
    link = "templates/kubernetes/job.yaml.j2"
    os.symlink("../../../secret", link)
    with open("paddlejob.yaml", "w", encoding="utf-8") as file:
        file.write(SPEC)

    arguments = ("render", "paddlejob.yaml", "--templates", "templates")
    assert command(*arguments) == 2
    error = capsys.readouterr().err
    assert "kubernetes/job.yaml.j2: is a link that leads outside" in error
    assert CANARY not in error
    assert command(*arguments, "--allow-outside", "..") == 2
    assert "is a link" not in capsys.readouterr().err

    os.unlink(link)
    os.rename("templates", "../elsewhere")
    (tmp_path / "elsewhere" / "kubernetes" / "job.yaml.j2").write_text(f"- {{{{ {CANARY}\n")
    os.symlink("../elsewhere", "templates")
    assert command(*arguments) == 2
    assert CANARY not in capsys.readouterr().err
    assert command("render", "paddlejob.yaml", "--templates", "../elsewhere") == 2
    assert "is a link" not in capsys.readouterr().err
