"""The cluster's own rules: policies, webhooks, Pod Security, limits, and what each of them says."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

import pytest
from user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from control_plane import ControlPlane

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
JOBS = [
    {
        "apiGroups": ["batch"],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["jobs"],
    }
]
# Whatever a policy says may quote the object.
QUOTE = "object.spec.template.spec.containers[0].env.map(e, has(e.value) ? e.value : '').join(' ')"


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def selector(user: User) -> dict[str, Any]:
    labels = {"kubernetes.io/metadata.name": user.namespace}
    return {"namespaceSelector": {"matchLabels": labels}}


@contextmanager
def rule(user: User, *objects: tuple[str, dict[str, Any]]) -> Iterator[None]:
    """Have objects of the admission API, all named like the namespace."""
    for plural, body in objects:
        metadata = {"metadata": {"name": user.namespace}}
        user.plane.request("POST", f"{ADMISSION}/{plural}", {**metadata, **body})
    try:
        yield
    finally:
        for plural, _ in objects:
            user.plane.request("DELETE", f"{ADMISSION}/{plural}/{user.namespace}")


def policy(user: User, action: str, spec: dict[str, Any], kind: str = "validating") -> Any:
    plural = f"{kind}admissionpolicies"
    constraints = {"matchConstraints": {"resourceRules": JOBS}, "failurePolicy": "Fail"}
    binding: dict[str, Any] = {"policyName": user.namespace, "matchResources": selector(user)}
    if kind == "validating":
        binding["validationActions"] = [action]
    bindings = plural.removesuffix("ies") + "ybindings"
    return rule(user, (plural, {"spec": {**constraints, **spec}}), (bindings, {"spec": binding}))


def validation(user: User, action: str, expression: str = "false") -> Any:
    message = {"expression": expression, "messageExpression": QUOTE}
    return policy(user, action, {"validations": [message]})


def webhook(user: User, url: str) -> Any:
    hook = {
        "name": "validate.test.example",
        "clientConfig": {"url": url},
        "rules": JOBS,
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 1,
        **selector(user),
    }
    return rule(user, ("validatingwebhookconfigurations", {"webhooks": [hook]}))


def label(user: User, **labels: str) -> None:
    pairs = [f"pod-security.kubernetes.io/{key}={value}" for key, value in labels.items()]
    user.plane.kubectl("label", "--overwrite", "namespace", user.namespace, *pairs)


def holds(user: User) -> bool:
    """Whether the API server knows the rule by now."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a", "env": []}]}
    job = {"metadata": {"name": "probe"}, "spec": {"template": {"spec": pod}}}
    try:
        user.plane.request("POST", f"{user.path('jobs')}?dryRun=All", job)
    except HTTPError:
        return True
    return False


def test_a_policy_that_denies_is_named(user: User) -> None:
    spec = user.ps(run_for="1h")
    with validation(user, "Deny"):
        user.plane.eventually(lambda: holds(user))
        denied = f'was denied by policy "{user.namespace}" (binding "{user.namespace}")'
        for how in ((), ("--dry-run", "server")):
            result = user.run("apply", spec, *how, code=3)
            assert f"Job/fit-trainer {denied}" in result.stderr
            assert "hint: show its reason with: paddlespec render" in result.stderr
        shown = user.run("diff", spec, code=3).stdout
    assert f"Job/fit-trainer: could not be compared: Job/fit-trainer {denied}" in shown
    assert "+ Service/fit-trainer: create" in shown


def test_a_mutating_policy_that_fails_is_named(user: User) -> None:
    patch = "[JSONPatch{op: 'add', path: '/spec/nowhere/x', value: 'x'}]"
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}
    spec = {"reinvocationPolicy": "Never", "mutations": [mutation]}
    with policy(user, "", spec, "mutating"):
        user.plane.eventually(lambda: holds(user))
        result = user.run("apply", user.ps(), "--dry-run", "server", code=3)
    assert f'Job/fit-trainer was denied by policy "{user.namespace}"' in result.stderr


def test_a_webhook_that_is_down_is_named_and_the_rest_is_compared(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"))
    changed = (user.ps(run_for="1h"), "-u", "policy.timeout=3h")
    with webhook(user, "https://127.0.0.1:1/validate"):
        user.plane.eventually(lambda: holds(user))
        reason = 'admission webhook "validate.test.example" cannot be reached: connection refused'
        shown = user.run("diff", *changed, "-u", "pservers.ports={extra: 1}", "--replace", code=3)
        assert f"Job/fit-trainer cannot be checked: {reason}" in shown.stdout
        assert "activeDeadlineSeconds" in shown.stdout
        assert "Service/fit-pserver: replace" in shown.stdout
        result = user.run("apply", *changed, code=3)
    assert f"Job/fit-trainer cannot be checked: {reason}" in result.stderr
    assert "hint: ask who runs it" in result.stderr


def test_what_the_cluster_warns_of_is_shown_once(user: User) -> None:
    spec = user.ps(run_for="1h")
    label(user, warn="restricted")
    expected = 'would violate Pod Security level "restricted:latest"'

    def warned(*arguments: str, code: int = 0) -> list[str]:
        lines = user.run(*arguments, code=code).stderr.splitlines()
        return [line for line in lines if line.startswith("warning: ")]

    for arguments, code in (
        (("diff", spec), 1),
        (("apply", spec, "--dry-run", "server"), 0),
        (("apply", spec), 0),
    ):
        (line,) = warned(*arguments, code=code)
        assert expected in line
        assert "runAsNonRoot != true" in line
    label(user, warn="privileged")
    assert warned("diff", spec) == []
    with validation(user, "Warn"):
        user.plane.eventually(lambda: warned("diff", spec))
        (line,) = warned("diff", spec)
    assert f'policy "{user.namespace}" (binding "{user.namespace}") objects to this job' in line
