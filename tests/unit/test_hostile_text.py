"""Names, values and texts of others are printed, and are never commands."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from invoked import Ended, invoked
from loopback import response, serving

from paddlespec import cli
from paddlespec.cli.shared import output

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    Command = Callable[..., Ended]

EVIL = "a\n::error file=x::forged\r::error::forged\x1b]0;owned\x07\u2028\u202e ##[error]forged\n  ::stop"
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata:
  name: j
  annotations: {{note: {evil}}}
spec:
  mode: collective
  image: {image}
  env:
    TEXT: {evil}
    LITERAL: |
      first
        ::error::forged
      ##[error]forged
  trainers:
    command: [sh, -c, {evil}]
"""
FORGED = re.compile(r"^\s*::(?!stop-commands::[0-9a-f]{32}$|[0-9a-f]{32}::$)|##\[")


def lines_for_the_runner(text: str) -> list[str]:
    """Return the lines of a log that GitHub's runner would execute; own fences are followed."""
    token, forged = None, []
    for line in re.split(r"\r\n|\r|\n", text):
        if token is not None:
            token = None if line == f"::{token}::" else token
        elif match := re.match(r"::stop-commands::([0-9a-f]{32})$", line):
            token = match[1]
        elif re.match(r"\s*::", line) or "##[" in line:
            forged.append(line)
    assert token is None, "a fence without an end"
    return forged


def controls(text: str) -> str:
    return "".join(
        char for char in text if (char < " " and char not in "\n\t") or char in "\u2028\u202e"
    )


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    evil = json.dumps(EVIL)
    monkeypatch.chdir(tmp_path)
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    good = SPEC.format(evil=evil, image="x:1")
    (tmp_path / "job.yaml").write_text(good)
    (tmp_path / "bad.yaml").write_text(SPEC.format(evil=evil, image=evil))
    (tmp_path / "other.yaml").write_text(good.replace("first", "second"))
    two = tmp_path / "two"
    two.mkdir()
    (two / "a\n::error file=x::forged.yaml").write_text(good)
    (two / "b\x1b]0;owned\x07##[error].yaml").write_text(good)
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "job.yaml.j2").write_text("{% include '\\n::error::forged\\x1b##[x]' %}")
    return lambda *arguments: invoked(capsys, *arguments)


@pytest.mark.parametrize(
    "text",
    [
        "validate job.yaml",
        "validate bad.yaml",
        "validate two",
        "validate bad.yaml -o json",
        "validate bad.yaml -o sarif",
        "render job.yaml",
        "render job.yaml -o json",
        "render job.yaml -o spec",
        "render job.yaml --preview",
        "render job.yaml --show-origin",
        "render two",
        "render two --preview",
        "render job.yaml --templates templates",
        "render job.yaml --out {evil}",
        "render job.yaml --templates {evil}",
        "render {evil}",
        "render job.yaml -u {evil}",
        "render job.yaml -u env.A={evil}",
        "render job.yaml --profile {evil}",
        "render job.yaml --target {evil}",
        "diff job.yaml --against {evil}",
        "diff two --against git:HEAD",
        "diff other.yaml --against before",
        "diff other.yaml --against before -o json",
        "diff other.yaml --against before -o markdown",
        "diff other.yaml --against before -o github",
        "apply two --target local --yes",
        "apply job.yaml --plan {evil}",
        "apply job.yaml --context {evil} --yes",
        "status {evil}",
        "status {evil} --target local",
        "logs {evil} --target local",
        "get jobs --kubeconfig {evil}",
        "config use {evil}",
        "config add {evil} --context {evil}",
        "explain {evil}",
        "schema {evil}",
        "init {evil}",
        "set job.yaml {evil}=1",
        "registry check {evil}",
        "{evil}",
    ],
)
def test_nothing_forges_a_command(command: Command, text: str) -> None:
    assert command("render", "job.yaml", "--out", "before").code == 0
    ended = command(
        *(EVIL if word == "{evil}" else word.format(evil=EVIL) for word in text.split())
    )
    assert "internal error" not in ended.err, ended
    for stream in (ended.out, ended.err):
        assert lines_for_the_runner(stream) == []
        assert "-o json" in text or controls(stream) == "", stream
    if ended.code == 0 and "-o json" in text:
        json.loads(ended.out)


