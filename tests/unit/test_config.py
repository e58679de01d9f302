"""The user configuration, its errors, and the import of earlier configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from front import document

from paddlespec.config.legacy import read
from paddlespec.config.settings import (
    disagreement,
    load,
    path_of,
    place,
)
from paddlespec.diagnostic import InvalidSpec, Span
from paddlespec.spec.edit import with_value
from paddlespec.spec.gate import CONFIG
from paddlespec.spec.project import Project

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.config.settings import Settings

HEAD = "apiVersion: paddlespec.io/v1\nkind: Config\n"
OWN = (
    HEAD
    + """\
datacenter: dc1
defaults: {namespace: alice}
connections:
  - {name: dc1, context: alice@dc1}
  - {name: home, context: kind}
"""
)
PROJECT = """\
apiVersion: paddlespec.io/v1
kind: Project
project: ads
datacenter: dc2
datacenters:
  - {name: dc1, context: k8s-dc1, namespace: ads}
  - {name: dc2, context: k8s-dc2}
"""


def settings(folder: Path, text: str) -> Settings:
    path = folder / "config.yaml"
    path.write_text(text)
    return load(str(path))


def project() -> Project:
    return Project(".paddlespec.yaml", document(PROJECT), [])


@pytest.mark.parametrize(
    ("text", "where", "code"),
    [
        ("datacentre: dc1\n", "3:1", "unknown-key"),
        ("datacenter: DC1\n", "3:13", "format"),
        ("connections: [{name: a, password: x}]\n", "3:25", "unknown-key"),
        ("connections: [{context: a}]\n", "3:15", "missing-key"),
        ("connections: [{name: a}, {name: a}]\n", "3:33", "duplicate-key"),
        ("datacenter: a\ndatacenter: b\n", "4:1", "duplicate-key"),
    ],
)
def test_errors_are_reported_at_their_position(
    tmp_path: Path, text: str, where: str, code: str
) -> None:
    with pytest.raises(InvalidSpec) as refusal:
        settings(tmp_path, HEAD + text)
    (fault,) = refusal.value.diagnostics
    assert str(fault.span) == f"{tmp_path}/config.yaml:{where}"
    assert fault.code == code


def test_a_missing_file_has_no_settings(tmp_path: Path) -> None:
    assert load(str(tmp_path / "none")).data == {}


def test_the_path_follows_the_xdg_specification() -> None:
    assert path_of({"XDG_CONFIG_HOME": "/etc/mine"}) == "/etc/mine/paddlespec/config.yaml"


def test_user_settings_override_the_project_and_the_project_overrides_defaults(
    tmp_path: Path,
) -> None:
    own = settings(tmp_path, OWN)
    values = place(own, project())
    assert [value.value for value in values] == ["dc1", "alice@dc1", "ads"]
    assert values.context.origin == f"{own.path}, connection dc1"
    assert values.namespace.origin == ".paddlespec.yaml, datacenter dc1"
    other = place(own, project(), "dc2")
    assert [value.value for value in other] == ["dc2", "k8s-dc2", "alice"]
    assert other.namespace.origin == f"{own.path}, defaults"


def test_the_project_provides_the_default_datacenter(tmp_path: Path) -> None:
    own = settings(tmp_path, HEAD)
    assert place(own, project()).datacenter == ("dc2", ".paddlespec.yaml")
    assert [value.value for value in place(own, None)] == [None, None, None]


def test_a_job_rendered_for_another_datacenter_is_rejected(tmp_path: Path) -> None:
    own = settings(tmp_path, OWN)
    assert disagreement(own, project(), "dc1") is None
    reason, hint = disagreement(own, project(), "dc2") or ("", "")
    assert reason == "rendered for datacenter dc2, but the current datacenter is dc1"
    assert hint == "run: paddlespec config use dc2; or add --datacenter dc1"
    assert disagreement(own, None, None) is None
    assert disagreement(own, project(), None) is not None
    assert disagreement(settings(tmp_path, HEAD), project(), "dc2") is None


def test_an_edit_changes_its_value_and_keeps_comments() -> None:
    text = HEAD + "# mine\nconnections:\n  - name: a  # the first\n    context: x\n"
    path = ("connections", "a", "context")
    assert with_value(text, "c", path, "z", CONFIG, Span("c")) == text.replace(": x", ": z")
    with pytest.raises(InvalidSpec, match="unknown key"):
        with_value(text, "c", ("connections", "a", "token"), "y", CONFIG, Span("c"))
    with pytest.raises(InvalidSpec, match='no item "b"'):
        with_value(text, "c", ("connections", "b", "context"), "y", CONFIG, Span("c"))


PADDLECTL = """\
datacenters:
- name: datacenter1
  username: [your user name]
  password: canary-1
  endpoint: http://cloud.example.org
