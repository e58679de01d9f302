"""`config` as a command: files that users also edit by hand, and that never affect rendering."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import outputs
import pytest
from forked import common

if TYPE_CHECKING:
    from forked import Ended

PROJECT = """\
apiVersion: paddlespec.io/v1
kind: Project
project: ads       # groups jobs
datacenter: dc1
datacenters:
  # production
  - name: dc1
    context: k8s-dc1
    namespace: ads
    spec: {policy: {timeout: 1h}}
  - {name: lab, context: k8s-lab}
"""
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: count}
spec: {mode: parallel, image: "python:3.11", command: python shard.py}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".paddlespec.yaml").write_text(PROJECT)
    (tmp_path / "paddlejob.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, code: int = 0, **more: str) -> Ended:
    here = os.getcwd()
    clean = {"HOME": here, "XDG_CONFIG_HOME": f"{here}/xdg", "KUBECONFIG": f"{here}/none"}
    done = common().run(*arguments, folder=Path(here), environment={**os.environ, **clean, **more})
    assert done.code == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    outputs.check(arguments, done.stdout)
    return done


def own(folder: Path) -> str:
    return (folder / "xdg/paddlespec/config.yaml").read_text()


def test_a_connection_comes_is_changed_and_goes(folder: Path) -> None:
    run("config", "add", "dc1", "--context", "alice@dc1")
    run("config", "use", "dc1")
    run("config", "set", "connections[dc1].namespace=alice", "defaults.namespace=123")
    assert own(folder) == (
        "apiVersion: paddlespec.io/v1\n"
        "kind: Config\n"
        "connections:\n"
        "  - name: dc1\n"
        "    context: alice@dc1\n"
        "    namespace: alice\n"
        "datacenter: dc1\n"
        "defaults:\n"
        '  namespace: "123"\n'
    )
    assert json.loads(run("config", "view", "-o", "json").stdout) == {
        "datacenter": "dc1",
        "context": "alice@dc1",
        "namespace": "ads",
    }
    run("config", "unset", "connections[dc1].namespace", "defaults")
    run("config", "set", "connections[dc1].namespace=bob")
    shown = run("config", "view", "--show-origin").stdout.splitlines()
    assert shown[2] == "namespace: ads      # .paddlespec.yaml, datacenter dc1"
    run("config", "unset", "datacenters[dc1].namespace", "--project")
    assert json.loads(run("config", "view", "-o", "json").stdout)["namespace"] == "bob"
    run("config", "delete", "dc1")
    assert own(folder) == "apiVersion: paddlespec.io/v1\nkind: Config\n"


def test_the_project_file_keeps_its_comments(folder: Path) -> None:
    run("config", "set", "datacenters[dc1].queues.default=ads", "--project")
    run("config", "add", "dc3", "--context", "k8s-dc3", "--project")
    run("config", "delete", "lab", "--project")
    assert (folder / ".paddlespec.yaml").read_text() == PROJECT.replace(
        "{timeout: 1h}}\n", "{timeout: 1h}}\n    queues:\n      default: ads\n"
    ).replace("{name: lab, context: k8s-lab}", "{name: dc3, context: k8s-dc3}")


def test_a_list_says_what_is_current_and_where_it_comes_from() -> None:
    run("config", "add", "home", "--context", "kind")
    run("config", "use", "lab")
    shown = [line.split() for line in run("config", "list").stdout.splitlines()]
    assert shown == [
        ["NAME", "CONTEXT", "NAMESPACE", "FROM"],
        ["-", "home", "kind", "-", "own"],
        ["-", "dc1", "k8s-dc1", "ads", "project"],
        ["*", "lab", "k8s-lab", "-", "project"],
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("use", "dc"), 'did you mean "dc1"?'),
        (("set", "connection=1"), "unknown key"),
        (("set", "datacenter"), "expected KEY=VALUE"),
        (("unset", "datacenter"), "datacenter is not set"),
        (("add", "dc1", "--project"), 'already has "dc1"'),
        (("delete", "none"), 'unknown datacenter "none"'),
        (("discover",), "no datacenter given"),
        (("discover", "dc1", "--all"), "--all goes with no name"),
        (("discover", "--all", "--context", "c"), "--all goes with no name"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert message in run("config", *arguments, code=2).stderr
    assert not (folder / "xdg").exists()
    assert (folder / ".paddlespec.yaml").read_text() == PROJECT


def test_defaults_of_specs_belong_to_the_project(folder: Path) -> None:
    done = run("config", "set", "defaults.image=team/train:1", code=2)
    command = "paddlespec config set defaults.image=team/train:1 --project"
    assert f"hint: set it for the project: {command}" in done.stderr
    run(*command.split()[1:])
    assert "image: team/train:1" in (folder / ".paddlespec.yaml").read_text()


def test_rendered_bytes_do_not_depend_on_ones_own_configuration(folder: Path) -> None:
    commands = (
        ("render", "."),
        ("render", ".", "--datacenter", "lab"),
        ("render", ".", "-o", "spec"),
    )
    before = [run(*command).stdout for command in commands]
    run("config", "add", "dc1", "--context", "alice@dc1", "-n", "alice")
    run("config", "set", "defaults.namespace=bob")
    run("config", "use", "lab")
    assert [run(*command).stdout for command in commands] == before
    (folder / "xdg/paddlespec/config.yaml").write_text("nonsense: [")
    assert [run(*command).stdout for command in commands] == before


@pytest.mark.parametrize("command", ["diff", "apply"])
def test_what_is_rendered_for_another_datacenter_goes_nowhere(command: str) -> None:
    run("config", "use", "lab")
    message = run(command, ".", code=3).stderr
    assert "count: rendered for datacenter dc1, but the current datacenter is lab" in message
    assert "paddlespec config use dc1; or add --datacenter lab" in message
    agreed = run(command, ".", "--datacenter", "lab", code=3).stderr
    assert "no cluster is configured" in agreed
    assert "no cluster is configured" in run(command, ".", "--context", "x", code=3).stderr


NAMED = [
    ("kill", "count", "--yes"),
    ("delete", "count", "--yes"),
    ("status", "count"),
    ("wait", "count"),
    ("logs", "count"),
    ("exec", "count", "--", "true"),
    ("shell", "count"),
    ("port-forward", "count", "80"),
    ("get", "workers", "count"),
    ("get", "history", "count"),
    ("get", "spec", "count"),
]


@pytest.mark.parametrize("command", NAMED, ids=lambda command: " ".join(command[:2]))
def test_a_bare_name_is_looked_for_in_the_datacenter_that_is_named(
    command: tuple[str, ...], folder: Path
) -> None:
    ports = {"k8s-dc1": 1, "k8s-lab": 2}
    clusters = [
        {"name": name, "cluster": {"server": f"http://127.0.0.1:{port}"}}
        for name, port in ports.items()
    ]
    contexts = [{"name": port, "context": {"cluster": port, "user": "u"}} for port in ports]
    known = {"clusters": clusters, "contexts": contexts, "users": [{"name": "u", "user": {}}]}
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(json.dumps({**known, "current-context": "k8s-dc1"}))
    for name, port in (("dc1", 1), ("lab", 2)):
        argv = [*command[:2], "--datacenter", name, *command[2:]]
        message = run(*argv, code=3, KUBECONFIG=str(kubeconfig)).stderr
        assert f"cannot reach http://127.0.0.1:{port}" in message
    argv = [*command[:2], "--datacenter", "lob", *command[2:]]
    message = run(*argv, code=2, KUBECONFIG=str(kubeconfig)).stderr
    assert 'unknown datacenter "lob"' in message
    assert 'did you mean "lab"?' in message


def test_a_broken_configuration_is_told_at_its_place(folder: Path) -> None:
    (folder / "xdg/paddlespec").mkdir(parents=True)
    (folder / "xdg/paddlespec/config.yaml").write_text("apiVersion: paddlespec.io/v1\nkind: X\n")
    assert "config.yaml:2:7: error" in run("diff", ".", code=2).stderr
    assert "config.yaml:2:7: error" in run("config", "list", code=2).stderr


def test_an_editor_edits_and_what_is_not_valid_is_not_kept(folder: Path) -> None:
    run("config", "edit", EDITOR="sed -i '$a datacenter: dc1'", VISUAL="")
    assert own(folder).endswith("datacenter: dc1\n")
    before = own(folder)
    message = run("config", "edit", code=2, EDITOR="sed -i s/datacenter/dc/", VISUAL="").stderr
    assert 'unknown key "dc"' in message
    run("config", "edit", code=3, EDITOR="false", VISUAL="")
    assert own(folder) == before


OLD = """\
datacenters:
- name: dc1
  username: alice
  password: canary-old
current-datacenter: dc1
"""
PAI = """\
- cluster_alias: dc1
  password: canary-pai
  virtual_clusters: [ads, maps]
"""


def test_an_import_keeps_what_is_there_and_no_password(folder: Path) -> None:
    (folder / "old").write_text(OLD)
    (folder / "pai.yaml").write_text(PAI)
    done = run("config", "import", "old")
    assert "old:4:3: not imported: password: credentials are neither read nor stored" in done.stderr
    assert "  - name: dc1\ndatacenter: dc1\n" in own(folder)
    run("config", "set", "connections[dc1].context=mine")
    before = own(folder)
    again = run("config", "import", "old")
    assert own(folder) == before
    shared = run("config", "import", "pai.yaml", "--project", "--dry-run")
    assert "+      ads: ads" in shared.stdout
    assert (folder / ".paddlespec.yaml").read_text() == PROJECT
    run("config", "import", "pai.yaml", "--project")
    written = (folder / ".paddlespec.yaml").read_text()
    assert "    queues:\n      ads: ads\n      maps: maps\n" in written
    for text in (done.stdout, done.stderr, again.stderr, shared.stdout, shared.stderr, written):
        assert "canary" not in text
