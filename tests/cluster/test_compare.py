"""Compare a job with a real control plane: what would change, and what cannot be known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from interceptor import Fate, Seen, intercepted
from test_apply import VARIANTS
from user import WORKLOAD, User, conditions

from paddlespec.backends.cluster.api.connection import resolve
from paddlespec.backends.cluster.change.applyset import MEMBER_LABEL, set_id
from paddlespec.backends.cluster.change.desired import desired_object, fingerprint_of
from paddlespec.backends.cluster.change.managed_fields import own
from paddlespec.backends.cluster.engine import Engine
from paddlespec.change.diff import (
    MISSING,
    Effect,
    Operation,
    Row,
)
from paddlespec.cli.shared.build import work_of
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.manifest import identity
from paddlespec.render.template import Templates
from paddlespec.runs.values import Consent
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from control_plane import ControlPlane

    from paddlespec.runs.values import Work

create, change, replace = Operation.create, Operation.change, Operation.replace
keep, delete = Operation.keep, Operation.delete


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


def works(user: User, *arguments: str) -> Iterator[Work]:
    """Return the jobs of a command line, rendered for the namespace of *user*."""
    options: dict[str, Any] = {"updates": [f"metadata.namespace={user.namespace}"]}
    words, paths = iter(arguments), []
    for word in words:
        if word == "-u":
            options["updates"].append(next(words))
        elif word == "--overlay":
            options["overlays"] = (next(words),)
        elif word.startswith("--"):
            options[word[2:]] = next(words)
        else:
            paths.append(word)
    options.pop("context", None)
    chosen = Choices(**{**options, "updates": tuple(options["updates"])})
    templates = Templates(str(user.templates) if user.templates.exists() else None)
    files = Files()
    for path in files.specs(paths)[0]:
        for loaded in load(path, files, chosen)[0]:
            yield work_of(build(loaded, templates))


def compare(user: User, *arguments: str) -> list[Row]:
    [work] = works(user, *arguments)
    engine = Engine(lambda: resolve(str(user.kubeconfig), None, None))
    rows = engine.compare(work, Consent()).rows
    engine.close()
    return rows


def operations(rows: list[Row]) -> dict[str, Operation]:
    return {str(row.change.identity): row.change.operation for row in rows}


def fields(rows: list[Row], name: str) -> dict[str, tuple[object, object]]:
    """Return the fields of one object that differ, as dotted paths."""
    [row] = [row for row in rows if str(row.change.identity) == name]
    return {
        ".".join(map(str, field.path)): (field.before, field.after) for field in row.change.fields
    }


def problems(rows: list[Row]) -> list[str]:
    return [row.problem for row in rows if row.problem]


def finish(user: User) -> bool:
    """Finish the unschedulable pods of trainers as if they had run; report whether all did."""
    for pod in user.pods("trainers"):
        if pod["status"]["phase"] == "Pending":
            pod["status"]["phase"] = "Succeeded"
            # The scheduler may report in between that it still cannot place the pod.
            del pod["metadata"]["resourceVersion"]
            user.plane.request("PUT", f"{user.path('pods')}/{pod['metadata']['name']}/status", pod)
    trainers = [
        pod
        for pod in user.all("jobs")
        if pod["metadata"]["labels"]["paddlespec.io/role"] == "trainers"
    ]
    return all("Complete" in conditions(trainer) for trainer in trainers)


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_unchanged_example_shows_nothing(user: User, variant: str) -> None:
    what = VARIANTS[variant]
    rows = compare(user, *what)
    assert set(operations(rows).values()) == {create}
    assert not problems(rows)
    user.run("apply", *what, "-u", f"metadata.namespace={user.namespace}")
    unchanged = dict.fromkeys(operations(rows), keep)
    ended = False
    for _ in range(200):
        rows = compare(user, *what)
        assert operations(rows) == unchanged
        assert not problems(rows)
        if ended:
            return
        ended = finish(user)
    raise AssertionError("the job does not end")


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_owned_is_what_was_sent(user: User, variant: str) -> None:
    """The fields that we own according to the server show no noise either."""
    [work] = works(user, *VARIANTS[variant])
    user.run("apply", *VARIANTS[variant], "-u", f"metadata.namespace={user.namespace}")
    client = Engine(lambda: resolve(str(user.kubeconfig), None, None)).client
    for manifest in work.manifests:
        live = client.get(identity(manifest)._replace(namespace=user.namespace))
        assert live is not None
        owners = live["metadata"].get("ownerReferences") or [None]
        sent = desired_object(manifest, live, user.namespace, owners[0], fingerprint_of(live))
        del sent["metadata"]["uid"]
        assert own(live, sent) == sent
        assert own(live, sent) != live


TRAINERS, PSERVERS = "Job/fit-trainer", "Job/fit-pserver"
POD = "spec.template.spec"
CHANGES = {
    "image": (
        "image=registry.test/paddle:2",
        replace,
        {
            f"{POD}.containers.paddle.image": ("registry.test/paddle:1", "registry.test/paddle:2"),
            f"{POD}.initContainers.wait-for-pservers.image": (
                "registry.test/paddle:1",
                "registry.test/paddle:2",
            ),
        },
    ),
    "env": (
        "trainers.env.MODE=fast",
        replace,
        {f"{POD}.containers.paddle.env.MODE": (MISSING, {"name": "MODE", "value": "fast"})},
    ),
    "label": (
        "metadata.labels.team=ads",
        change,
        {"metadata.labels.team": (MISSING, "ads")},
    ),
    "timeout": (
        "policy.timeout=3h",
        change,
        {"spec.activeDeadlineSeconds": (MISSING, 10800)},
    ),
    "kept": (
        "policy.keepFinished=2h",
        change,
        {"spec.ttlSecondsAfterFinished": (3600, 7200)},
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_is_told_by_its_fields(user: User, case: str) -> None:
    update, operation, expected = CHANGES[case]
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    before = user.settled()
    rows = compare(user, spec, "-u", update)
    assert operations(rows)[TRAINERS] is operation
    shown = fields(rows, TRAINERS)
    assert ("metadata.uid" in shown) is (operation is replace)
    shown.pop("metadata.uid", None)
    assert shown == expected
    assert not problems(rows)
    assert user.everything() == before


def test_replicas_are_part_of_the_program(user: User) -> None:
    """The count could change in place, but what the replicas are told about it could not."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    rows = compare(user, spec, "-u", "trainers.replicas=3")
    assert operations(rows)[TRAINERS] is replace
    differing = fields(rows, TRAINERS)
    assert differing["spec.parallelism"] == differing["spec.completions"] == (2, 3)
    assert f"{POD}.containers.paddle.env.PADDLE_TRAINERS_NUM.value" in differing
    assert not problems(rows)


