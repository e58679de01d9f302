"""
No secret appears anywhere: secrets are placed wherever possible, and all output is searched.

`User.run` searches what is printed. Exempt are `render`, `render -o spec`, `apply --dry-run client`
and `render --out`, whose results are the manifests themselves, and the variables and commands of
pods in the cluster, which must contain them.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from control_plane import ControlPlane

MARK = "canary"
COPY = "kubectl.kubernetes.io/last-applied-configuration"
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: ps
  image: registry.test/paddle:1
  command: python train.py --salt ${{ parameters.salt }} --passes ${{ parameters.passes }}
  setup: ["echo ${{ parameters.salt }}"]
  parameters: {salt: canary-parameter, passes: 3}
  env:
    SALT: {value: "${{ parameters.salt }}", sensitive: true}
    PLAIN: {value: canary-sensitive, sensitive: true}
    DB_PASSWORD: canary-name
    STORE: postgres://me:canary-shape@db.test/x
    TEAM: {secret: team, key: token}
  trainers:
    replicas: 2
    env:
      API_TOKEN: canary-role-name
      OF_ROLE: {value: canary-role, sensitive: true}
  pservers: {replicas: 1, workload: StatefulSet}
profiles:
  smoke:
    env: {PLAIN: {value: canary-profile, sensitive: true}}
"""
OVERLAY = """\
apiVersion: paddlespec.io/v1
kind: Overlay
spec:
  env: {OVER_SECRET: canary-overlay}
"""
OPTION = ("-u", "env.EXTRA_TOKEN=canary-option")
# The secrets that reach the pods when everything is applied.
PLACES = {
    *("canary-parameter", "canary-sensitive", "canary-name", "canary-shape", "canary-role-name"),
    *("canary-role", "canary-overlay", "canary-option"),
}


