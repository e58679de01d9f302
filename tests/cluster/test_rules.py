"""The cluster's own rules: policies, webhooks, Pod Security, limits, and what each of them says."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

import pytest
from user import EXAMPLES, User

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


LIMIT = {"type": "Container", "max": {"cpu": "2"}}
BEYOND = ("-u", "trainers.resources.cpu=3")


def limit(user: User) -> None:
    body = {"metadata": {"name": "most"}, "spec": {"limits": [LIMIT]}}
    user.plane.request("POST", user.path("limitranges"), body)
    user.plane.eventually(
        lambda: "limit range" in user.attempt("diff", user.ps(), *BEYOND, "--replace").stdout
    )


def requests(user: User) -> list[str]:
    """Dry runs of this user's commands, as `verb resource`."""
    return [
        f"{event['verb']} {event['objectRef']['resource']}"
        for event in user.plane.audit(user="admin", namespace=user.namespace)
        if "dryRun" in event["requestURI"]
    ]


def test_a_running_job_is_not_deleted_for_pods_that_cannot_be_created(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    before = user.settled()
    for changes, reason in (
        (("-u", "scheduling.priority=nowhere"), "priority class nowhere does not exist"),
        (BEYOND, "a container may have at most 2 cpu, but its limit is 3 (limit range)"),
    ):
        if changes == BEYOND:
            limit(user)
        for how in ((), ("--dry-run", "server")):
            result = user.run("apply", spec, *changes, "--replace", *how, code=3)
            assert "a pod of Job/fit-trainer cannot be created" in result.stderr
            assert reason in result.stderr
        shown = user.run("diff", spec, *changes, "--replace", code=1).stdout
        assert "apply would refuse this: a pod of Job/fit-trainer" in shown
        assert reason in shown
    assert user.everything() == before


def test_pods_that_pod_security_forbids_are_refused_at_once(user: User) -> None:
    label(user, enforce="restricted")
    result = user.run("apply", user.ps(), code=3)
    assert 'a pod of Job/fit-trainer violates Pod Security level "restricted:latest"' in (
        result.stderr
    )
    assert "(runAsNonRoot != true, unrestricted capabilities)" in result.stderr
    assert user.everything() == {}


def test_pods_that_meet_the_restricted_level_run(user: User) -> None:
    """Exactly as docs/targets.md says."""
    label(user, enforce="restricted")
    text = (EXAMPLES.parent / "docs" / "targets.md").read_text(encoding="utf-8")
    patches = text.partition("## Pod Security")[2].partition("```yaml\n")[2].partition("```")[0]
    spec = user.ps(run_for="1h")
    overlay = user.write(f"apiVersion: paddlespec.io/v1\nkind: PaddleJob\n{patches}", "o.yaml")
    user.run("apply", spec, "--overlay", overlay, "--wait", "ready", "--timeout", "60s")


def test_a_refused_object_leaves_nothing_half_made(user: User) -> None:
    body = {"metadata": {"name": "fit-trainer"}, "spec": {"ports": [{"port": 1}]}}
    user.plane.request("POST", user.path("services"), body)
    result = user.run("apply", user.ps(), code=3)
    assert "Service/fit-trainer already exists and was not created by paddlespec" in result.stderr
    assert user.names("jobs") == []
    user.plane.request("DELETE", f"{user.path('services')}/fit-trainer")
    # The last object that would be created is the one that the cluster refuses.
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"count/services": "0"}}}
    user.plane.request("POST", user.path("resourcequotas"), quota)
    user.plane.eventually(lambda: user.get("resourcequotas", "none").get("status", {}).get("used"))
    result = user.run("apply", user.ps(), code=3)
    assert "exceeds quota none" in result.stderr
    assert user.everything() == {}


def test_without_the_right_to_create_pods_nothing_more_is_asked(user: User) -> None:
    user.run("apply", user.ps(run_for="1h"))
    assert requests(user).count("create pods") == 2
    user.run("apply", user.ps(run_for="1h"))
    assert requests(user).count("create pods") == 2, "nothing is created"
    verbs = ["get", "list", "create", "patch", "update", "delete"]
    objects = ["configmaps", "services", "jobs", "leases", "persistentvolumeclaims", "statefulsets"]
    groups = ["", "apps", "batch", "coordination.k8s.io"]
    rights = [
        {"apiGroups": groups, "resources": objects, "verbs": verbs},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    ]
    user.plane.allow("runner", user.namespace, rights)
    runner = user._replace(kubeconfig=user.plane.kubeconfig_for("runner", user.namespace))
    result = runner.run("apply", user.ps("other"))
    assert "pods" not in result.stderr
