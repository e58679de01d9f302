"""`get quota`, `get resources`, `get storages` and `render --preview --feasibility`."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

import pytest
import yaml
from user import User

from paddlespec.backends.cluster.api.client import Client
from paddlespec.backends.cluster.api.connection import resolve
from paddlespec.backends.cluster.place.bounds import room
from paddlespec.capacity.line import verdict
from paddlespec.capacity.need import Group, Need
from paddlespec.capacity.room import lines_with_need
from paddlespec.quantity import quantity

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

QUOTA: dict[str, Any] = {
    "metadata": {"name": "team"},
    "spec": {
        "hard": {
            "cpu": "10",
            "requests.memory": "20Gi",
            "limits.cpu": "12",
            "requests.nvidia.com/gpu": "4",
            "pods": "50",
            "configmaps": "9",
            "services": "9",
            "count/jobs.batch": "9",
            "persistentvolumeclaims": "2",
            "requests.storage": "10Gi",
        }
    },
}
CONTAINER = {
    "name": "own",
    "type": "Container",
    "min": {"cpu": "200m"},
    "max": {"cpu": "2", "memory": "4Gi"},
    "default": {"cpu": "1", "memory": "1Gi"},
    "defaultRequest": {"cpu": "500m"},
    "maxLimitRequestRatio": {"memory": "2"},
}
PROJECT = """\
apiVersion: paddlespec.io/v1
kind: Project
project: ads
datacenter: dc1
datacenters:
  - name: dc1
    context: test
    namespace: NAMESPACE
    storages:
      home: {claim: alice-home}
      later: {claim: nobody}
      bucket: {url: "s3://ads", readOnly: true}
  - {name: far, context: far, namespace: NAMESPACE}