@pytest.fixture
def user(
    control_plane: ControlPlane, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> User:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("BUILD_URL", "https://me:canary-address@ci.test/job/9/")
    admin = User.admin(control_plane, namespace, tmp_path)
    secret = {"metadata": {"name": "team"}, "stringData": {"token": "canary-object"}}
    control_plane.request("POST", admin.path("secrets"), secret)
    return admin


@pytest.fixture
def spec(user: User) -> tuple[str, ...]:
    overlay = user.write(OVERLAY, "over.yaml")
    path = user.write(SPEC)
    git(user.folder, "init", "--quiet")
    git(user.folder, "remote", "add", "origin", "https://me:canary-remote@git.test/ads.git")
    git(user.folder, "add", "paddlejob.yaml", "over.yaml")
    git(user.folder, "commit", "--quiet", "-m", "all")
    return (path, "--overlay", overlay, *OPTION)


def git(folder: Path, *arguments: str) -> None:
    me = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    subprocess.run(["git", *me, *arguments], cwd=folder, check=True, capture_output=True)


def written(folder: Path) -> Iterator[tuple[str, str]]:
    """Return what commands wrote into files of the user."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        theirs = parts[0] in (".git", "manifests", "templates")
        if path.is_file() and not theirs and path.suffix not in (".yaml", ".kubeconfig"):
            yield str(path), path.read_text(encoding="utf-8", errors="replace")


def kept(user: User) -> Iterator[tuple[str, str]]:
    """Return what we store in the cluster, except what pods need."""
    for kind in ("jobs", "statefulsets", "services", "configmaps", "pods"):
        for live in user.all(kind):
            yield f"{kind}/{live['metadata']['name']}", json.dumps(without_pods(live))
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{user.namespace}/leases"
    yield "leases", json.dumps(user.plane.request("GET", leases))
    yield "events", json.dumps(user.all("events"))


def without_pods(value: Any) -> Any:
    """*value* without the variables and commands of containers."""
    if isinstance(value, list):
        return [without_pods(item) for item in value]
    if not isinstance(value, dict):
        return value
    left = ("env", "command", "args", COPY)
    return {key: without_pods(member) for key, member in value.items() if key not in left}


def search(user: User) -> None:
    leaks = [name for name, text in (*written(user.folder), *kept(user)) if MARK in text]
    assert leaks == []


FORMS = {
    "validate": ("text", "json", "github", "sarif"),
    "diff": ("text", "json", "markdown", "github"),
}


def test_what_is_read_by_people_before_anything_runs(user: User, spec: tuple[str, ...]) -> None:
    for form in FORMS["validate"]:
        user.run("validate", *spec, "-o", form)
        user.run("validate", *spec, "--profile", "smoke", "-o", form)
    user.run("render", *spec, "--preview")
    user.run("render", *spec, "--show-origin")
    process = user.start("render", *spec, "--out", str(user.folder / "manifests"))
    assert MARK not in "".join(process.communicate())
    for form in FORMS["diff"]:
        for against, code in (("git:HEAD", 0), (str(user.folder / "manifests"), 1)):
            user.run("diff", *spec, "--against", against, "-o", form)
            other = ("-u", "parameters.salt=canary-other", "-u", "env.EXTRA_TOKEN=canary-else")
            user.run("diff", *spec, *other, "--against", against, "-o", form, code=code)
    user.write(SPEC.replace("canary-", "canary-new-"))
    for form in FORMS["diff"]:
        user.run("diff", *spec, "--against", "git:HEAD", "-o", form, code=1)
    search(user)


def test_what_is_printed_and_kept_while_a_job_lives(user: User, spec: tuple[str, ...]) -> None:
    user.ps("marks", run_for="1h")
    for form in FORMS["diff"]:
        user.run("diff", *spec, "-o", form, code=1)
    user.run("diff", *spec, "--out", str(user.folder / "plan.json"), code=1)
    user.run("apply", *spec, "--preview", "--yes", "--dry-run", "server")
    user.run("apply", *spec, "--preview", "--yes")
    live = json.dumps(user.all("jobs") + user.all("statefulsets"))
    assert {place for place in PLACES if place not in live} == set(), "the marks reach the pods"
    search(user)
    # Others write secrets into our objects.
    drift(user)
    changed = (*spec, "-u", "parameters.salt=canary-other", "-u", "env.PLAIN.value=canary-new")
    for form in FORMS["diff"]:
        result = user.run("diff", *spec, "-o", form, code=1)
        assert "hidden #" in result.stdout, "the value of another writer is compared"
        user.run("diff", *changed, "-o", form, "--replace", code=1)
        user.run("diff", *changed, "-o", form, code=1)
    user.run("apply", *changed, code=3)
    user.run("apply", *changed, "--replace")
    search(user)
    for form in ("table", "wide", "json", "yaml", "name"):
        user.run("get", "history", "-o", form)
        user.run("get", "history", "fit", "-o", form)
        user.run("get", "history", "fit", "--run", "2", "-o", form)
    user.run("get", "spec", "fit", "--run", "1")
    user.run("get", "spec", "fit", "-o", "json")
    user.run("kill", "fit", "--yes")
    search(user)
    user.run("delete", "fit", "--yes")


def drift(user: User) -> None:
    """Another user sets a variable of a workload, and another tool applies a copy of an object."""
    variables = [{"name": "DB_PASSWORD", "value": "canary-drift"}]
    container = {"name": "paddle", "env": variables}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    space = ("-n", user.namespace, "--field-manager=somebody", "--type=strategic", "-p")
    user.plane.kubectl("patch", "statefulset", "fit-pserver", *space, json.dumps(patch))
    copy = {"metadata": {"annotations": {COPY: json.dumps({"token": "canary-copy"})}}}
    for kind, name in (("service", "fit-pserver"), ("job", "fit-trainer")):
        user.plane.kubectl("patch", kind, name, *space, json.dumps(copy))


# Messages of the server quote values.

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [batch]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [jobs]
  validations:
  - expression: "false"
    messageExpression: >-
      'no: ' + object.spec.template.spec.containers[0].env.filter(e,
      e.name == 'PLAIN')[0].value
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec:
  policyName: NAME
  validationActions: [Deny]
  matchResources:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}
"""


def test_a_policy_that_quotes_what_it_denies(user: User, spec: tuple[str, ...]) -> None:
    policy = POLICY.replace("NAME", user.namespace)
    user.plane.kubectl("apply", "-f", "-", input=policy)
    try:
        rendered = user.start("apply", *spec, "--dry-run", "client").communicate()[0]

        def quotes() -> bool:
            theirs = ("apply", "--server-side", "--dry-run=server", "-n", user.namespace, "-f", "-")
            done = user.plane.kubectl(*theirs, input=rendered, check=False)
            return "no: canary-sensitive" in done.stderr

        user.plane.eventually(quotes, what="kubectl shows what the policy quotes")
        result = user.run("apply", *spec, code=3)
        assert "Job/fit-trainer" in result.stderr
        user.run("apply", *spec, "--dry-run", "server", code=3)
        for form in FORMS["diff"]:
            user.run("diff", *spec, "-o", form, code=3)
        search(user)
    finally:
        user.plane.kubectl("delete", "-f", "-", input=policy)


WRONG = {
    "invalid": {
        "spec": {
            "template": {
                "spec": {"containers": [{"name": "paddle", "ports": [{"containerPort": 99999999}]}]}
            }
        }
    },
    "mistyped": {
        "spec": {
            "template": {
                "spec": {
                    "containers": [
                        {
                            "name": "paddle",
                            "env": [{"name": "ADDED_TOKEN", "value": {"canary-typed": 1}}],
                        }
                    ]
                }
            }
        }
    },
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_of_bad_values_quote_no_secret(user: User, spec: tuple[str, ...], case: str) -> None:
    patches = [{"target": {"kind": "Job", "role": "trainers"}, "patch": WRONG[case]}]
    bad = (*spec, "-u", f"patches={json.dumps(patches)}")
    code = 2 if case == "mistyped" else 3  # types are checked before the server is asked
    user.run("apply", *bad, code=code)
    user.run("apply", *bad, "--dry-run", "server", code=code)
    for form in FORMS["diff"]:
        user.run("diff", *bad, "-o", form, code=code)
    search(user)


def test_errors_of_specs_quote_no_secret(user: User) -> None:
    cases = (
        SPEC.replace("sensitive: true}\n    DB", "sensitive: canary-word}\n    DB"),
        SPEC.replace("{value: canary-sensitive, sensitive: true}", "{value: [canary-list]}"),
        SPEC.replace("API_TOKEN: canary-role-name", "API_TOKEN: {secret: canary_bad, key: x}"),
        SPEC.replace("passes: 3", "passes: ${{ parameters.none }}"),
    )
    for text in cases[:2] + cases[3:]:
        path = user.write(text, "wrong.yaml")
        for form in FORMS["validate"]:
            user.run("validate", path, "-o", form, code=1)
        for verb in ("apply", "diff"):
            user.run(verb, path, code=2)
    for option in (
        *("env.EXTRA_TOKEN={value: canary-x, sensitive: maybe}", "env.PLAIN=[canary-x]"),
        "env.PLAIN.nothing=canary-x",
    ):
        path = user.write(SPEC)
        for form in FORMS["validate"]:
            user.run("validate", path, "-u", option, "-o", form, code=1)
        user.run("apply", path, "-u", option, code=2)


# Connections


@pytest.mark.parametrize(
    "server",
    ["https://me:canary-server@127.0.0.1:1", "https://me:canary-server@no-such-host.invalid"],
    ids=["refused", "unknown-host"],
)
def test_credentials_of_a_connection(user: User, spec: tuple[str, ...], server: str) -> None:
    path = user.folder / "other.kubeconfig"
    document = {
        "clusters": [
            {"name": "c", "cluster": {"server": server, "insecure-skip-tls-verify": True}}
        ],
        "users": [{"name": "u", "user": {"token": "canary-token"}}],
        "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "test",
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    lost = user._replace(kubeconfig=path)
    for arguments in (("apply", *spec), ("diff", *spec), ("get", "history"), ("kill", "fit")):
        lost.run(*arguments, code=3)


def test_a_token_that_is_not_known(user: User, spec: tuple[str, ...]) -> None:
    path = user.folder / "stale.kubeconfig"
    text = user.kubeconfig.read_text(encoding="utf-8")
    path.write_text(text.replace("admin-token", "canary-token"), encoding="utf-8")
    stale = user._replace(kubeconfig=path)
    for arguments in (("apply", *spec), ("get", "history"), ("get", "spec", "fit")):
        result = stale.run(*arguments, code=3)
        assert "the cluster rejected your credentials" in result.stderr


def test_the_search_can_find(user: User, spec: tuple[str, ...]) -> None:
    """The exempt commands do print what is searched for."""
    out = user.start("render", *spec).communicate()[0]
    assert {place for place in PLACES if place not in out} == set()