def test_a_place_to_run_of_a_running_job_takes_a_replacement(user: User) -> None:
    """The field could change while suspended, but a running job is never suspended for it."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    update = ("-u", "trainers.nodeSelector={pool: training}")
    rows = compare(user, spec, *update)
    assert set(operations(rows).values()) == {replace}
    assert not problems(rows)
    [row] = [row for row in rows if str(row.change.identity) == TRAINERS]
    effects = {field.path[-1]: field.effect for field in row.change.fields}
    assert effects == {"uid": Effect.replacement, "nodeSelector": Effect.suspended}
    refused = user.run("diff", spec, *update, code=1).stdout
    assert "apply would refuse this: Job/fit-trainer is running" in refused
    replaced = user.run("diff", spec, *update, "--replace", code=1).stdout.splitlines()[-1]
    assert refused.splitlines()[-1] == f"{replaced}; apply would refuse 1 job"


def test_what_others_changed_is_shown(user: User) -> None:
    """A field that is ours, and one that is not."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    user.plane.kubectl(
        *("patch", "job", "fit-trainer", "-n", user.namespace, "--field-manager=governor"),
        *("-p", '{"spec": {"ttlSecondsAfterFinished": 7, "backoffLimit": 0}}'),
        *("--type=merge",),
    )
    user.plane.kubectl("label", "job", "fit-trainer", "-n", user.namespace, "seen=yes")
    rows = compare(user, spec)
    assert fields(rows, TRAINERS) == {"spec.ttlSecondsAfterFinished": (7, 3600)}
    assert not problems(rows)
    [conflict] = [row.conflict for row in rows if row.conflict]
    assert "spec.ttlSecondsAfterFinished (governor)" in conflict