"""
WAIT = ("--wait", "ready", "--timeout", "60s")


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.fixture
def reader(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    """A user without rights."""
    kubeconfig = control_plane.kubeconfig_for("reader", namespace)
    return User(control_plane, namespace, tmp_path, kubeconfig)


def create(user: User, kind: str, manifest: dict[str, Any]) -> None:
    user.plane.request("POST", user.path(kind), manifest)


def bounded(user: User) -> None:
    """A quota that was counted once: the cluster itself creates a ConfigMap there."""
    # Admission may not know the quota yet when the ConfigMap is created after it; it then stays
    # uncounted for minutes.
    user.plane.eventually(lambda: user.all("configmaps"))
    create(user, "resourcequotas", QUOTA)

    def counted() -> bool:
        used = user.get("resourcequotas", "team")["status"].get("used", {})
        return bool(used.get("configmaps") == "1")

    user.plane.eventually(counted)


def rows(user: User, *arguments: str) -> dict[tuple[str, str, str], list[str]]:
    listing = json_of(user, "get", "resources", *arguments)
    return {
        (holding["kind"], holding["name"], holding["resource"]): [
            holding[key] for key in ("capacity", "allocatable", "used", "free")
        ]
        for holding in listing["resources"]
    }


def json_of(user: User, *arguments: str, code: int = 0) -> Any:
    return json.loads(user.run(*arguments, "-o", "json", code=code).stdout)


def quota_lines(data: Any) -> dict[str, Any]:
    return {line["resource"]: line for line in data["lines"] if line["kind"] == "quota"}


def test_a_quota_is_told_exactly(user: User) -> None:
    bounded(user)
    create(
        user,
        "pods",
        {
            "metadata": {"name": "p"},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "resources": {
                            "requests": {"cpu": "1500m", "memory": "1500Mi"},
                            "limits": {"cpu": "2"},
                        },
                    }
                ]
            },
        },
    )
    user.plane.eventually(
        lambda: user.get("resourcequotas", "team")["status"]["used"]["pods"] == "1"
    )
    output = json_of(user, "get", "quota")
    assert (output["namespace"], output["job"], output["fits"], output["unknown"]) == (
        *(user.namespace, None, None, []),
    )
    amounts = {
        key: [line["used"], line["hard"], line["free"]] for key, line in quota_lines(output).items()
    }
    assert amounts["cpu"] == ["1.5", "10", "8.5"]
    assert amounts["requests.memory"] == ["1500Mi", "20Gi", "18980Mi"]
    assert amounts["requests.nvidia.com/gpu"] == ["0", "4", "4"]
    table = user.run("get", "quota").stdout
    assert table.startswith("KIND   NAME  RESOURCE")
    assert "18.5Gi" in table
    assert user.run("get", "quota", "-o", "name").stdout == "quota/team\n"
    assert user.namespace in user.run("get", "quota", "-A").stdout


def test_what_a_job_is_said_to_need_is_what_the_cluster_then_counts(user: User) -> None:
    bounded(user)
    used = user.get("resourcequotas", "team")["status"]["used"]
    path = user.ps("fit", run_for="1h")
    claim = "volumes=[{name: data, mountPath: /data, claim: {size: 1Gi}}]"
    output = json_of(user, "get", "quota", "--for", path, "-u", claim)
    assert output["fits"] is True
    user.run("apply", path, "-u", claim, *WAIT)
    expected = {
        name: quantity(used[name]) + quantity(line["need"])
        for name, line in quota_lines(output).items()
    }

    def counted() -> Any:
        live = user.get("resourcequotas", "team")["status"]["used"]
        return {name: quantity(amount) for name, amount in live.items()} == expected

    user.plane.eventually(counted, what=f"{expected}")
    result = user.run("get", "quota", "--for", path)
    assert "fit has 4 pods that count as used" in result.stderr


def test_what_does_not_fit_is_short_by_how_much(user: User) -> None:
    bounded(user)
    path = user.ps("fit")
    assert json_of(user, "get", "quota", "--for", path)["fits"] is True
    output = json_of(user, "get", "quota", "--for", path, "-u", "trainers.replicas=30", code=3)
    lines = quota_lines(output)
    assert (lines["cpu"]["need"], lines["cpu"]["short"], lines["cpu"]["fits"]) == (
        "32",
        "22",
        False,
    )
    assert lines["requests.memory"]["short"] == "12Gi"
    assert (lines["pods"]["short"], lines["pods"]["fits"]) == ("0", True)
    gpu = "trainers.resources.gpu=3"
    output = json_of(user, "get", "quota", "--for", path, "-u", gpu, code=3)
    assert quota_lines(output)["requests.nvidia.com/gpu"]["short"] == "2"
    table = user.run("get", "quota", "--for", path, "-u", gpu, code=3).stdout
    assert "SHORT  FITS" in table.splitlines()[0]


@pytest.mark.parametrize(
    "words",
    [
        ("get", "quota", "-u", "trainers.replicas=2"),
        ("get", "quota", "-A", "-n", "ads"),
        ("get", "quota", "--for", "fit.yaml", "-A"),
        ("get", "quota", "--for", "fit.yaml", "-u", "target=local"),
        ("get", "resources", "--all-datacenters", "--context", "test"),
        ("get", "resources", "--all-datacenters"),
        ("render", "fit.yaml", "--feasibility"),
        ("render", "fit.yaml", "--feasibility", "--preview", "--show-origin"),
        ("render", "fit.yaml", "--feasibility", "--preview", "--target", "local"),
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_is_a_usage_error(user: User, words: tuple[str, ...]) -> None:
    user.ps("fit")
    user.run(*words, code=2)


REQUESTS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "small": {"requests": {"cpu": "100m"}, "limits": {"cpu": "1", "memory": "1Gi"}},
    "usual": {"limits": {"cpu": "1", "memory": "1Gi"}},
    "large": {"limits": {"cpu": "3", "memory": "1Gi"}},
    "loose": {"requests": {"memory": "1Gi"}, "limits": {"cpu": "1", "memory": "3Gi"}},
    "cpu": {"limits": {"cpu": "1"}},
    "gpu": {"limits": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}},
}
BOUNDS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "container": [("limitranges", {"limits": [CONTAINER]})],
    "pod": [("limitranges", {"limits": [{"type": "Pod", "max": {"cpu": "2", "memory": "2Gi"}}]})],
    "named": [("resourcequotas", {"hard": {"limits.memory": "9Gi", "requests.cpu": "9"}})],
    "defaulted": [
        ("resourcequotas", {"hard": {"limits.memory": "1Gi", "requests.cpu": "500m"}}),
        ("limitranges", {"limits": [CONTAINER]}),
    ],
    "gpus": [("resourcequotas", {"hard": {"requests.nvidia.com/gpu": "0", "pods": "1"}})],
    "best effort": [("resourcequotas", {"hard": {"pods": "0"}, "scopes": ["BestEffort"]})],
    "terminating": [("resourcequotas", {"hard": {"pods": "0"}, "scopes": ["Terminating"]})],
    "priority": [
        (
            "resourcequotas",
            {
                "hard": {"pods": "0"},
                "scopeSelector": {
                    "matchExpressions": [
                        {
                            "scopeName": "PriorityClass",
                            "operator": "In",
                            "values": ["system-node-critical"],
                        }
                    ]
                },
            },
        )
    ],
}


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_server_admits_what_is_said_to_fit_and_nothing_else(user: User, bound: str) -> None:
    """The verdict about a pod is compared with the API server's, by a dry run."""
    for number, (kind, spec) in enumerate(BOUNDS[bound]):
        create(
            user,
            kind,
            {"metadata": {"name": f"{bound.split(maxsplit=1)[0]}-{number}"}, "spec": spec},
        )
    if BOUNDS[bound][0][0] == "resourcequotas":
        user.plane.eventually(
            lambda: all(
                "hard" in (quota.get("status") or {}) for quota in user.all("resourcequotas")
            )
        )
    client = Client(resolve(str(user.kubeconfig), None, user.namespace))
    limits = room(client, user.namespace)
    extras: tuple[dict[str, Any], ...] = ({}, {"activeDeadlineSeconds": 60})
    verdicts, answers = {}, {}
    for name, resources in REQUESTS.items():
        for extra in extras:
            pod = {
                "containers": [{"name": "c", "image": "i", "resources": resources}],
                "initContainers": [{"name": "i", "image": "i", "resources": REQUESTS["usual"]}][
                    : len(resources)
                ],
                **extra,
            }
            case = f"{name} {extra}"
            verdicts[case] = verdict(lines_with_need(limits, Need((Group("r", 1, pod),), ())))
            answers[case] = eventually_admitted(user, pod, expected=verdicts[case])
    client.close()
    assert verdicts == answers
    if bound != "priority":
        assert set(answers.values()) == {True, False}


