"""No value breaks out of its scalar, even with hostile text in every field of the spec."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.render.runtime import Archive, Context
from paddlespec.render.template import TemplateFault, Templates
from paddlespec.spec.emit import dump_all
from paddlespec.spec.frozen import job_of
from paddlespec.spec.source import read
from paddlespec.targets import kubernetes

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
    """Render the spec with *text* in every string field."""
    data = read(SPEC.replace("@", MARK), "spec.yaml").documents[0].data
    data["spec"]["mode"] = mode
    if mode in ("collective", "parallel"):
        del data["spec"]["pservers"]
    replaced = json.loads(json.dumps(data).replace(MARK, json.dumps(text)[1:-1]))
    return kubernetes.render(job_of(replaced), CODE, TEMPLATES)


def with_text(value: Any, text: str) -> Any:
    """Replace the mark in every string of *value*, quoted in shell words."""
    return json.loads(json.dumps(value).replace(MARK, json.dumps(text)[1:-1]))


def shape(value: Any) -> Any:
    """Return the structure of *value* without its strings."""
    if isinstance(value, dict):
        return {key: shape(member) for key, member in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value)


@pytest.mark.parametrize("mode", ["collective", "ps", "legacy", "parallel"])
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_scalar(text: str, mode: str) -> None:
    manifests = rendered(text, mode)
    plain = rendered(MARK, mode)
    assert shape(manifests) == shape(plain)
    assert without_shell(manifests) == without_shell(with_text(plain, text))
    written = dump_all(manifests)
    assert list(yaml.safe_load_all(written)) == manifests
    assert [document.data for document in read(written, "out").documents] == manifests


def without_shell(manifests: list[dict[str, Any]]) -> Any:
    """Remove shell scripts from manifests, because they quote strings differently."""
    copy = json.loads(json.dumps(manifests))
    for manifest in copy:
        pod = manifest["spec"].get("template", {}).get("spec", {}) if "spec" in manifest else {}
        for container in [*pod.get("containers", []), *pod.get("initContainers", [])]:
            if container.get("command", [""])[0] == "sh":
                container["command"] = container["command"][:2]
    return copy


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_text_stays_in_its_scalar(text: str) -> None:
    manifests = rendered(text, "ps")
    plain = rendered(MARK, "ps")
    assert without_shell(manifests) == without_shell(with_text(plain, text))
    assert list(yaml.safe_load_all(dump_all(manifests))) == manifests


OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def test_equal_rendered_keys_are_an_error(tmp_path: Any) -> None:
    (tmp_path / "t.yaml.j2").write_text(OBJECT + "data:\n  {{ a }}: 1\n  {{ b }}: 2\n")
    templates = Templates(str(tmp_path))
    manifest = templates.render("t.yaml.j2", {"a": "x", "b": "y"})
    assert manifest["data"] == {"x": 1, "y": 2}
    with pytest.raises(TemplateFault, match="is a duplicate"):
        templates.render("t.yaml.j2", {"a": "x", "b": "x"})


@pytest.mark.parametrize(
    ("template", "message"),
    [
        pytest.param("a: {{ nothing }}\n", "t.yaml.j2:1.*nothing", id="undefined-name"),
        pytest.param("a: 1\nb: {{ x\n", r"t.yaml.j2:\d", id="broken-syntax"),
        pytest.param("a: 1\n{% if x %}\n b: [\n{% endif %}\n", "not YAML", id="broken-yaml"),
        pytest.param("a: x-{{ x }}\n", "part of a longer text", id="list-inside-text"),
        pytest.param("a: [\n", "not YAML", id="broken-at-the-end"),
        pytest.param("- 1\n", "single mapping", id="not-a-mapping"),
        pytest.param("a: 1\n", "must render apiVersion", id="no-object"),
        pytest.param("apiVersion: v1\nkind: A\nmetadata: {}\n", "metadata.name", id="no-name"),
        pytest.param("apiVersion: v1\nkind: A\nmetadata: a\n", "metadata.name", id="no-metadata"),
        pytest.param("a: \udcff\n", "not valid UTF-8", id="encoding"),
        pytest.param("{% include 'gone' %}", 'template "gone" not found', id="missing-include"),
        pytest.param("a: {{ x.__class__.__mro__ }}\n", "t.yaml.j2", id="sandbox"),
    ],
)
def test_an_error_names_the_template(tmp_path: Any, template: str, message: str) -> None:
    (tmp_path / "t.yaml.j2").write_text(template, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(TemplateFault, match=message):
        Templates(str(tmp_path)).render("t.yaml.j2", {"x": [1]})


def test_a_custom_template_extends_a_bundled_one(tmp_path: Any) -> None:
    folder = tmp_path / "kubernetes"
    folder.mkdir()
    (folder / "service.yaml.j2").write_text(
        "{% include 'bundled/kubernetes/service.yaml.j2' %}\n  sessionAffinity: None\n"
    )
    data = read(SPEC.replace("@", "x"), "spec.yaml").documents[0].data
    manifests = kubernetes.render(job_of(data), Context(), Templates(str(tmp_path)))
    services = [manifest for manifest in manifests if manifest["kind"] == "Service"]
    assert services
    assert all(service["spec"]["sessionAffinity"] == "None" for service in services)
    assert all(service["spec"]["clusterIP"] == "None" for service in services)