def test_an_apply_that_died_goes_on(user: User) -> None:
    """A suspended workload is shown as resumed, because the next apply resumes it."""
    quota = {"metadata": {"name": "one"}, "spec": {"hard": {"count/jobs.batch": "1"}}}
    user.plane.request("POST", user.path("resourcequotas"), quota)
    user.plane.eventually(lambda: user.get("resourcequotas", "one").get("status", {}).get("used"))
    spec = user.ps()
    user.run("apply", spec, code=3)
    rows = compare(user, spec)
    assert operations(rows)[TRAINERS] is change
    assert operations(rows)[PSERVERS] is create
    assert fields(rows, TRAINERS) == {"spec.suspend": (True, False)}
    [problem] = problems(rows)
    assert "Job/fit-pserver exceeds quota one" in problem
    changed = compare(user, spec, "-u", "image=registry.test/paddle:2")
    assert operations(changed)[TRAINERS] is replace


def test_stopped_pservers_are_no_difference(user: User) -> None:
    spec = (user.ps(run_for="1s"), "-u", "pservers.workload=StatefulSet")
    user.run("apply", *spec, "--wait", "complete", "--timeout", "60s")
    assert user.get("statefulsets", "fit-pserver")["spec"]["replicas"] == 0
    rows = compare(user, *spec)
    assert set(operations(rows).values()) == {keep}
    assert not problems(rows)
    rows = compare(user, *spec, "-u", "pservers.image=registry.test/paddle:2")
    assert operations(rows)["StatefulSet/fit-pserver"] is replace
    rows = compare(user, *spec, "-u", "pservers.workload=Job")
    assert operations(rows)["StatefulSet/fit-pserver"] is delete
    assert operations(rows)[PSERVERS] is create