def eventually_admitted(user: User, pod: dict[str, Any], *, expected: bool | None) -> bool:
    """What the server says of a pod; its own view of quotas and limits lags for a moment."""
    deadline = time.monotonic() + 10
    while True:
        admitted = is_admitted(user, pod)
        if admitted == expected or time.monotonic() > deadline:
            return admitted
        time.sleep(0.2)


def is_admitted(user: User, pod: dict[str, Any]) -> bool:
    try:
        user.plane.request(
            "POST", f"{user.path('pods')}?dryRun=All", {"metadata": {"name": "p"}, "spec": pod}
        )
    except HTTPError as error:
        if error.code != 403:
            raise
        return False
    return True


def far_away(user: User) -> User:
    """A project with an unreachable datacenter."""
    settings = yaml.safe_load(user.kubeconfig.read_text())
    (own,) = settings["clusters"]
    settings["clusters"].append(
        {"name": "far", "cluster": {**own["cluster"], "server": "https://127.0.0.1:9"}}
    )
    (context,) = settings["contexts"]
    away = {**context["context"], "cluster": "far"}
    settings["contexts"].append({"name": "far", "context": away})
    path = user.folder / "kubeconfig"
    path.write_text(yaml.safe_dump(settings))
    (user.folder / ".git").mkdir(exist_ok=True)
    (user.folder / ".paddlespec.yaml").write_text(PROJECT.replace("NAMESPACE", user.namespace))
    return user._replace(kubeconfig=path)


def test_all_datacenters_are_asked_and_an_unreachable_one_hides_none(user: User) -> None:
    user = far_away(user)
    output = json_of(user, "get", "resources", "--all-datacenters", code=3)["resources"]
    assert {row["datacenter"] for row in output} == {"dc1", "far"}
    (lost,) = [row for row in output if row["datacenter"] == "far"]
    assert (lost["kind"], lost["state"], lost["resource"]) == ("datacenter", "unreachable", None)
    assert lost["reason"] == "cannot reach https://127.0.0.1:9: connection refused"
    table = user.run("get", "resources", "--all-datacenters", code=3).stdout
    assert table.startswith("DATACENTER  KIND")
    assert "cannot reach" in table
    assert user.run("get", "resources", "--datacenter", "dc1").stdout.startswith("KIND")


def test_a_right_that_is_missing_is_named(reader: User) -> None:
    message = reader.run("get", "quota").stderr
    assert "quota: unknown: you may not list resourcequotas in namespace" in message
    assert "limits: unknown: you may not list limitranges" in message
    message = reader.run("get", "resources").stderr
    assert "nodes: unknown: you may not list nodes" in message
    message = reader.run("get", "storages").stderr
    assert "claims: unknown: you may not list persistentvolumeclaims" in message
    assert "storage classes: unknown: you may not list storageclasses" in message
    path = reader.ps("fit")
    output = json_of(reader, "get", "quota", "--for", path)
    assert output["fits"] is None
    page = reader.run("render", path, "--preview", "--feasibility").stdout
    assert "some limits could not be read" in page
    assert "you may not list nodes" in page