def test_github_annotations_are_one_command_for_each_finding(command: Command) -> None:
    for path in ("bad.yaml", "two"):
        ended = command("validate", path, "-o", "github")
        rows = ended.out.splitlines()
        assert rows
        assert all(re.match(r"::(error|warning) file=", row) for row in rows)
        assert controls(ended.out) == ""
        assert "##[" not in ended.out


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_manifests_stay_what_they_are(command: Command, form: str) -> None:
    ended = command("render", "job.yaml", "-o", form)
    loaded = (
        list(yaml.safe_load_all(ended.out)) if form == "yaml" else json.loads(ended.out)["items"]
    )
    (job,) = [manifest for manifest in loaded if manifest["kind"] == "Job"]
    env = job["spec"]["template"]["spec"]["containers"][0]["env"]
    values = {item["name"]: item.get("value") for item in env}
    assert values["TEXT"] == EVIL
    assert values["LITERAL"] == "first\n  ::error::forged\n##[error]forged\n"


@pytest.mark.parametrize("printed", [output.text, output.exact])
def test_a_fence_stands_only_on_github(
    printed: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    printed("an error::x\n")
    assert "".join(capsys.readouterr()) == "an error::x\n"
    printed("  ::error::x\n")
    captured = capsys.readouterr()
    assert "  ::error::x\n" in captured.out
    fence = captured.err if printed is output.exact else captured.out
    begin, *_, end = fence.strip().splitlines()
    assert begin.replace("::stop-commands", "") + "::" == end
    monkeypatch.delenv("GITHUB_ACTIONS")
    printed("  ::error::x\n")
    assert "".join(capsys.readouterr()) == "  ::error::x\n"


def test_a_file_needs_no_fence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    with open(tmp_path / "out", "w+") as file, output.fenced(file):
        file.write("::error::x\n")
    assert (tmp_path / "out").read_text() == "::error::x\n"


def test_only_one_module_writes_to_the_standard_streams() -> None:
    folder = Path(cli.__file__).parent
    writers = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if re.search(r"sys\.std(out|err)\.write|\bprint\(", path.read_text())
    }
    assert writers == {"shared/output.py", "shared/exits.py"}


# Servers

LOOKS = [
    "get jobs",
    "get jobs -o name",
    "get jobs -o json",
    "get jobs -o yaml",
    "status j",
    "logs j",
    "get queues",
    "get quota",
    "get storages",
    "get registries",
    "get resources",
    "version",
    "kill j",
]

POD = {
    "metadata": {
        "name": EVIL[:500],
        "namespace": EVIL,
        "uid": "u",
        "labels": {"paddlespec.io/job": "j"},
    },
    "spec": {"containers": [{"name": "c", "image": EVIL}]},
}


