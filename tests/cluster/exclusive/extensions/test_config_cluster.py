"""`config check` and `config discover` on a real API server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from user import EXAMPLES, User

from paddlespec.backends.cluster.api.rights import (
    ROLES,
    Right,
    needed,
    optional,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from control_plane import ControlPlane

PROJECT = """\
apiVersion: paddlespec.io/v1
kind: Project
project: ads
datacenter: dc1
datacenters:
  - name: dc1   # production
    context: CONTEXT
    namespace: NAMESPACE
    queues: {default: ads}
    storages:
      home: {claim: alice-home}
      bucket: {url: "s3://ads"}
    spec: {scheduling: {scheduler: kueue, queue: ads}}
"""
GROUP = "kueue.x-k8s.io"
CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"localqueues.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "localqueues", "singular": "localqueue", "kind": "LocalQueue"},
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
CLAIM: dict[str, Any] = {
    "metadata": {"name": "alice-home"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def project(user: User, text: str = PROJECT) -> Path:
    (user.folder / ".git").mkdir(exist_ok=True)
    context = yaml.safe_load(user.kubeconfig.read_text())["current-context"]
    path = user.folder / ".paddlespec.yaml"
    path.write_text(text.replace("CONTEXT", context).replace("NAMESPACE", user.namespace))
    return path


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.fixture
def kueue(user: User) -> Iterator[str]:
    """Kueue's kind of queues, with one queue; there is no Kueue behind it."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    path = f"/apis/{GROUP}/v1beta1/namespaces/{user.namespace}/localqueues"
    queue = {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "LocalQueue",
        "metadata": {"name": "night"},
    }

    def created(where: str, manifest: dict[str, Any]) -> bool:
        try:
            user.plane.request("POST", where, manifest)
        except OSError:
            return False
        return True

    # The kind of an earlier test may not be gone yet.
    user.plane.eventually(lambda: created(definitions, CRD), within=30)
    user.plane.eventually(lambda: created(path, queue), within=30)
    yield "night"
    user.plane.request("DELETE", f"{definitions}/localqueues.{GROUP}")


def checks(user: User, *arguments: str, code: int) -> dict[str, list[str]]:
    output = json.loads(user.run("config", "check", *arguments, "-o", "json", code=code).stdout)
    return {
        f"{check['what']}/{check['name']}": [check["state"], check["detail"]]
        for check in output["checks"]
    }