def test_a_cluster_without_queues_says_so(user: User) -> None:
    done = user.run("get", "queues")
    assert done.stdout == ""
    assert done.stderr == "the cluster has neither Kueue nor Volcano, so it has no queues\n"
    output = json_of(user, "get", "queues")
    assert (output["kueue"], output["volcano"], output["queues"]) == (None, None, [])


def test_storages_of_the_namespace_and_of_the_project(user: User) -> None:
    far_away(user)
    claim = {
        "metadata": {"name": "alice-home"},
        "spec": {
            "accessModes": ["ReadWriteMany", "ReadOnlyMany"],
            "resources": {"requests": {"storage": "1500Mi"}},
        },
    }
    create(user, "persistentvolumeclaims", claim)
    output = json_of(user, "get", "storages")
    (own,) = output["claims"]
    assert (own["name"], own["size"], own["used"], own["accessModes"]) == (
        *("alice-home", "1500Mi", None, ["ReadWriteMany", "ReadOnlyMany"]),
    )
    assert own["phase"] in ("Pending", "Bound")
    assert [storage_class["name"] for storage_class in output["classes"]]
    named = {storage["name"]: storage for storage in output["storages"]}
    assert (named["home"]["claim"], named["home"]["phase"]) == ("alice-home", own["phase"])
    assert named["later"]["phase"] is None
    assert (named["bucket"]["url"], named["bucket"]["readOnly"]) == ("s3://ads", True)
    table = user.run("get", "storages").stdout
    assert "RWX,ROX" in table
    assert "STORAGE  DATACENTER  CLAIM" in table
    assert "claim/alice-home\n" in user.run("get", "storages", "-o", "name").stdout


def feasible(user: User, *arguments: str, code: int = 0) -> list[str]:
    page = user.run("render", *arguments, "--preview", "--feasibility", code=code).stdout
    assert "\n\nManifests" in page
    section = page[page.index("\n\nFeasibility") + 2 :].split("\n\n", maxsplit=1)[0]
    return [" ".join(line.split()) for line in section.splitlines()]


def test_a_preview_is_shown_even_if_nobody_answers(user: User) -> None:
    user = far_away(user)
    path = user.ps("fit")
    lines = feasible(user, path, "--datacenter", "far", code=3)
    assert lines == ["Feasibility unknown", "cannot reach https://127.0.0.1:9: connection refused"]


def test_render_asks_nobody_unless_told_to(user: User) -> None:
    user = far_away(user)
    page = user.run("render", user.ps("fit"), "--preview", "--datacenter", "far").stdout
    assert "Feasibility" not in page


def test_nothing_that_bounds_is_told_too(user: User) -> None:
    done = user.run("get", "quota")
    assert done.stderr == (f"no quota, limit range or queue bounds namespace {user.namespace}\n")


def test_a_quota_can_be_watched(user: User) -> None:
    bounded(user)
    process = user.start("get", "quota", "-w")
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith("KIND")
        live = user.get("resourcequotas", "team")
        live["spec"]["hard"]["pods"] = "77"
        # The quota controller may write its status in between.
        del live["metadata"]["resourceVersion"]
        user.plane.request("PUT", f"{user.path('resourcequotas')}/team", live)
        words = next(line.split() for line in process.stdout if "77" in line)
    finally:
        process.kill()
        process.communicate()
    assert words[:5] == ["quota", "team", "pods", "0", "77"]


def test_the_machine_itself_can_be_asked(user: User) -> None:
    table = rows(user, "--target", "local")
    assert int(table["machine", "this machine", "cpu"][0]) >= 1
    assert quantity(table["machine", "this machine", "memory"][0]) > 2**20


def test_what_nobody_may_look_at_is_not_said_to_be_absent(user: User) -> None:
    nobody = user._replace(kubeconfig=user.plane.kubeconfig_for("nobody", user.namespace))
    message = nobody.run("get", "quota").stderr
    assert "you may not list" in message
    assert "nothing bounds" not in message
    message = nobody.run("get", "storages").stderr
    assert "you may not list" in message
    assert "no claim" not in message
