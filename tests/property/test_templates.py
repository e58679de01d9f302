"""No value breaks out of its place: hostile text in every field of the spec."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.contract import Archive, Context
from paddlespec.emit import dump_all
from paddlespec.record import job_of
from paddlespec.source import read
from paddlespec.targets import kubernetes
from paddlespec.template import TemplateFault, Templates

MARK = "zzmarkzz"
SPEC = """
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit, namespace: ads, labels: {team: ads}, annotations: {note: @}}
spec:
  mode: ps
  image: @
  imagePullPolicy: Always
  registry: team-registry
  package: {path: ., requirements: @, pip: [@], python: @, into: @}
  setup: [@, @]
  teardown: [@]
  command: @
  workdir: /work@
  parameters: {passes: @}
  env:
    PLAIN: @
    SECRET: {secret: team, key: @}
    CONFIG: {configMap: team, key: @}
    SALT: {value: @, sensitive: true}
  trainers:
    replicas: 2
    image: @
    command: [@, @]
    env: {OWN: @}
    affinity: {podAffinity: {anything: @}}
    tolerations: [{key: gpu, operator: Exists}]
  pservers: {replicas: 1, command: @, env: {OWN: @}}
  legacy: {topology: @, trainList: @}
  volumes:
  - {name: a, mountPath: /a@, claim: alice, subPath: @}
  - {name: b, mountPath: /b@, nfs: {server: @, path: /n@}}
  - {name: c, mountPath: /c@, cephfs: {monitors: [@], path: /p@, user: @}}
  - {name: d, mountPath: /d@, hostPath: /h@}
  - {name: e, mountPath: /e@, claim: {size: 1Gi}}
  input: /a@/in
  output: /b@/out
"""
HOSTILE = [
    "a: b",
    "- x",
    "x\nhostNetwork: true",
    "x\n      hostNetwork: true\n",
    '"',
    "'",
    '"\nkind: Pod\n#',
    "{{ 7 * 7 }}",
    "{% raw %}",
    "{# #}",
    "${{ x }}",
    "$(NS)",
    "`id`",
    "*alias",
    "&anchor",
    "!!python/object:os.system",
    "---",
    "...",
    "# comment",
    "a # b",
    "null",
    "true",
    "010",
    "1e3",
    "yes",
    "<<",
    "=",
    " leading and trailing ",
    "\ttab",
    "|",
    ">",
    "%YAML 1.1",
    "\u2028",
    "\u0085",
    "é漢字🎉",
    "a\\nb",
    "\\",
    "]}",
    "a" * 5000,
]
TEMPLATES = Templates()
CODE = Context("dc1", "ads", Archive(b"tar", "0123456789"))


def rendered(text: str, mode: str) -> list[dict[str, Any]]:
    """The manifests of the spec with *text* wherever a text may stand."""
    data = read(SPEC.replace("@", MARK), "spec.yaml").documents[0].data
    data["spec"]["mode"] = mode
    if mode in ("collective", "parallel"):
        del data["spec"]["pservers"]
    replaced = json.loads(json.dumps(data).replace(MARK, json.dumps(text)[1:-1]))
    return kubernetes.render(job_of(replaced), CODE, TEMPLATES)


def with_text(value: Any, text: str) -> Any:
    """*value* with the mark replaced in every text; shell words quote what needs it."""
    return json.loads(json.dumps(value).replace(MARK, json.dumps(text)[1:-1]))


def shape(value: Any) -> Any:
    """The structure of *value* with its texts left out."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return type(value)


@pytest.mark.parametrize("mode", ["collective", "ps", "legacy", "parallel"])
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_place(text: str, mode: str) -> None:
    found = rendered(text, mode)
    plain = rendered(MARK, mode)
    assert shape(found) == shape(plain)
    assert without_shell(found) == without_shell(with_text(plain, text))
    written = dump_all(found)
    assert list(yaml.safe_load_all(written)) == found
    assert [each.data for each in read(written, "out").documents] == found


def without_shell(manifests: list[dict[str, Any]]) -> Any:
    """The manifests without the shell's own lines: there texts are quoted as the shell asks."""
    copy = json.loads(json.dumps(manifests))
    for each in copy:
        pod = each["spec"].get("template", {}).get("spec", {}) if "spec" in each else {}
        for container in [*pod.get("containers", []), *pod.get("initContainers", [])]:
            if container.get("command", [""])[0] == "sh":
                container["command"] = container["command"][:2]
    return copy


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_text_stays_in_its_place(text: str) -> None:
    found = rendered(text, "ps")
    plain = rendered(MARK, "ps")
    assert without_shell(found) == without_shell(with_text(plain, text))
    assert list(yaml.safe_load_all(dump_all(found))) == found


OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def test_two_keys_that_become_equal_are_a_fault(tmp_path: Any) -> None:
    (tmp_path / "t.yaml.j2").write_text(OBJECT + "data:\n  {{ a }}: 1\n  {{ b }}: 2\n")
    templates = Templates(str(tmp_path))
    found = templates.render("t.yaml.j2", {"a": "x", "b": "y"})
    assert found["data"] == {"x": 1, "y": 2}
    with pytest.raises(TemplateFault, match="stands there twice"):
        templates.render("t.yaml.j2", {"a": "x", "b": "x"})


@pytest.mark.parametrize(
    ("template", "told"),
    [
        pytest.param("a: {{ nothing }}\n", "t.yaml.j2:1.*nothing", id="undefined-name"),
        pytest.param("a: 1\nb: {{ x\n", r"t.yaml.j2:\d", id="broken-syntax"),
        pytest.param("a: 1\n{% if x %}\n b: [\n{% endif %}\n", "not YAML", id="broken-yaml"),
        pytest.param("a: x-{{ x }}\n", "part of a longer text", id="list-inside-text"),
        pytest.param("a: [\n", "not YAML", id="broken-at-the-end"),
        pytest.param("- 1\n", "one mapping", id="not-a-mapping"),
        pytest.param("a: 1\n", "must make apiVersion", id="no-object"),
        pytest.param("apiVersion: v1\nkind: A\nmetadata: {}\n", "metadata.name", id="no-name"),
        pytest.param("apiVersion: v1\nkind: A\nmetadata: a\n", "metadata.name", id="no-metadata"),
        pytest.param("a: \udcff\n", "not UTF-8", id="encoding"),
        pytest.param("{% include 'gone' %}", "no template is called gone", id="missing-include"),
        pytest.param("a: {{ x.__class__.__mro__ }}\n", "t.yaml.j2", id="sandbox"),
    ],
)
def test_a_fault_names_the_template(tmp_path: Any, template: str, told: str) -> None:
    (tmp_path / "t.yaml.j2").write_text(template, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(TemplateFault, match=told):
        Templates(str(tmp_path)).render("t.yaml.j2", {"x": [1]})


def test_a_team_extends_a_bundled_template(tmp_path: Any) -> None:
    folder = tmp_path / "kubernetes"
    folder.mkdir()
    (folder / "service.yaml.j2").write_text(
        "{% include 'bundled/kubernetes/service.yaml.j2' %}\n  sessionAffinity: None\n"
    )
    data = read(SPEC.replace("@", "x"), "spec.yaml").documents[0].data
    found = kubernetes.render(job_of(data), Context(), Templates(str(tmp_path)))
    services = [each for each in found if each["kind"] == "Service"]
    assert services
    assert all(each["spec"]["sessionAffinity"] == "None" for each in services)
    assert all(each["spec"]["clusterIP"] == "None" for each in services)