@pytest.mark.parametrize("text", LOOKS)
def test_no_answer_of_a_server_forges_a_command(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    meta = {
        "name": EVIL,
        "namespace": EVIL,
        "uid": EVIL,
        "labels": {"paddlespec.io/job": EVIL, "paddlespec.io/inventory": EVIL},
        "annotations": {"a": EVIL},
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    template = {"spec": {"containers": [{"name": EVIL, "image": EVIL}]}}
    status = {"conditions": [{"type": "Failed", "status": "True", "reason": EVIL, "message": EVIL}]}
    item = {
        "metadata": meta,
        "spec": {"template": template, "containers": template["spec"]["containers"], "limits": []},
        "status": status,
        "data": {
            "runs.json": json.dumps([{"run": 1, "state": "running", "who": EVIL, "ci": EVIL}])
        },
        "provisioner": EVIL,
        "reason": EVIL,
        "message": EVIL,
    }

    def answer(head: str, connection: socket.socket) -> None:
        path = head.split()[1].partition("?")[0]
        if path == "/version":
            body: object = {"gitVersion": EVIL[:70]}
        elif re.search(r"/apis/[^/]+$", path):
            body = {"preferredVersion": {"groupVersion": f"{path[6:]}/v1"}}
        elif re.search(r"/apis/[^/]+/[^/]+$", path):
            kinds = {
                "LocalQueue": "localqueues",
                "ClusterQueue": "clusterqueues",
                "Queue": "queues",
            }
            kinds |= {"JobSet": "jobsets", "StorageClass": "storageclasses"}
            body = {"resources": [{"kind": kind, "name": name} for kind, name in kinds.items()]}
        elif path.endswith("/log"):
            connection.sendall(response(EVIL.encode()))
            return
        elif re.search(r"/(configmaps|jobs|pods|secrets)/[^/]+$", path):
            kinds = {"configmaps": "ConfigMap", "jobs": "Job", "pods": "Pod", "secrets": "Secret"}
            body = {"apiVersion": "v1", "kind": kinds[path.split("/")[-2]], **item}
        else:
            body = {"items": [item]}
        connection.sendall(response(json.dumps(body).encode()))

    with serving(answer) as port:
        config = {
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "users": [{"name": "c", "user": {"token": "canary"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        }
        (tmp_path / "none").write_text(json.dumps(config))
        ended = command(*text.split(), "-v")
    assert "internal error" not in ended.err, ended
    for stream in (ended.out, ended.err):
        assert lines_for_the_runner(stream) == []
        if "-o json" not in text:
            assert controls(stream) == "", stream


# Signals


def test_a_second_signal_prints_no_traceback(tmp_path: Path) -> None:
    """Python runs exit handlers after the command; a signal in them ends it without a word."""
    script = tmp_path / "slow.py"
    script.write_text(
        "import atexit, os, signal, sys\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGTERM))\n"
        "from paddlespec.cli.shared.engines import Engines\n"
        "from paddlespec.backends.protocols import Request\n"
        "from paddlespec.cli.shared.exits import finish\n"
        "def command():\n"
        "    with Engines(Request()):\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.exit(finish(command))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, check=False)
    assert done.stderr == b""
    assert done.returncode == -signal.SIGTERM


# Secrets

SECRETS = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: j}
spec:
  mode: collective
  image: x:1
  env: {SALT: {value: canary-salt, sensitive: true}}
  trainers: {command: [a], resources: {memory: 1Gi}}
  patches:
    - target: {kind: Job}
      patch:
        spec:
          template:
            spec:
              containers: [{name: paddle, env: [{name: PATCH_TOKEN, value: canary-patch}]}]
    - target: {kind: Job}
      patch: [{op: add, path: /metadata/annotations, value: {apiKey: canary-json}}]
"""


@pytest.mark.parametrize("form", ["--preview", "--show-origin", "-o spec"])
def test_what_people_read_hides_what_a_comparison_hides(command: Command, form: str) -> None:
    Path("secrets.yaml").write_text(SECRETS)
    ended = command("render", "secrets.yaml", *form.split())
    assert ended.code == 0
    assert "canary" not in ended.out + ended.err


def test_credentials_in_patches_are_reported(command: Command) -> None:
    Path("secrets.yaml").write_text(SECRETS)
    found = json.loads(command("validate", "secrets.yaml", "-o", "json").out)["diagnostics"]
    assert [(each["code"], each["line"]) for each in found] == [
        ("looks-like-secret", 15),
        ("looks-like-secret", 17),
    ]
    assert "canary" not in json.dumps(found)


def test_manifests_with_credentials_are_announced_once(command: Command) -> None:
    Path("secrets.yaml").write_text(SECRETS)
    ended = command("render", "secrets.yaml")
    assert ended.out.count("canary") == 3
    assert ended.err.count("plain text") == 1
    assert "plain text" not in command("render", "secrets.yaml", "-q").err
    assert "plain text" not in command("render", "job.yaml").err


@pytest.mark.parametrize(
    "update",
    ["image=ghp_canarycanarycanarycanary\\ x", "parameters.token=canary:[", "env.A={b: canary}"],
)
def test_invalid_updates_that_look_secret_are_not_quoted(command: Command, update: str) -> None:
    Path("secrets.yaml").write_text(SECRETS)
    assert "canary" not in command("validate", "secrets.yaml", "-u", update).out