- name: Data Center 2
  password: canary-2
current-datacenter: Data Center 2
"""
PADDLECLOUD = """\
datacenter1:
  username: user
  usercert: /path/to/user.pem
  userkey:  /path/to/user-key.pem
  endpoint: dc1.paddlepaddle.org
"""
PADDLE = """\
apiVersion: v1
dockerRegistry:
  domain: domain.com //default is docker.io
  username: <username>
  password: canary-3
paddleServer: http://<paddle server domain>:<paddle server port>
"""
OPENPAI = """\
- cluster_alias: lab
  pai_uri: http://pai:canary-4@pai
  user: alice
  password: canary-5
  token: canary-6
  virtual_clusters: [default, NLP_team]
  storages: [{storage_name: nfs-1, type: nfs}]
"""


def imported(text: str) -> tuple[list[str], str | None, str]:
    result = read(text.encode(), "old")
    losses = "\n".join(f"{span}: {word}" for span, word in sorted(result.losses))
    assert "canary" not in f"{result}"
    return [datacenter["name"] for datacenter in result.datacenters], result.current, losses


def test_importing_a_list_of_datacenters() -> None:
    names, current, losses = imported(PADDLECTL)
    assert (names, current) == (["datacenter1", "data-center-2"], "data-center-2")
    assert [line.split(": ")[0] for line in losses.splitlines()] == [
        "old:3:3",
        "old:4:3",
        "old:5:3",
        "old:6:9",
        "old:7:3",
    ]


def test_importing_a_mapping_of_datacenters() -> None:
    names, current, losses = imported(PADDLECLOUD)
    assert (names, current) == (["datacenter1"], None)
    assert "old:3:3: usercert: add the certificate to the kubeconfig" in losses


def test_importing_a_single_server() -> None:
    names, current, losses = imported(PADDLE)
    assert (names, current) == (["paddle"], "paddle")
    assert "paddlespec registry add" in losses
    assert "old:5:3: password" in losses


def test_importing_storages_keeps_names_and_urls() -> None:
    text = """\
- cluster_alias: lab
  storages:
  - {storage_name: pai_data, web_hdfs_uri: "http://hdfs.test:50070", type: hdfs}
  - {storage_name: home, web_hdfs_uri: "http://bob:canary@hdfs.test"}
"""
    found = read(text.encode(), "old")
    assert found.datacenters[0]["storages"] == {
        "pai-data": {"url": "http://hdfs.test:50070"},
        "home": {"claim": "home"},
    }
    losses = [loss for _, loss in found.losses]
    assert "the original name; the storage is named pai-data" in losses
    assert "storages: other settings of pai-data; its URL is kept" in losses
    assert "canary" not in str(losses)


def test_importing_the_default_storage() -> None:
    text = "- {cluster_alias: lab, default_storage_alias: NAME, storages: [{storage_alias: a_b}]}"
    found = read(text.replace("NAME", "a_b").encode(), "old")
    claim = {"claim": "a-b"}
    assert found.datacenters[0]["storages"] == {"a-b": claim, "default": claim}
    losses = str(read(text.replace("NAME", "c").encode(), "old").losses)
    assert "default_storage_alias: not one of the storages of the cluster" in losses


def test_importing_openpai_clusters() -> None:
    names, _, losses = imported(OPENPAI)
    assert names == ["lab"]
    (lab,) = read(OPENPAI.encode(), "old").datacenters
    assert lab["queues"] == {"default": "default"}
    assert lab["storages"] == {"nfs-1": {"claim": "nfs-1"}}
    assert "old:6:31: virtual_clusters: a name that is not valid in Kubernetes" in losses


@pytest.mark.parametrize("text", ["a: [", "password: canary\n", "", "[1, 2]", "x: canary\nx: 1"])
def test_other_files_are_rejected_and_not_quoted(text: str) -> None:
    with pytest.raises(InvalidSpec) as refusal:
        read(text.encode(), "old")
    assert "canary" not in str(refusal.value)