@pytest.mark.parametrize("role", ROLES)
def test_the_rights_are_those_of_the_examples(role: str) -> None:
    rules = yaml.safe_load((EXAMPLES / "rbac" / f"{role}.yaml").read_text())["rules"]
    granted = [
        Right(group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]
    assert sorted(granted) == sorted([*needed(role), *optional(role)])


def test_what_is_missing_is_a_row_and_exit_3(user: User) -> None:
    project(user)
    results = checks(user, code=3)
    assert results["rights/applier"][0] == "ok"
    assert results["kind/kueue"] == ["missing", "jobs here need it"]
    assert results["kind/jobset"][0] == "absent"
    assert results["queue/default"] == ["missing", "queue ads does not exist"]
    assert results["storage/home"] == ["missing", "claim alice-home does not exist"]
    assert "storage/bucket" not in results


def test_what_is_there_is_ok(user: User, kueue: str) -> None:
    project(user, PROJECT.replace("ads}\n    storages", f"{kueue}}}\n    storages"))
    user.plane.request("POST", user.path("persistentvolumeclaims"), CLAIM)
    results = checks(user, "dc1", code=0)
    assert results["kind/kueue"] == ["ok", f"{GROUP}/v1beta1"]
    assert results["queue/default"] == ["ok", kueue]
    assert results["storage/home"][0] == "ok"
    table = user.run("config", "check", "dc1").stdout
    assert table.startswith("WHAT     NAME")


def test_rights_that_are_missing_are_named(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    rules = yaml.safe_load((EXAMPLES / "rbac/viewer.yaml").read_text())["rules"]
    control_plane.allow("reader", namespace, rules)
    kubeconfig = control_plane.kubeconfig_for("reader", namespace)
    alice = User(control_plane, namespace, tmp_path, kubeconfig)
    project(alice, PROJECT.partition("    queues")[0])
    assert checks(alice, "--role", "viewer", code=0)["rights/viewer"][0] == "ok"
    results = checks(alice, code=3)
    assert results["rights/jobs"] == ["missing", "may not create, patch, delete"]
    assert results["rights/leases"] == ["missing", "may not get, create, update, delete"]
    results = checks(alice, "--role", "operator", code=3)
    assert results["rights/pods/exec"] == ["missing", "may not get, create"]
    without_events = [rule for rule in rules if "events" not in rule["resources"]]
    control_plane.allow("nobody", namespace, without_events)
    blind = alice._replace(kubeconfig=control_plane.kubeconfig_for("nobody", namespace))
    results = checks(blind, "--role", "viewer", code=0)
    assert results["rights/events"] == ["absent", "may not list (optional)"]
    message = alice.run("config", "discover", "dc1").stderr
    assert "storage classes skipped: you may not list storageclasses" in message


def test_an_unreachable_datacenter_is_told(user: User) -> None:
    project(user)
    user.run("config", "set", "datacenters[dc1].context=none", "--project")
    assert 'no context "none"' in user.run("config", "check", code=3).stderr
    assert 'unknown datacenter "dc"' in user.run("config", "check", "dc", code=2).stderr


def test_discover_notes_what_it_finds_and_touches_nothing_else(user: User, kueue: str) -> None:
    path = project(user)
    claim = {**CLAIM, "metadata": {"name": "public.data"}}
    claim["spec"] = {**CLAIM["spec"], "accessModes": ["ReadOnlyMany"]}
    for volume_claim in (CLAIM, claim):
        user.plane.request("POST", user.path("persistentvolumeclaims"), volume_claim)
    before = path.read_text()
    shown = user.run("config", "discover", "dc1", "--dry-run").stdout
    assert path.read_text() == before
    assert "+++ b/.paddlespec.yaml" in shown
    user.run("config", "discover", "dc1")
    text = path.read_text()
    assert "  - name: dc1   # production\n" in text
    (created,) = yaml.safe_load(text)["datacenters"]
    assert created["queues"] == {"default": "ads", "night": kueue}
    assert created["storages"] == {
        "home": {"claim": "alice-home"},
        "bucket": {"url": "s3://ads"},
        "public-data": {"claim": "public.data", "readOnly": True},
    }
    assert created["storageClasses"]
    user.run("config", "discover", "dc1")
    assert path.read_text() == text


def test_discover_refreshes_all_datacenters(user: User, kueue: str) -> None:
    path = project(user, PROJECT.replace("    spec:", "    accelerators: [a.test/gone]\n    spec:"))
    user.run("config", "set", "datacenters[dc1].queues.night=night", "--project")
    down = "datacenters+={name: down, context: none, queues: {default: ads}}"
    user.run("config", "set", down, "--project")
    ended = user.run("config", "discover", "--all", "--prune", code=3)
    assert "down: kubeconfig" in ended.stderr
    refreshed, unknown = yaml.safe_load(path.read_text())["datacenters"]
    assert refreshed["queues"] == {"night": kueue}
    assert refreshed["storages"] == {"bucket": {"url": "s3://ads"}}
    assert "a.test/gone" not in refreshed["accelerators"]
    assert unknown == {"name": "down", "context": "none", "queues": {"default": "ads"}}
    assert "  - name: dc1   # production\n" in path.read_text()


def test_discover_keeps_what_may_not_be_listed(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    control_plane.allow("nobody", namespace, [])
    kubeconfig = control_plane.kubeconfig_for("nobody", namespace)
    blind = User(control_plane, namespace, tmp_path, kubeconfig)
    path = project(blind, PROJECT.replace("    queues: {default: ads}\n", ""))
    before = path.read_text()
    assert "storages skipped" in blind.run("config", "discover", "dc1", "--prune").stderr
    assert path.read_text() == before


def test_add_says_what_the_cluster_is(user: User) -> None:
    project(user)
    context = yaml.safe_load(user.kubeconfig.read_text())["current-context"]
    printed = user.run("config", "add", "dc1", "--context", context).stderr
    assert "dc1: Kubernetes v1." in printed
    assert f"at {user.plane.server}" in printed
    assert "next: paddlespec config check dc1" in printed
    printed = user.run("config", "add", "dc2", "--context", context, "--no-check").stderr
    assert "Kubernetes" not in printed
    printed = user.run("config", "add", "dc3", "--context", "none").stderr
    assert "dc3: added, but not checked: kubeconfig" in printed
    assert "hint: use one of" in printed


def test_discover_adds_a_datacenter(user: User) -> None:
    path = project(user)
    context = yaml.safe_load(user.kubeconfig.read_text())["current-context"]
    user.run("config", "discover", "dc2", "--context", context, "-n", user.namespace)
    names = [datacenter["name"] for datacenter in yaml.safe_load(path.read_text())["datacenters"]]
    assert names == ["dc1", "dc2"]


def test_the_current_connection_is_where_commands_go(user: User) -> None:
    project(user)
    user.run("config", "add", "home", "--context", "none")
    user.run("config", "use", "home")
    assert 'no context "none"' in user.run("get", "jobs", code=3).stderr
    user.run("config", "use", "dc1")
    assert user.namespace in user.run("get", "jobs").stderr


def test_version_tells_of_the_cluster(user: User, kueue: str) -> None:
    versions = json.loads(user.run("version", "-o", "json").stdout)
    assert versions["server"].startswith("v1.")
    assert versions["extensions"]["kueue"] == f"{GROUP}/v1beta1"
    assert versions["extensions"]["jobset"] is None
    assert "jobset:          -\n" in user.run("version").stdout
    assert "server" not in user.run("version", "--client").stdout


def test_version_of_a_cluster_that_does_not_answer(user: User) -> None:
    settings = yaml.safe_load(user.kubeconfig.read_text())
    settings["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    path = user.folder / "down"
    path.write_text(yaml.safe_dump(settings))
    down = user._replace(kubeconfig=path)
    done = down.run("version", "-o", "json")
    assert json.loads(done.stdout)["server"] is None
    assert "cluster version unknown: " in done.stderr
    down.run("version", "--kubeconfig", str(path), code=3)
    assert "no context" in down.run("version", "--context", "none", code=3).stderr
