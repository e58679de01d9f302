"""
The rights that commands need: the Roles of examples/rbac grant exactly these.

The rights are derived from the API server's audit log of an administrator's commands.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml
from control_plane.credentials import token_of
from user import EXAMPLES, User

from paddlespec.backends.cluster.api import rights as listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from control_plane import ControlPlane

RBAC = EXAMPLES / "rbac"
ROLES = ("viewer", "differ", "applier", "operator", "registry")
# A stream is requested by a GET that needs the verb create.
STREAMS = ("pods/exec", "pods/portforward")
PACKAGE = str(EXAMPLES / "fit-a-line-collective")
READS = ("get", "list", "watch")
# Without these, a command works but reports less.
SPARED = {("coordination.k8s.io", "leases", "delete")}
OPTIONAL = {right for role in ROLES[:4] for right in map(tuple, listed.optional(role))}
CLAIM = "volumes=[{name: data, mountPath: /data, claim: {size: 1Gi}}]"
WAIT = ("--timeout", "60s", "--wait")
COMPLETE, READY = (*WAIT, "complete"), (*WAIT, "ready")
STATEFUL = ("-u", "pservers.workload=StatefulSet")

Right = tuple[str, str, str]


class Step(NamedTuple):
    """
    One command: the smallest role it needs, and its exit code.

    An administrator runs *before* first, and *again* once more after each try.
    """

    role: str
    arguments: Callable[[User], tuple[str, ...]]
    code: int = 0
    before: Callable[[User], object] = lambda _: None
    again: Callable[[User], tuple[str, ...]] | None = None


def fit(*options: str, verb: str = "apply", name: str = "fit", **marks: str) -> Any:
    marks = marks or {"run_for": "1h"}
    return lambda user: (verb, user.ps(name, **marks), *options)


def words(*arguments: str) -> Callable[[User], tuple[str, ...]]:
    return lambda _: arguments


def package(verb: str, *options: str) -> Callable[[User], tuple[str, ...]]:
    """A job whose code is delivered with it."""

    def arguments(user: User) -> tuple[str, ...]:
        user.ps("other", run_for="1s")  # the marks affect all jobs
        return (verb, PACKAGE, *options)

    return arguments


def held(user: User) -> None:
    """A lock whose holder does not return."""
    lease = {
        "metadata": {"name": "fit.paddlespec"},
        "spec": {"holderIdentity": "other/1/0", "leaseDurationSeconds": 1},
    }
    path = f"/apis/coordination.k8s.io/v1/namespaces/{user.namespace}/leases"
    user.plane.request("POST", path, lease)


def few(user: User) -> None:
    """A quota too small for any pod."""
    user.plane.eventually(lambda: not user.all("pods"), within=60)
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}
    user.plane.request("POST", user.path("resourcequotas"), quota)
    user.plane.eventually(lambda: user.get("resourcequotas", "few").get("status", {}).get("used"))


def plenty(user: User) -> None:
    if user.names("resourcequotas"):
        user.plane.request("DELETE", f"{user.path('resourcequotas')}/few")


STEPS = {
    "history-of-nothing": Step("viewer", words("get", "history")),
    "diff-absent": Step("differ", fit("-u", CLAIM, verb="diff"), code=1),
    "dry-run": Step("differ", fit("-u", CLAIM, "--dry-run", "server")),
    "apply": Step("applier", fit("-u", CLAIM, *READY)),
    "apply-again": Step("applier", fit("-u", CLAIM)),
    "diff-running": Step("differ", fit("-u", CLAIM, verb="diff")),
    "history": Step("viewer", words("get", "history", "fit")),
    "histories": Step("viewer", words("get", "history")),
    "spec": Step("viewer", words("get", "spec", "fit")),
    "unlock": Step("applier", fit("-u", CLAIM, "--force-unlock"), before=held),
    "replace": Step("applier", fit("-u", CLAIM, "-u", "image=registry.test/a:2", "--replace")),
    "status": Step("viewer", words("status", "fit")),
    "jobs": Step("viewer", words("get", "jobs")),
    "workers": Step("viewer", words("get", "workers", "fit")),
    "wait": Step("viewer", words("wait", "fit", "--for", "ready")),
    "logs": Step("viewer", words("logs", "fit", "-n", "1")),
    "exec": Step("operator", words("exec", "fit", "--", "true")),
    "shell": Step("operator", fit("-u", CLAIM, "--", "true", verb="shell")),
    "shell-code": Step("operator", package("shell", "--", "true")),
    "shell-job": Step("operator", words("shell", "fit", "--", "true")),
    "registry-add": Step("registry", words("registry", "add", "team", "--helper", "test")),
    "registries": Step("registry", words("registry", "list")),
    "registry-delete": Step(
        "registry",
        words("registry", "delete", "team"),
        again=words("registry", "add", "team", "--helper", "test"),
    ),
    "kill": Step(
        "operator",
        words("kill", "fit", "--yes", "--force-unlock"),
        before=held,
        again=fit("-u", CLAIM, "--rerun", "--replace"),
    ),
    "rerun": Step("applier", fit("--rerun", *STATEFUL, *COMPLETE, run_for="1s")),
    "diff-over": Step("differ", fit(*STATEFUL, verb="diff", run_for="1s")),
    "kill-stateful": Step(
        "operator",
        words("kill", "fit", "--yes"),
        again=fit("-u", CLAIM, *STATEFUL, "--rerun", "--replace"),
    ),
    "delete": Step(
        "applier",
        words("delete", "fit", "--yes"),
        again=fit("-u", CLAIM, *STATEFUL, "--rerun", "--replace"),
    ),
    "diff-stateful": Step("differ", fit(*STATEFUL, verb="diff", name="other"), code=1),
    "diff-package": Step("differ", package("diff"), code=1),
    "package": Step("applier", package("apply", *COMPLETE)),
    "diff-other-package": Step(
        "differ", package("diff", "-u", "package.exclude=[README.md]"), code=1
    ),
    "kill-package": Step(
        "operator",
        words("kill", "fit-a-line-collective", "--yes"),
        again=package("apply", "--rerun", "--replace"),
    ),
    "delete-package": Step("applier", words("delete", "fit-a-line-collective", "--yes")),
    "failing": Step("applier", fit(*COMPLETE, name="bad", fail="1", run_for="1s"), code=4),
    "delete-failed": Step("applier", words("delete", "bad", "--yes")),
    "no-room": Step("applier", fit(*READY, "--timeout", "6s", name="late"), code=5, before=few),
    "delete-late": Step("applier", words("delete", "late", "--yes"), before=plenty),
}


def role(name: str) -> set[Right]:
    """Return the rights of a Role in examples/rbac."""
    manifest = yaml.safe_load((RBAC / f"{name}.yaml").read_text(encoding="utf-8"))
    assert manifest["kind"] == "Role"
    assert manifest["metadata"]["name"] == f"paddlespec-{name}"
    return {
        (group, resource, verb)
        for rule in manifest["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def rules(given: set[Right]) -> list[dict[str, list[str]]]:
    return [
        {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        for group, resource, verb in sorted(given)
    ]


def asked(event: dict[str, Any]) -> Iterator[Right]:
    """Return the rights that a request needs."""
    target = event["objectRef"]
    group, resource = target.get("apiGroup", ""), target["resource"]
    if target.get("subresource"):
        resource = f"{resource}/{target['subresource']}"
    yield group, resource, "get" if resource in STREAMS else event["verb"]
    # Applying an object that does not exist creates it, which needs the verb create.
    if event["verb"] == "patch" and event["responseStatus"]["code"] == 201:
        yield group, resource, "create"
    if resource in STREAMS:
        yield group, resource, "create"


def rights_of(user: User, name: str, first: int) -> set[Right]:
    return {
        right
        for event in user.plane.audit(user=name, namespace=user.namespace)[first:]
        if event.get("userAgent", "").startswith("paddlespec")
        or event["objectRef"].get("subresource") in ("exec", "portforward")
        for right in asked(event)
    }


def forwarded(user: User) -> set[Right]:
    """What a command asks for that only a signal ends, and only after its first connection."""
    first = len(user.plane.audit(user="admin", namespace=user.namespace))
    process = user.start("port-forward", "fit", ":80")
    address = re.match(r"127\.0\.0\.1:(\d+) ", process.stdout.readline())
    assert address
    port = int(address[1])
    socket.create_connection(("127.0.0.1", port)).close()
    assert "nothing listens on port 80" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    return rights_of(user, "admin", first)


class Needed(NamedTuple):
    """The rights that each command requested."""

    steps: dict[str, set[Right]]

    def of(self, *roles: str) -> set[Right]:
        """What the commands of *roles* cannot do without."""
        return {
            right
            for key, used in self.steps.items()
            if key in STEPS and STEPS[key].role in roles
            for right in used
        } - OPTIONAL


@pytest.fixture(scope="module", autouse=True)
def _surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A lock that could not be given back expires soon; a helper knows a password."""
    folder = tmp_path_factory.mktemp("bin")
    helper = folder / "docker-credential-test"
    secret = '{"Username": "bot", "Secret": "canary"}'
    helper.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{secret}'\n")
    helper.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PADDLESPEC_LOCK_SECONDS", "1")
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield


@pytest.fixture(scope="module")
def needed(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Needed:
    """An administrator runs every command once."""
    name = f"rights-{uuid.uuid4().hex[:10]}"
    control_plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    user = User.admin(control_plane, name, tmp_path_factory.mktemp("rights"))
    steps = {}
    for key, step in STEPS.items():
        step.before(user)
        first = len(control_plane.audit(user="admin", namespace=name))
        user.run(*step.arguments(user), code=step.code)
        steps[key] = rights_of(user, "admin", first)
        if key == "exec":
            steps["port-forward"] = forwarded(user)
    control_plane.request("DELETE", f"/api/v1/namespaces/{name}")
    return Needed(steps)


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


class Restricted(NamedTuple):
    """A user with known rights."""

    user: User
    name: str

    def may(self, rights: set[Right], *probes: Right) -> None:
        """Grant exactly these rights; *probes* show when they take effect."""
        plane, space = self.user.plane, self.user.namespace
        path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{space}/roles/{self.name}"
        body = {"metadata": {"name": self.name}, "rules": rules(rights)}
        plane.request("PUT", path, body)
        for probe in probes:
            plane.eventually(partial(self._is, probe, probe in rights))

    def _is(self, right: Right, allowed: bool) -> bool:
        group, resource, verb = right
        resource, _, sub = resource.partition("/")
        asked = {
            "namespace": self.user.namespace,
            "group": group,
            "resource": resource,
            "subresource": sub,
            "verb": verb,
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": asked},
        }
        answer = self.user.plane.request("POST", path, body, token=token_of(self.name))
        return bool(answer["status"]["allowed"] == allowed)


def restricted(user: User, rights: set[Right], name: str = "runner") -> Restricted:
    user.plane.allow(name, user.namespace, rules(rights))
    limited = user._replace(kubeconfig=user.plane.kubeconfig_for(name, user.namespace))
    who = Restricted(limited, name)
    who.may(rights, *rights)
    return who


def same(granted: set[Right], used: set[Right]) -> bool:
    """Check that a Role grants what commands use; the assertion shows what differs."""
    assert (sorted(granted - used), sorted(used - granted)) == ([], [])
    return True


def test_the_viewer_reads_and_nothing_else(needed: Needed) -> None:
    """A user without the right to dry runs gets a comparison by reading."""
    reading = {
        right
        for key, used in needed.steps.items()
        if key.startswith("diff-")
        for right in used - OPTIONAL
        if right[2] in READS
    }
    assert same(role("viewer") - OPTIONAL, needed.of("viewer") | reading)
    assert {verb for _, _, verb in role("viewer")} <= set(READS)


def test_the_differ_has_what_dry_runs_need(needed: Needed) -> None:
    assert same(role("differ") - OPTIONAL, needed.of("viewer", "differ"))
    assert not {right for right in role("differ") if right[2] in ("delete", "update")}


def test_the_applier_has_what_ci_needs(needed: Needed) -> None:
    kills = {right for key, used in needed.steps.items() if "kill" in key for right in used}
    used = needed.of("viewer", "differ", "applier") | kills - OPTIONAL
    assert same(role("applier") - OPTIONAL, used)
    assert role("viewer") < role("differ") < role("applier")


def test_the_operator_has_what_looking_after_jobs_needs(needed: Needed) -> None:
    forward = needed.steps["port-forward"] - OPTIONAL
    used = needed.of("viewer", "operator") | forward | role("viewer") - OPTIONAL
    assert same(role("operator") - OPTIONAL, used)
    assert ("batch", "jobs", "patch") not in role("operator"), "it applies nothing"


def test_the_registry_role_is_about_secrets_alone(needed: Needed) -> None:
    assert same(role("registry"), needed.of("registry"))
    assert {resource for _, resource, _ in role("registry")} == {"secrets"}


def test_a_viewer_sees_differences_and_histories(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready")
    viewer = restricted(user, role("viewer"), "reader").user
    for arguments in (("get", "history"), ("get", "history", "fit"), ("get", "spec", "fit")):
        viewer.run(*arguments)
    changed = (user.ps(run_for="1h"), "-u", "policy.timeout=3h")
    result = viewer.run("diff", *changed, code=3)
    assert "activeDeadlineSeconds" in result.stdout
    assert "compared by reading only" in result.stdout + result.stderr
    result = viewer.run("apply", *changed, code=3)
    assert f"you may not create leases in namespace {user.namespace}" in result.stderr


def test_a_differ_compares_as_the_server_does_and_changes_nothing(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"), "--wait", "ready")
    before = user.settled()
    differ = restricted(user, role("differ")).user
    changed = (user.ps(run_for="1h"), "-u", "policy.timeout=3h")
    result = differ.run("diff", *changed, code=1)
    assert "by reading" not in result.stdout + result.stderr
    differ.run("diff", user.ps(run_for="1h"))
    differ.run("apply", *changed, "--dry-run", "server")
    assert user.everything() == before


def test_each_right_is_needed_and_told(user: User, needed: Needed) -> None:
    """Before each command, each right that it is the first to use is revoked once."""
    every = {right for name in ROLES for right in role(name)}
    runner = restricted(user, every)
    left, spared = every - OPTIONAL, set()
    for key, step in STEPS.items():
        step.before(user)
        first = sorted(needed.steps[key] & left)
        for right in first:
            if step.again is not None:
                user.run(*step.again(user))
            runner.may(every - {right}, right)
            if _is_refused(runner.user, step, right):
                left.discard(right)
            elif right in SPARED:
                left.discard(right)
                spared.add(right)
            runner.may(every, right)
        _once_more(runner.user, step)
    assert spared == SPARED
    assert not left - needed.steps["port-forward"], "no command needs these"


def _is_refused(user: User, step: Step, right: Right) -> bool:
    """Run a command without a right; report whether it was refused and the right was named."""
    process = user.start(*step.arguments(user))
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err, err
    if process.returncode != 3 and f"you may not {right[2]}" not in out + err:
        return False
    _, resource, verb = right
    assert f"you may not {verb} {resource} in namespace {user.namespace}" in out + err, right
    return True


def _once_more(user: User, step: Step) -> None:
    """With all rights, an interrupted operation completes."""
    process = user.start(*step.arguments(user))
    out, err = process.communicate(timeout=120)
    # What an earlier try deleted cannot be deleted again.
    gone = "does not exist in namespace" in err or "has no objects" in err
    assert process.returncode == step.code or gone, f"{step.arguments(user)}\n{out}\n{err}"
