"""What a cluster refuses is reported in our words; the canary of `User.run` watches every message."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from control_plane import ControlPlane


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def patched(user: User, patch: dict[str, Any], kind: str = "Job") -> tuple[str, ...]:
    patches = [{"target": {"kind": kind}, "patch": patch}]
    return (user.ps(), "-u", f"patches={json.dumps(patches)}")


def container(**fields: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "paddle", **fields}]}
    return {"spec": {"template": {"spec": pod}}}


UNKNOWN = {"spec": {"template": {"spec": {"hostNetwrk": "canary-value"}}}}
POD = "spec.template.spec"
WRONG = {
    "unknown-field": (UNKNOWN, 2, f"{POD}.hostNetwrk is not a field of a batch/v1 Job"),
    "wrong-type": (
        *(container(env=[{"name": "A", "value": {"canary": 5}}]), 2),
        ".value must be a string, not a mapping",
    ),
    "bad-quantity": (
        *(container(resources={"limits": {"cpu": "canary"}}), 2),
        f"{POD}.containers[0].resources.limits.cpu is not a quantity",
    ),
    "not-one-of": (
        *(container(imagePullPolicy="canary-sometimes"), 2),
        f"{POD}.containers[0].imagePullPolicy must be one of Always, IfNotPresent, Never",
    ),
    # Only the server knows these rules.
    "invalid": (
        *(container(livenessProbe={"httpGet": {"port": 99999}}), 3),
        f"is invalid: {POD}.containers[0].livenessProbe",
    ),
    "invalid-name": (
        *(container(env=[{"name": "canary=", "value": "x"}]), 3),
        f"is invalid: {POD}.containers[0].env",
    ),
}


@pytest.mark.parametrize("how", [(), ("--dry-run", "server")], ids=["apply", "dry-run"])
@pytest.mark.parametrize("case", WRONG)
def test_a_bad_patch_is_told_by_its_field(user: User, case: str, how: tuple[str, ...]) -> None:
    patch, code, expected = WRONG[case]
    result = user.run("apply", *patched(user, patch), *how, code=code)
    assert expected in result.stderr
    assert ("Job/fit-trainer" in result.stderr) is (code == 3)
    assert user.running("trainers") == 0


def test_an_immutable_change_does_not_print_the_pods(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"))
    result = user.run("apply", user.ps(run_for="1h"), "-u", "env.PASSWORD=canary-other", code=3)
    assert "Job/fit-trainer is running and its spec has changed" in result.stderr
    assert "--replace" in result.stderr


def test_an_exceeded_quota_names_it(user: User) -> None:
    quota = {"metadata": {"name": "one"}, "spec": {"hard": {"count/jobs.batch": "1"}}}
    user.plane.request("POST", user.path("resourcequotas"), quota)
    user.plane.eventually(lambda: user.get("resourcequotas", "one").get("status", {}).get("used"))
    result = user.run("apply", user.ps(run_for="1h"), code=3)
    assert "Job/fit-pserver exceeds quota one" in result.stderr
    assert "used count/jobs.batch=1" in result.stderr
    # Nothing runs, and with more quota the next apply goes on.
    assert user.get("jobs", "fit-trainer")["spec"]["suspend"] is True
    user.plane.request("DELETE", f"{user.path('resourcequotas')}/one")
    user.plane.eventually(lambda: not user.all("resourcequotas"))
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready", "--timeout", "60s")


@pytest.mark.parametrize("how", [(), ("--dry-run", "server")], ids=["apply", "dry-run"])
def test_a_missing_namespace(user: User, how: tuple[str, ...]) -> None:
    result = user.run("apply", user.ps(), "-n", "nowhere-at-all", *how, code=3)
    assert "namespace nowhere-at-all does not exist" in result.stderr
    assert (
        "job fit does not exist in namespace"
        in user.run("kill", "fit", "-n", "nowhere", code=3).stderr
    )


def test_a_user_without_rights(user: User) -> None:
    nobody = user._replace(kubeconfig=user.plane.kubeconfig_for("nobody", user.namespace))
    result = nobody.run("apply", user.ps(), code=3)
    assert f"you may not create leases in namespace {user.namespace}" in result.stderr
    assert "or the namespace does not exist" in result.stderr
    assert "you may not get configmaps" in nobody.run("kill", "fit", code=3).stderr


def test_a_user_who_may_only_read(user: User) -> None:
    everything = {"apiGroups": ["", "batch", "apps"], "resources": ["*"]}
    user.plane.allow("reader", user.namespace, [{**everything, "verbs": ["get", "list"]}])
    reader = user._replace(kubeconfig=user.plane.kubeconfig_for("reader", user.namespace))

    def reported() -> bool:
        message = reader.run("apply", user.ps(), "--dry-run", "server", code=3).stderr
        return f"you may not patch jobs in namespace {user.namespace}" in message

    user.plane.eventually(reported)


def test_unknown_credentials(user: User) -> None:
    path = user.folder / "stale.kubeconfig"
    text = user.kubeconfig.read_text(encoding="utf-8")
    path.write_text(text.replace("admin-token", "canary-token"), encoding="utf-8")
    result = user._replace(kubeconfig=path).run("apply", user.ps(), code=3)
    assert "the cluster rejected your credentials" in result.stderr


def test_a_conflict_names_who_set_the_field(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"))
    user.plane.kubectl(
        *("patch", "job", "fit-trainer", "-n", user.namespace, "--field-manager=governor"),
        *("-p", '{"spec": {"ttlSecondsAfterFinished": 7}}'),
    )
    result = user.run("apply", user.ps(run_for="1h"), code=3)
    assert "spec.ttlSecondsAfterFinished (governor)" in result.stderr


def test_a_kind_that_is_not_installed(user: User) -> None:
    result = user.run(
        "apply", user.ps(), "-u", "scheduling={scheduler: volcano, gang: true}", code=3
    )
    assert "the cluster does not serve kind PodGroup" in result.stderr


def test_a_namespace_that_is_being_deleted(user: User) -> None:
    body = {"metadata": {"name": "held", "finalizers": ["test/held"]}}
    user.plane.request("POST", user.path("configmaps"), body)
    user.plane.request("DELETE", f"/api/v1/namespaces/{user.namespace}")
    result = user.run("apply", user.ps(), code=3)
    assert f"namespace {user.namespace} is being deleted" in result.stderr
    user.plane.kubectl(
        *("patch", "configmap", "held", "-n", user.namespace, "--type=merge"),
        *("-p", '{"metadata": {"finalizers": null}}'),
    )


def kubeconfig(user: User, server: str, **cluster: str) -> User:
    path = user.folder / "other.kubeconfig"
    document = {
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": {"token": "canary"}}],
        "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "test",
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return user._replace(kubeconfig=path)


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("https://127.0.0.1:1", "cannot reach https://127.0.0.1:1: connection refused"),
        ("https://no-such-host.invalid", "unknown host"),
    ],
    ids=["refused", "unknown-host"],
)
def test_a_cluster_that_cannot_be_reached(user: User, server: str, expected: str) -> None:
    result = kubeconfig(user, server).run("apply", user.ps(), code=3)
    assert expected in result.stderr


def test_a_certificate_that_nobody_vouches_for(user: User) -> None:
    result = kubeconfig(user, user.plane.server).run("apply", user.ps(), code=3)
    assert "cannot verify the certificate of https://" in result.stderr


@pytest.fixture
def login_page() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>canary: please log in</html>")

        def log_message(self, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_something_that_is_no_api_server(user: User, login_page: str) -> None:
    result = kubeconfig(user, login_page).run("apply", user.ps(), code=3)
    assert "does not answer like a Kubernetes API server" in result.stderr


def test_pods_of_a_kind_that_nobody_describes_are_refused(user: User) -> None:
    path = user.ps()
    template = "{% extends 'kubernetes/workload.yaml.j2' %}{% block head %}\n"
    template += "apiVersion: example.com/v1\nkind: Crowd\n{% endblock %}\n"
    folder = user.templates / "kubernetes"
    folder.mkdir(parents=True)
    (folder / "job.yaml.j2").write_text(template, encoding="utf-8")
    reason = 'no installed package describes the kind "Crowd.example.com"'
    for how in ((), ("--dry-run", "server"), ("--wait", "complete")):
        assert reason in user.run("apply", path, *how, code=3).stderr
    assert user.objects() == {}
    assert reason in user.attempt("diff", path).stdout