def test_what_changes_at_the_same_moment_is_no_difference(user: User) -> None:
    """Both sides of a comparison are from the same moment."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    labels: list[str] = []

    def decide(seen: Seen) -> Fate:
        if seen.writes and "/jobs/fit-trainer?" in seen.path and not labels:
            labels.append("seen=yes")
            user.plane.kubectl("label", "job", "fit-trainer", "-n", user.namespace, *labels)
        return Fate()

    with intercepted(user.plane, user.folder, user.namespace, decide) as kubeconfig:
        rows = compare(user._replace(kubeconfig=kubeconfig), spec)
    assert labels
    assert set(operations(rows).values()) == {keep}
    assert not problems(rows)


def test_a_lost_role_is_told(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    path = f"{user.path('jobs')}/fit-pserver?propagationPolicy=Background"
    user.plane.request("DELETE", path)
    user.plane.eventually(lambda: user.names("jobs") == ["fit-trainer"])
    rows = compare(user, spec)
    assert operations(rows)[PSERVERS] is create
    [problem] = problems(rows)
    assert (
        problem
        == "Job/fit-pserver no longer exists while the trainers are running: the run is broken"
    )


def test_a_run_that_is_ending_is_created_again(user: User) -> None:
    spec = user.ps(run_for="1h", terminate_after="5s")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    user.run("kill", "fit", "--no-wait")
    assert not compare(user, spec)
    rows = compare(user, spec, "-u", "image=registry.test/paddle:2")
    assert set(operations(rows).values()) == {create}
    assert not problems(rows)


def test_what_ran_already_is_not_shown_as_new(user: User) -> None:
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "--wait", "complete", "--timeout", "60s")
    user.plane.request("DELETE", f"{user.path('jobs')}/fit-trainer?propagationPolicy=Background")
    user.plane.eventually(lambda: not user.names("jobs"))
    result = user.run("diff", spec)
    assert "nothing to do: run 1 of fit succeeded" in result.stdout
    assert "No changes." in result.stdout
    result = user.run("diff", spec, "--rerun", code=1)
    assert "Plan: 4 to create" in result.stdout


def test_a_rerun_replaces_what_is_the_same(user: User) -> None:
    spec = user.ps(run_for="1s")
    user.run("apply", spec, "--wait", "complete", "--timeout", "60s")
    user.run("diff", spec)
    result = user.run("diff", spec, "--rerun", code=1)
    assert result.stdout.count("replace, with its run; its content is unchanged") == 4
    assert "Plan: 0 to create, 0 to change, 4 to replace, 0 to delete" in result.stdout


def test_a_refusal_is_announced(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    other = ("-u", "image=registry.test/paddle:2")
    result = user.run("diff", spec, *other, code=1)
    assert "apply would refuse this: Job/fit-trainer is running" in result.stdout
    assert "--replace" in result.stdout
    result = user.run("diff", spec, *other, "--replace", code=1)
    assert "refuses" not in result.stdout


def test_what_stays_as_it_is_is_no_difference(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    path = user.templates / "kubernetes" / WORKLOAD.name
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("ServiceLinks: false", "ServiceLinks: true"), encoding="utf-8")
    result = user.run("diff", spec)
    assert (
        "Job/fit-trainer, Job/fit-pserver kept: this version renders them differently"
        in result.stdout
    )


def test_what_is_rendered_no_more_is_deleted(user: User) -> None:
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    theirs = {"metadata": {"name": "theirs", "labels": {"paddlespec.io/job": "fit"}}}
    user.plane.request("POST", user.path("configmaps"), theirs)
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    user.plane.request("POST", user.path("persistentvolumeclaims"), {**theirs, "spec": claim})
    rows = compare(user, spec, "-u", "mode=parallel", "-u", "pservers-")
    gone = [str(row.change.identity) for row in rows if row.change.operation is delete]
    assert gone == [PSERVERS, "Service/fit-pserver", "Service/fit-trainer"]
    assert all("managedFields" not in (row.change.before or {})["metadata"] for row in rows[1:])


def test_code_goes_with_the_run_that_uses_it(user: User) -> None:
    (user.folder / "train.py").write_text("print(1)\n", encoding="utf-8")
    spec = (user.ps(run_for="1h"), "-u", "package={path: .}")
    user.run("apply", *spec, "--wait", "ready", "--timeout", "60s")
    [old] = [name for name in user.names("configmaps") if name.startswith("fit-code-")]
    (user.folder / "train.py").write_text("print(2)\n", encoding="utf-8")
    rows = compare(user, *spec)
    listed = operations(rows)
    assert listed.pop(f"ConfigMap/{old}") is delete
    [new] = [name for name in listed if name.startswith("ConfigMap/fit-code-")]
    assert listed[new] is create
    assert listed[TRAINERS] is replace
    assert not problems(rows)


def test_unused_code_goes(user: User) -> None:
    user.plane.kubectl(
        *("apply", "--server-side", "--field-manager=paddlespec", "-n", user.namespace, "-f", "-"),
        input=json.dumps(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": "fit-code-0",
                    "labels": {
                        "paddlespec.io/job": "fit",
                        MEMBER_LABEL: set_id(user.namespace, "fit"),
                    },
                },
            }
        ),
    )
    rows = compare(user, user.ps())
    assert operations(rows)["ConfigMap/fit-code-0"] is delete


def test_a_foreign_object_stays_as_it_is(user: User) -> None:
    service = {
        "metadata": {"name": "fit-pserver", "annotations": {"note": "canary-theirs"}},
        "spec": {"ports": [{"port": 80}]},
    }
    user.plane.request("POST", user.path("services"), service)
    rows = compare(user, user.ps())
    listed = operations(rows)
    assert listed.pop("Service/fit-pserver") is keep
    assert set(listed.values()) == {create}
    assert problems(rows) == [
        "Service/fit-pserver already exists and was not created by paddlespec; it is not changed"
    ]
    assert "canary-theirs" not in repr(rows)


def test_a_missing_namespace_is_told_by_every_row(user: User) -> None:
    nowhere = user._replace(namespace="nowhere-at-all")
    rows = compare(nowhere, user.ps())
    assert set(operations(rows).values()) == {create}
    assert len(problems(rows)) == len(rows)
    assert all("namespace nowhere-at-all does not exist" in problem for problem in problems(rows))


def test_a_kind_that_is_not_installed(user: User) -> None:
    rows = compare(user, user.ps(), "-u", "scheduling={scheduler: volcano, gang: true}")
    assert set(operations(rows).values()) == {create}
    [row] = [row for row in rows if row.problem]
    assert row.change.identity.kind == "PodGroup"
    assert row.problem == "the cluster does not serve kind PodGroup"


def test_a_user_without_rights(user: User) -> None:
    nobody = user._replace(kubeconfig=user.plane.kubeconfig_for("nobody", user.namespace))
    rows = compare(nobody, user.ps())
    assert len(problems(rows)) == len(rows)
    assert any(
        f"you may not get jobs in namespace {user.namespace}" in problem
        for problem in problems(rows)
    )


def test_a_user_who_may_only_read(user: User) -> None:
    everything = {"apiGroups": ["", "batch", "apps"], "resources": ["*"]}
    user.plane.allow("reader", user.namespace, [{**everything, "verbs": ["get", "list"]}])
    reader = user._replace(kubeconfig=user.plane.kubeconfig_for("reader", user.namespace))
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    user.plane.eventually(
        lambda: set(operations(compare(reader, spec)).values()) == {keep}, within=5
    )
    rows = compare(reader, spec, "-u", "policy.timeout=3h", "-u", "env.NEW=1")
    assert operations(rows)[TRAINERS] is replace
    assert operations(rows)["Service/fit-trainer"] is keep
    assert "spec.activeDeadlineSeconds" in fields(rows, TRAINERS)
    assert len(problems(rows)) == len(rows)
    for problem in problems(rows):
        assert "you may not patch" in problem
        assert "compared by reading only" in problem


def test_a_rule_of_the_cluster(user: User) -> None:
    """A policy refuses the dry run; what can be read is compared."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    group = "/apis/admissionregistration.k8s.io/v1"
    name = f"no-{user.namespace}"
    policy = {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": user.namespace}
                },
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["services"],
                    }
                ],
            },
            "validations": [{"expression": "false", "message": "canary: not on fridays"}],
        },
    }
    binding = {
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    user.plane.request("POST", f"{group}/validatingadmissionpolicies", policy)
    user.plane.request("POST", f"{group}/validatingadmissionpolicybindings", binding)
    try:
        user.plane.eventually(lambda: problems(compare(user, spec)))
        rows = compare(user, spec)
        assert set(operations(rows).values()) == {keep}
        assert len(problems(rows)) == 2
        for problem in problems(rows):
            assert problem.startswith("Service/fit-")
            assert "compared by reading only" in problem
            assert "canary" not in problem
    finally:
        user.plane.request("DELETE", f"{group}/validatingadmissionpolicybindings/{name}")
        user.plane.request("DELETE", f"{group}/validatingadmissionpolicies/{name}")


def test_the_command_tells_by_its_exit_code(user: User) -> None:
    """No difference, differences, and failed comparisons, which never hide the rest."""
    a, b = user.ps("a", run_for="1h"), user.ps("b", run_for="1h")
    assert "Job/a-trainer" in user.run("diff", a, code=1).stdout
    user.run("apply", a)
    user.run("diff", a)
    service = {"metadata": {"name": "b-trainer"}, "spec": {"ports": [{"port": 1}]}}
    user.plane.request("POST", user.path("services"), service)
    result = user.run("diff", a, b, "-u", "policy.timeout=3h", code=3)
    assert "Job/a-trainer" in result.stdout
    assert (
        "Service/b-trainer already exists and was not created by paddlespec"
        in result.stdout + result.stderr
    )
    bad = user.write("apiVersion: paddlespec.io/v1\nkind: PaddleJob\n", "bad.yaml")
    user.run("diff", bad, code=2)
    user.run("diff", a, "-o", "xml", code=2)
    gone = user.run("diff", a, "--kubeconfig", "nowhere", code=3)
    assert "kubeconfig nowhere does not exist" in gone.stderr


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github"])
def test_no_form_of_the_report_tells_a_secret(user: User, form: str) -> None:
    """`User.run` searches all output."""
    secret = "{env: {PASSWORD: {value: canary-1, sensitive: true}, TOKEN: canary-2}}"
    spec = user.ps(run_for="1h")
    user.run("diff", spec, "-u", f"trainers={secret}", "-o", form, code=1)
    user.run("apply", spec, "-u", f"trainers={secret}")
    user.run("diff", spec, "-u", f"trainers={secret}", "-o", form)
    other = secret.replace("canary-", "canary-other-")
    result = user.run("diff", spec, "-u", f"trainers={other}", "-o", form, code=1)
    assert "fit-trainer" in result.stdout
    user.run("diff", spec, "-o", form, code=1)


def test_nothing_is_written(user: User) -> None:
    """Every request that could change something is marked as a dry run."""
    spec = user.ps(run_for="1h")
    user.run("apply", spec, "--wait", "ready", "--timeout", "60s")
    before = user.settled()
    written = user.writes()
    for update in ("policy.timeout=3h", "image=registry.test/paddle:2", "pservers.replicas=1"):
        compare(user, spec, "-u", update)
    compare(user, user.ps("other"))

    def asked() -> list[dict[str, Any]]:
        return [
            event
            for event in user.plane.audit(user="admin", namespace=user.namespace)
            if event["verb"] not in ("get", "list", "watch") and "dryRun=All" in event["requestURI"]
        ]

    # Four objects are compared three times, and four do not exist.
    user.plane.eventually(lambda: len(asked()) >= 16)
    assert user.writes() == written
    assert user.everything() == before
