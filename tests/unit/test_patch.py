"""Patches: what they change, and what they cannot change."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from targets import HEAD

from paddlespec.pipeline import Choices, load, patch_faults
from paddlespec.render.patch import apply_patches, is_built_in
from paddlespec.render.patch.fields import field_faults
from paddlespec.render.patch.guard import refusals
from paddlespec.render.patch.pointer import json_patch
from paddlespec.render.patch.strategic import json_merge, strategic_merge
from paddlespec.render.patch.value import PatchFailed
from paddlespec.render.template import Templates
from paddlespec.spec.files import Files
from paddlespec.spec.frozen import job_of
from paddlespec.spec.gate import EFFECTIVE, check
from paddlespec.spec.source import read

if TYPE_CHECKING:
    from pathlib import Path

    from paddlespec.diagnostic import Diagnostic

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: ps
  image: paddle
  command: python train.py
  trainers: {replicas: 2}
  pservers: {replicas: 1}
  patches:
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: fit-%(role)s
  labels: {app.kubernetes.io/name: fit, paddlespec.io/role: %(role)s}
spec:
  backoffLimit: 0
  template:
    metadata:
      labels: {app.kubernetes.io/name: fit, paddlespec.io/role: %(role)s}
    spec:
      subdomain: fit-%(role)s
      containers:
        - name: main
          image: paddle
          env: [{name: A, value: "1"}, {name: B, value: "$(A)"}]
          ports: [{name: one, containerPort: 80}, {containerPort: 81}]
          volumeMounts: [{name: data, mountPath: /data}]
      initContainers: [{name: code, image: busybox}]
      volumes: [{name: data, emptyDir: {}}]
      tolerations: [{key: gpu, operator: Exists}]
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: fit-pservers, labels: {paddlespec.io/role: pservers}}
spec:
  clusterIP: None
  selector: {paddlespec.io/role: pservers}
  ports: [{name: dense, port: 8001}, {name: sparse, port: 8002}]
"""
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: fit}
spec:
  network: {subdomain: fit}
  replicatedJobs:
    - {name: trainers, replicas: 1, template: {spec: {parallelism: 2}}}
    - {name: pservers, replicas: 1, template: {spec: {parallelism: 1}}}
"""


def rendered() -> list[dict[str, Any]]:
    texts = [SERVICE, JOB % {"role": "pservers"}, JOB % {"role": "trainers"}, JOBSET]
    return [yaml.safe_load(text) for text in texts]


def patch(text: str, target: str = "kubernetes") -> tuple[list[dict[str, Any]], list[Diagnostic]]:
    """Apply *text*, one patch per line from line 11 on, to the rendered objects."""
    lines = [f"    {line}\n" for line in text.strip("\n").splitlines()]
    reading = read(SPEC + "".join(lines), "job.yaml")
    assert reading.diagnostics == []
    document = reading.documents[0]
    assert check(document, EFFECTIVE).diagnostics == []
    before = rendered()
    kept = copy.deepcopy(before)
    after, faults = apply_patches(before, job_of(document.data), document, target)
    assert before == kept
    return after, faults


def reported(text: str) -> list[str]:
    """Format diagnostics as line, code, the text they point at, and message."""
    lines = [*SPEC.splitlines(), *(f"    {line}" for line in text.strip("\n").splitlines())]
    return [
        f"{fault.span.line} {fault.code} at "
        f"{lines[fault.span.line - 1][fault.span.column - 1 : fault.span.end_column - 1]}: {fault.message}"
        for fault in patch(text)[1]
    ]


def pod(manifest: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return spec


class TestWhichObjects:
    def test_kind_and_role_select_one_object(self) -> None:
        after, faults = patch(
            "- {target: {kind: Job, role: trainers}, patch: {spec: {backoffLimit: 3}}}"
        )
        assert faults == []
        assert [manifest["spec"].get("backoffLimit") for manifest in after] == [None, 0, 3, None]

    def test_role_alone_selects_all_objects_of_the_role(self) -> None:
        after, faults = patch(
            "- {target: {role: pservers}, patch: {metadata: {annotations: {team: ads}}}}"
        )
        assert faults == []
        marked = [manifest["metadata"].get("annotations") for manifest in after]
        assert marked == [{"team": "ads"}, {"team": "ads"}, None, None]

    def test_an_empty_target_selects_everything(self) -> None:
        after, faults = patch("- {target: {}, patch: {metadata: {labels: {team: ads}}}}")
        assert faults == []
        assert [manifest["metadata"]["labels"]["team"] for manifest in after] == ["ads"] * 4

    def test_a_patch_for_another_target_is_skipped(self) -> None:
        text = "- {when: {target: jobset}, target: {kind: Nope}, patch: {spec: {a: 1}}}"
        assert patch(text) == (rendered(), [])
        assert [fault.code for fault in patch(text, "jobset")[1]] == ["patch-no-match"]

    def test_no_match_is_reported_at_the_field_without_matches(self) -> None:
        text = "- {target: {kind: Job, name: fit-trainer}, patch: {spec: {a: 1}}}"
        assert reported(text) == [
            (
                '11 patch-no-match at fit-trainer: the patch matches no object with kind "Job", '
                'name "fit-trainer"'
            )
        ]
        assert patch(text)[1][0].hint == (
            "select one of Service fit-pservers (pservers), Job fit-pservers (pservers), "
            "Job fit-trainers (trainers), JobSet fit"
        )

    def test_no_match_of_a_combination_is_reported_at_the_target(self) -> None:
        assert reported("- {target: {kind: Service, role: trainers}, patch: {spec: {a: 1}}}") == [
            (
                '11 patch-no-match at target: the patch matches no object with kind "Service", '
                'role "trainers"'
            )
        ]

    def test_patches_are_applied_in_order_and_all_errors_are_reported(self) -> None:
        after, faults = patch("""
- {target: {kind: Job}, patch: {spec: {backoffLimit: 1}}}
- {target: {kind: Job}, patch: {metadata: {name: other}, spec: {backoffLimit: 9}}}
- {target: {kind: Nope}, patch: {spec: {backoffLimit: 9}}}
- {target: {kind: Job}, patch: {spec: {backoffLimt: 9}}}
- {target: {kind: JobSet}, patch: [{op: test, path: /spec/network/subdomain, value: b}]}
- {target: {kind: Job}, patch: [{op: copy, from: /spec/backoffLimit, path: /spec/maxFailedIndexes}]}
""")
        assert [(diagnostic.code, diagnostic.span.line) for diagnostic in faults] == [
            ("patch-refused", 12),
            ("patch-refused", 12),
            ("patch-no-match", 13),
            ("patch-field", 14),
            ("patch-failed", 15),
        ]
        assert (after[2]["spec"]["backoffLimit"], after[2]["spec"]["maxFailedIndexes"]) == (1, 1)


def merged(before: str, change: str) -> Any:
    return strategic_merge(yaml.safe_load(before), yaml.safe_load(change))


class TestStrategicMerge:
    def test_an_item_is_merged_by_its_key_and_keeps_its_position(self) -> None:
        before = (
            "spec: {containers: [{name: a, env: [{name: X, value: 1}, {name: Y, value: $(X)}]}]}"
        )
        change = (
            "spec: {containers: [{name: a, env: [{name: Z, value: $(Y)}, {name: X, value: 2}]}]}"
        )
        assert merged(before, change) == yaml.safe_load(
            "spec: {containers: [{name: a, env: [{name: X, value: 2}, {name: Y, value: $(X)},"
            " {name: Z, value: $(Y)}]}]}"
        )

    def test_new_items_are_appended_without_nulls(self) -> None:
        change = "spec: {containers: [{name: b, image: x, command: null}]}"
        assert merged("spec: {containers: [{name: a}]}", change) == {
            "spec": {"containers": [{"name": "a"}, {"name": "b", "image": "x"}]}
        }

    @pytest.mark.parametrize(
        ("field", "key"),
        [
            ("env", "name"),
            ("volumeMounts", "mountPath"),
            ("volumeDevices", "devicePath"),
            ("ports", "containerPort"),
        ],
    )
    def test_lists_of_a_container_have_merge_keys(self, field: str, key: str) -> None:
        def spec(*items: dict[str, Any]) -> Any:
            return {"spec": {"containers": [{"name": "a", field: list(items)}]}}

        after = strategic_merge(spec({key: 1, "a": 1}), spec({key: 2}, {key: 1, "b": 2}))
        assert after == spec({key: 1, "a": 1, "b": 2}, {key: 2})

    @pytest.mark.parametrize(
        ("field", "key"),
        [
            ("secrets", "name"),
            ("conditions", "type"),
            ("ownerReferences", "uid"),
            ("hostAliases", "ip"),
            ("topologySpreadConstraints", "topologyKey"),
        ],
    )
    def test_other_lists_have_merge_keys(self, field: str, key: str) -> None:
        after = strategic_merge({field: [{key: "x", "a": 1}]}, {field: [{key: "x", "b": 2}]})
        assert after == {field: [{key: "x", "a": 1, "b": 2}]}

    def test_the_first_of_two_items_with_the_same_key_is_merged(self) -> None:
        before = "spec: {ports: [{port: 1, protocol: TCP}, {port: 1, protocol: UDP}]}"
        after = merged(before, "spec: {ports: [{port: 1, name: x}]}")
        assert [port.get("name") for port in after["spec"]["ports"]] == ["x", None]

    def test_true_is_not_1(self) -> None:
        after = merged("spec: {ports: [{port: 1}]}", "spec: {ports: [{port: true}]}")
        assert len(after["spec"]["ports"]) == 2

    def test_ports_of_a_policy_are_atomic(self) -> None:
        before = "spec: {ingress: [{ports: [{port: 1}]}]}"
        after = "spec: {ingress: [{ports: [{port: 2}]}]}"
        assert merged(before, after) == yaml.safe_load(after)

    @pytest.mark.parametrize("field", ["tolerations", "args", "envFrom", "rules"])
    def test_lists_without_a_key_are_replaced(self, field: str) -> None:
        assert strategic_merge({field: [1, 2]}, {field: [3]}) == {field: [3]}

    def test_null_removes_a_value(self) -> None:
        assert merged("{a: {b: 1, c: 2}}", "{a: {b: null, d: null}}") == {"a": {"c": 2}}

    def test_delete_replace_and_merge_of_mappings(self) -> None:
        before = "{a: {x: 1}, b: {x: 1}, c: {x: 1}}"
        change = "{a: {$patch: delete}, b: {$patch: replace, y: 2}, c: {$patch: merge, y: 2}}"
        assert merged(before, change) == {"a": {}, "b": {"y": 2}, "c": {"x": 1, "y": 2}}

    def test_deleting_a_missing_value_adds_nothing(self) -> None:
        assert merged("{a: 1}", "{b: {$patch: delete}}") == {"a": 1}

    def test_delete_and_replace_of_items(self) -> None:
        before = "{env: [{name: a, value: 1}, {name: b, value: 2, x: 1}, {name: c}]}"
        change = "{env: [{name: a, $patch: delete}, {name: b, $patch: replace, value: 3}]}"
        assert merged(before, change) == {"env": [{"name": "b", "value": 3}, {"name": "c"}]}

    def test_replace_of_a_whole_list(self) -> None:
        change = "{env: [{$patch: replace}, {name: z}]}"
        assert merged("{env: [{name: a}, {name: z, x: 1}]}", change) == {"env": [{"name": "z"}]}

    def test_finalizers_are_a_set(self) -> None:
        change = "{finalizers: [c, a], $deleteFromPrimitiveList/finalizers: [b]}"
        assert merged("{finalizers: [a, b]}", change) == {"finalizers": ["a", "c"]}

    def test_values_are_deleted_from_lists_of_scalars(self) -> None:
        assert merged("{args: [a, b, a]}", "{$deleteFromPrimitiveList/args: [a]}") == {
            "args": ["b"]
        }

    def test_set_element_order_moves_only_what_it_names(self) -> None:
        change = "{env: [{name: d}], $setElementOrder/env: [{name: d}, {name: a}]}"
        after = merged("{env: [{name: a}, {name: b}]}", change)
        assert [variable["name"] for variable in after["env"]] == ["d", "b", "a"]

    def test_retain_keys_clears_the_rest(self) -> None:
        before = "{volumes: [{name: v, emptyDir: {}}]}"
        change = "{volumes: [{name: v, hostPath: {path: /x}, $retainKeys: [name, hostPath]}]}"
        assert merged(before, change) == {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}

    @pytest.mark.parametrize(
        ("before", "change", "message"),
        [
            ("{a: {b: 1}}", "{a: [1]}", "a is a mapping in the object, but a list in the patch"),
            ("{a: [1]}", "{a: x}", "a is a list in the object, but a string in the patch"),
            ("{a: x}", "{a: {b: 1}}", "a is a string in the object, but a mapping in the patch"),
            ("{}", "{env: [x]}", "env[0] must be a mapping, not a string"),
            ("{}", "{env: [{value: 1}]}", "env[0] has no name"),
            ("{}", "{env: [{name: a}, {name: a}]}", "env has two items with name a"),
            ("{}", "{a: {$patch: remove}}", "$patch must be one of delete, merge, replace"),
            ("{}", "{$pach: delete}", "unknown directive $pach"),
            (
                "{}",
                "{tolerations: [{$patch: delete}]}",
                "tolerations has no merge key and is replaced as a whole",
            ),
            ("{}", "{$retainKeys: a}", "$retainKeys requires a list of strings"),
            ("{}", "{$retainKeys: [], a: 1}", "$retainKeys does not list a, which the patch sets"),
            ("{}", "{$setElementOrder/a: 1}", "$setElementOrder/a requires a list"),
            ("{}", "{finalizers: [{}]}", "finalizers must contain only scalars"),
            (
                "{a: [{}]}",
                "{$deleteFromPrimitiveList/a: [x]}",
                "$deleteFromPrimitiveList/a: a must be a list of scalars",
            ),
        ],
    )
    def test_a_mismatched_patch_fails(self, before: str, change: str, message: str) -> None:
        with pytest.raises(PatchFailed) as failure:
            merged(before, change)
        assert failure.value.message == message

    def test_a_failure_is_reported_at_its_position(self) -> None:
        assert reported("""
- target: {kind: Job, role: trainers}
  patch:
    spec:
      template:
        spec:
          containers:
            - name: main
              ports: 80
""") == [
            (
                "18 patch-failed at 80: Job fit-trainers: spec.template.spec.containers[0].ports is a list"
                " in the object, but a number in the patch"
            )
        ]


@pytest.mark.parametrize(
    ("api_version", "built_in"),
    [
        ("v1", True),
        ("batch/v1", True),
        ("policy/v1", True),
        ("networking.k8s.io/v1", True),
        ("scheduling.k8s.io/v1alpha1", True),
        ("jobset.x-k8s.io/v1alpha2", False),
        ("gateway.networking.k8s.io/v1", False),
        ("batch.volcano.sh/v1alpha1", False),
        ("kubeflow.org/v1", False),
    ],
)
def test_built_in_kinds_are_distinguished_from_custom_resources(
    api_version: str, built_in: bool
) -> None:
    assert is_built_in(api_version) is built_in


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {a: b}, finalizers: [example.com/a, example.com/b]}
spec:
  containers:
    - name: main
      image: x
      args: [a, b]
      env: [{name: A, value: "1"}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
      envFrom: [{configMapRef: {name: c}}]
      ports: [{containerPort: 80, name: one}, {containerPort: 81, protocol: UDP}]
      volumeMounts: [{name: v, mountPath: /v}, {name: v, mountPath: /w, subPath: s}]
      volumeDevices: [{name: d, devicePath: /dev/d}]
      resources: {limits: {cpu: "1"}, claims: [{name: r}]}
  initContainers: [{name: code, image: y}]
  ephemeralContainers: [{name: debug, image: z}]
  volumes: [{name: v, emptyDir: {}}, {name: p, projected: {sources: [{secret: {name: s}}]}}]
  imagePullSecrets: [{name: a}]
  hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]
  topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]
  resourceClaims: [{name: r, resourceClaimName: c}]
  schedulingGates: [{name: g}]
  tolerations: [{key: a, operator: Exists}]
  securityContext: {runAsUser: 1, fsGroup: 2}
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h}]}}
"""
AGREED = {
    "scalar": "spec: {priorityClassName: high}",
    "null": "spec: {securityContext: null, nothing: null}",
    "nested-null": "spec: {securityContext: {fsGroup: null, runAsGroup: null}}",
    "labels": "metadata: {labels: {a: null, c: d}}",
    "finalizers": "metadata: {finalizers: [example.com/c, example.com/a]}",
    "primitive-delete": "metadata: {$deleteFromPrimitiveList/finalizers: [example.com/a]}",
    "args": "spec: {containers: [{name: main, args: [c]}]}",
    "args-delete": "spec: {containers: [{name: main, $deleteFromPrimitiveList/args: [a]}]}",
    "env": "spec: {containers: [{name: main, env: [{name: C, value: x}, {name: A, value: y}]}]}",
    "env-source": "spec: {containers: [{name: main, env: [{name: B, value: y, valueFrom: null}]}]}",
    "env-delete": "spec: {containers: [{name: main, env: [{name: A, $patch: delete}]}]}",
    "env-replace": "spec: {containers: [{name: main, env: [{$patch: replace}, {name: A, value: z}]}]}",
    "env-from": "spec: {containers: [{name: main, envFrom: [{secretRef: {name: s}}]}]}",
    "ports": "spec: {containers: [{name: main, ports: [{containerPort: 81, hostPort: 1},"
    " {containerPort: 82}]}]}",
    "mounts": "spec: {containers: [{name: main, volumeMounts: [{mountPath: /w, readOnly: true},"
    " {mountPath: /x, name: v}]}]}",
    "devices": "spec: {containers: [{name: main, volumeDevices: [{devicePath: /dev/d, name: e}]}]}",
    "claims": "spec: {containers: [{name: main, resources: {claims: [{name: q}]}}]}",
    "init": "spec: {initContainers: [{name: code, image: new}, {name: more, image: y}]}",
    "ephemeral": "spec: {ephemeralContainers: [{name: debug, image: new}]}",
    "volumes": "spec: {volumes: [{name: v, emptyDir: {medium: Memory}}, {name: w, emptyDir: {}}]}",
    "sources": "spec: {volumes: [{name: p, projected: {sources: [{configMap: {name: c}}]}}]}",
    "retain": "spec: {volumes: [{name: v, hostPath: {path: /x}, $retainKeys: [name, hostPath]}]}",
    "secrets": "spec: {imagePullSecrets: [{name: b}, {name: a}]}",
    "aliases": "spec: {hostAliases: [{ip: 10.0.0.1, hostnames: [b]}, {ip: 10.0.0.2}]}",
    "spread": "spec: {topologySpreadConstraints: [{topologyKey: zone, maxSkew: 2}]}",
    "resource-claims": "spec: {resourceClaims: [{name: r, resourceClaimName: d}, {name: s}]}",
    "gates": "spec: {schedulingGates: [{name: h}]}",
    "tolerations": "spec: {tolerations: [{key: b, operator: Exists}]}",
    "affinity": "spec: {affinity: {podAntiAffinity:"
    " {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z}]}}}",
    "map-delete": "spec: {securityContext: {$patch: delete}}",
    "map-replace": "spec: {securityContext: {$patch: replace, runAsUser: 7}}",
}


@lru_cache
def kubectl() -> str | None:
    path = shutil.which("kubectl")
    if path is None:
        return None
    version = subprocess.run([path, "version", "--client"], capture_output=True, check=False)
    return path if version.returncode == 0 else None


def by_kubectl(manifest: dict[str, Any], change: dict[str, Any]) -> Any:
    path = kubectl()
    if path is None:
        pytest.skip("there is no kubectl")
    command = [path, "patch", "--local", "--type", "strategic", "-f", "-", "-o", "json", "-p"]
    done = subprocess.run(
        [*command, json.dumps(change)],
        input=json.dumps(manifest),
        capture_output=True,
        check=True,
        text=True,
    )
    return json.loads(done.stdout)


def unordered(value: Any) -> Any:
    """Sort the lists in *value*, because kubectl inserts new items first."""
    if isinstance(value, dict):
        return {key: unordered(member) for key, member in value.items()}
    if isinstance(value, list):
        return sorted(map(unordered, value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


class TestAgainstKubectl:
    @pytest.mark.parametrize("change", AGREED.values(), ids=AGREED.keys())
    def test_a_pod_is_patched_like_in_kubectl(self, change: str) -> None:
        manifest, patch_data = yaml.safe_load(POD), yaml.safe_load(change)
        after = strategic_merge(manifest, patch_data)
        assert after != manifest
        assert unordered(after) == unordered(by_kubectl(manifest, patch_data))

    def test_ports_of_a_service_merge_by_port(self) -> None:
        manifest = yaml.safe_load(SERVICE)
        patch_data = yaml.safe_load(
            "spec: {ports: [{port: 8002, targetPort: 1}, {port: 9, name: x}]}"
        )
        after = strategic_merge(manifest, patch_data)
        assert len(after["spec"]["ports"]) == 3
        assert unordered(after) == unordered(by_kubectl(manifest, patch_data))

    def test_rules_of_a_failure_policy_are_atomic(self) -> None:
        manifest = yaml.safe_load(JOB % {"role": "trainers"})
        manifest["spec"]["podFailurePolicy"] = {"rules": [{"action": "Ignore"}]}
        patch_data = {"spec": {"podFailurePolicy": {"rules": [{"action": "FailJob"}]}}}
        after = strategic_merge(manifest, patch_data)
        assert after["spec"]["podFailurePolicy"] == patch_data["spec"]["podFailurePolicy"]
        assert unordered(after) == unordered(by_kubectl(manifest, patch_data))


class TestJsonMerge:
    @pytest.mark.parametrize(
        ("before", "change", "after"),
        [  # RFC 7386, appendix A
            ('{"a":"b"}', '{"a":"c"}', '{"a":"c"}'),
            ('{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'),
            ('{"a":"b"}', '{"a":null}', "{}"),
            ('{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'),
            ('{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'),
            ('{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'),
            ('{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'),
            ('{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'),
            ('["a","b"]', '["c","d"]', '["c","d"]'),
            ('{"a":"b"}', '["c"]', '["c"]'),
            ('{"a":"foo"}', "null", "null"),
            ('{"a":"foo"}', '"bar"', '"bar"'),
            ('{"e":null}', '{"a":1}', '{"e":null,"a":1}'),
            ("[1,2]", '{"a":"b","c":null}', '{"a":"b"}'),
            ("{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'),
        ],
    )
    def test_the_examples_of_the_standard(self, before: str, change: str, after: str) -> None:
        assert json_merge(json.loads(before), json.loads(change)) == json.loads(after)

    def test_a_custom_resource_is_merged_and_its_lists_are_replaced(self) -> None:
        jobs: list[Any] = [
            {"name": name, "replicas": 1, "template": {}} for name in ("trainers", "pservers")
        ]
        change = {"successPolicy": {"operator": "All"}, "replicatedJobs": jobs}
        after, faults = patch(
            f"- {{target: {{kind: JobSet}}, patch: {json.dumps({'spec': change})}}}"
        )
        assert faults == []
        assert after[3]["spec"] == {"network": {"subdomain": "fit"}, **change}

    def test_directives_are_rejected_for_custom_resources(self) -> None:
        assert reported(
            "- {target: {kind: JobSet}, patch: {spec: {replicatedJobs: [{$patch: delete}]}}}"
        ) == [
            (
                "11 patch-failed at delete: JobSet fit: $patch is not supported for"
                " jobset.x-k8s.io/v1alpha2"
            )
        ]


FIELDS = {
    "{metadata: {labels: {a: 1}}}": (
        "1: metadata.labels.a must be a string, not a number",
        "quote it",
    ),
    "{spec: {tasks: []}}": (
        "tasks: spec.tasks is not a field of a batch/v1 Job",
        "remove it: Kubernetes 1.36 has no such field here",
    ),
    "{spec: {template: {spec: {hostNetwrok: true}}}}": (
        "hostNetwrok: spec.template.spec.hostNetwrok is not a field of a batch/v1 Job",
        'did you mean "hostNetwork"?',
    ),
    "{spec: {template: {spec: {containers: [{name: new, image: x}, "
    "{name: main, securityContext: {priveleged: true}}]}}}}": (
        (
            "priveleged: spec.template.spec.containers[0].securityContext.priveleged"
            " is not a field of a batch/v1 Job"
        ),
        'did you mean "privileged"?',
    ),
    "{spec: {template: {spec: {containers: [{name: main, resources: {limits: {memory: 4GB}}}]}}}}": (
        "4GB: spec.template.spec.containers[0].resources.limits.memory is not a quantity",
        "write it as 500m, 2 or 4Gi, for example",
    ),
    "{spec: {template: {spec: {priority: high}}}}": (
        "high: spec.template.spec.priority must be an integer, not a string",
        None,
    ),
    "{spec: {template: {spec: {tolerations: [{$patch: replace}, {effect: NoSchedul}]}}}}": (
        (
            "NoSchedul: spec.template.spec.tolerations[0].effect must be one of"
            " NoExecute, NoSchedule, PreferNoSchedule"
        ),
        'did you mean "NoSchedule"?',
    ),
    "{spec: {template: {spec: {containers: [{name: main, env: [{value: b, name: C}, "
    "{name: A, valueFrom: {secretKeyRef: {name: s}}}]}]}}}}": (
        "secretKeyRef: spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.key is required",
        None,
    ),
    "[{op: add, path: /spec/template/spec/hostIpc, value: true}]": (
        "/spec/template/spec/hostIpc: spec.template.spec.hostIpc is not a field of a batch/v1 Job",
        'did you mean "hostIPC"?',
    ),
    "[{op: add, path: /spec/template/spec/containers/-, value: {name: b, imgae: c}}]": (
        "imgae: spec.template.spec.containers[1].imgae is not a field of a batch/v1 Job",
        'did you mean "image"?',
    ),
    "[{op: replace, path: /spec/template/spec/containers/0/image, value: 1}]": (
        "1: spec.template.spec.containers[0].image must be a string, not a number",
        "quote it",
    ),
}


class TestFields:
    """Fields are those of the Kubernetes API, which `make api-schema` reads from a server."""

    @pytest.mark.parametrize(("change", "expected"), FIELDS.items(), ids=range(len(FIELDS)))
    def test_a_fault_is_reported_where_the_patch_writes_it(
        self, change: str, expected: tuple[str, str | None]
    ) -> None:
        text = f"- {{target: {{kind: Job}}, patch: {change}}}"
        after, faults = patch(text)
        message, hint = expected
        assert reported(text) == [f"11 patch-field at {message}"]
        assert [fault.hint for fault in faults] == [hint]
        assert after == rendered()

    def test_a_value_is_in_no_message(self) -> None:
        for field in ("priority: canary", "nodeName: [canary]", "dnsPolicy: canary"):
            change = f"{{spec: {{template: {{spec: {{{field}}}}}}}}}"
            (fault,) = patch(f"- {{target: {{kind: Job}}, patch: {change}}}")[1]
            assert "canary" not in f"{fault.message}{fault.hint}"

    def test_fields_of_unknown_kinds_are_left_alone(self) -> None:
        text = "- {target: {kind: JobSet}, patch: {spec: {tasks: 1}}}"
        assert reported(text) == [
            (
                "11 patch-field at tasks: spec.tasks is not a field of a"
                " jobset.x-k8s.io/v1alpha2 JobSet"
            )
        ]
        before, change = {**rendered()[3], "apiVersion": "a.example.org/v1"}, {"spec": {"tasks": 1}}
        assert field_faults(before, json_merge(before, change)) == []

    def test_what_templates_render_is_not_reported_at_a_patch(self) -> None:
        before = {**rendered()[1], "extra": 1}
        assert field_faults(before, {**before, "spec": {**before["spec"], "backoffLimit": 2}}) == []

    def test_null_and_empty_text_are_absent_fields(self) -> None:
        change = "{op: add, path: /spec/template/spec/dnsPolicy, value: ''}"
        more = "{op: add, path: /spec/template/spec/affinity, value: null}"
        assert reported(f"- {{target: {{kind: Job}}, patch: [{change}, {more}]}}") == []


def changed(before: Any, operations: str) -> Any:
    return json_patch(before, yaml.safe_load(operations))


class TestJsonPatch:
    @pytest.mark.parametrize(
        ("before", "operations", "after"),
        [  # RFC 6902, appendix A
            ({"foo": "bar"}, "[{op: add, path: /baz, value: qux}]", {"foo": "bar", "baz": "qux"}),
            ({"foo": [1, 3]}, "[{op: add, path: /foo/1, value: 2}]", {"foo": [1, 2, 3]}),
            ({"foo": [1]}, "[{op: add, path: /foo/1, value: 2}]", {"foo": [1, 2]}),
            ({"a": 1, "b": 2}, "[{op: remove, path: /b}]", {"a": 1}),
            ({"foo": [1, 2, 3]}, "[{op: remove, path: /foo/1}]", {"foo": [1, 3]}),
            ({"a": 1, "b": 2}, "[{op: replace, path: /a, value: 3}]", {"a": 3, "b": 2}),
            ({"foo": [1, 2]}, "[{op: replace, path: /foo/0, value: 3}]", {"foo": [3, 2]}),
            (
                {"a": {"b": 1}, "c": {}},
                "[{op: move, from: /a/b, path: /c/d}]",
                {"a": {}, "c": {"d": 1}},
            ),
            ({"a": [1, 2, 3]}, "[{op: move, from: /a/0, path: /a/2}]", {"a": [2, 3, 1]}),
            ({"a": 1}, "[{op: move, from: /a, path: /a}]", {"a": 1}),
            ({"a": [1]}, "[{op: copy, from: /a, path: /b}]", {"a": [1], "b": [1]}),
            ({"a": 1}, "[{op: test, path: /a, value: 1.0}]", {"a": 1}),
            ({"a": {"b": [1]}}, "[{op: test, path: /a, value: {b: [1]}}]", {"a": {"b": [1]}}),
            ({"a": [1]}, "[{op: add, path: /a/-, value: [2]}]", {"a": [1, [2]]}),
            ({"a": 1}, "[{op: add, path: /b, value: null}]", {"a": 1, "b": None}),
            ({"/": 9, "~1": 10}, "[{op: test, path: /~01, value: 10}]", {"/": 9, "~1": 10}),
            (
                {"a/b": {"m~n": 1}},
                "[{op: replace, path: /a~1b/m~0n, value: 2}]",
                {"a/b": {"m~n": 2}},
            ),
            ({"": 1}, "[{op: replace, path: /, value: 2}]", {"": 2}),
            ({"a": 1}, '[{op: replace, path: "", value: {b: 2}}]', {"b": 2}),
        ],
    )
    def test_an_operation_is_applied(self, before: Any, operations: str, after: Any) -> None:
        kept = copy.deepcopy(before)
        assert changed(before, operations) == after
        assert before == kept

    def test_keys_keep_their_order(self) -> None:
        assert list(changed({"a": 1, "b": 2}, "[{op: replace, path: /a, value: 3}]")) == ["a", "b"]

    def test_a_copy_is_independent(self) -> None:
        after = changed(
            {"a": {}}, "[{op: copy, from: /a, path: /b}, {op: add, path: /a/x, value: 1}]"
        )
        assert after == {"a": {"x": 1}, "b": {}}

    @pytest.mark.parametrize(
        ("operations", "message"),
        [
            ("[{op: remove, path: /x}]", "operation 1 (remove /x): no value at /x"),
            (
                '[{op: remove, path: ""}]',
                "operation 1 (remove ): the whole object cannot be removed",
            ),
            ("[{op: remove, path: /l/-}]", "operation 1 (remove /l/-): no value at /l/-"),
            (
                "[{op: replace, path: /l/2, value: 1}]",
                "operation 1 (replace /l/2): no value at /l/2",
            ),
            ("[{op: add, path: /l/3, value: 1}]", "operation 1 (add /l/3): no value at /l/3"),
            ("[{op: add, path: /l/01, value: 1}]", "operation 1 (add /l/01): no value at /l/01"),
            ("[{op: add, path: /x/y, value: 1}]", "operation 1 (add /x/y): no value at /x"),
            (
                "[{op: add, path: /t/y, value: 1}]",
                "operation 1 (add /t/y): no value at /t/y, whose parent is a string",
            ),
            (
                "[{op: add, path: x, value: 1}]",
                'operation 1 (add x): pointer "x" does not start with /',
            ),
            (
                "[{op: add, path: /~2, value: 1}]",
                'operation 1 (add /~2): invalid ~ in pointer "/~2"',
            ),
            ("[{op: add, path: /x}]", "operation 1 (add /x): add requires value"),
            ("[{op: copy, path: /x}]", "operation 1 (copy /x): copy requires from"),
            (
                "[{op: move, from: /l, path: /l/0}]",
                "operation 1 (move /l/0): a value cannot be moved into itself",
            ),
            (
                "[{op: add, path: /x, value: 1}, {op: test, path: /t, value: v}]",
                "operation 2 (test /t): test failed: the value is different",
            ),
            (
                "[{op: test, path: /b, value: 1}]",
                "operation 1 (test /b): test failed: the value is a boolean, not a number",
            ),
        ],
    )
    def test_a_failure_names_the_operation(self, operations: str, message: str) -> None:
        with pytest.raises(PatchFailed) as failure:
            changed({"l": [1, 2], "t": "hidden", "b": True}, operations)
        assert failure.value.message == message

    def test_copies_are_limited_in_size(self) -> None:
        doubling = [{"op": "copy", "from": "/a", "path": f"/a/x{index}"} for index in range(60)]
        with pytest.raises(PatchFailed, match=r"operation .*would have more than"):
            json_patch({"a": {"b": 1}}, doubling)

    def test_moves_are_limited_in_depth(self) -> None:
        burying: list[dict[str, Any]] = []
        for _ in range(3000):
            burying += [
                {"op": "add", "path": "/b", "value": {}},
                {"op": "move", "from": "/a", "path": "/b/c"},
                {"op": "move", "from": "/b", "path": "/a"},
            ]
        with pytest.raises(PatchFailed, match="levels"):
            json_patch({"a": {}}, burying)

    def test_a_failure_is_reported_at_its_position(self) -> None:
        text = """
- target: {kind: JobSet}
  patch:
    - {op: add, path: /spec/a, value: 1}
    - {op: replace, path: /spec/netwrk, value: 1}
"""
        assert reported(text) == [
            (
                "14 patch-failed at /spec/netwrk: JobSet fit: operation 2 (replace /spec/netwrk):"
                " no value at /spec/netwrk"
            )
        ]
        assert patch(text)[1][0].hint == 'did you mean "network"?'


TRAINERS = "{kind: Job, role: trainers}"
REFUSED = {
    "name": ("{metadata: {name: x}}", "metadata.name cannot be changed"),
    "namespace": ("{metadata: {namespace: x}}", "metadata.namespace cannot be set"),
    "kind": ("{kind: CronJob}", "kind cannot be changed"),
    "api-version": ("{apiVersion: batch/v2}", "apiVersion cannot be changed"),
    "owner": (
        "{metadata: {ownerReferences: [{uid: x}]}}",
        "metadata.ownerReferences cannot be set",
    ),
    "uid": ("{metadata: {uid: x}}", "metadata.uid cannot be set"),
    "version": ("{metadata: {resourceVersion: x}}", "metadata.resourceVersion cannot be set"),
    "generated": ("{metadata: {generateName: x}}", "metadata.generateName cannot be set"),
    "managers": ("{metadata: {managedFields: []}}", "metadata.managedFields cannot be set"),
    "annotation": (
        "{metadata: {annotations: {paddlespec.io/run: x}}}",
        'metadata.annotations."paddlespec.io/run" cannot be set',
    ),
    "suspend": ("{spec: {suspend: true}}", "spec.suspend cannot be set"),
    "selector": ("{spec: {selector: {matchLabels: {a: b}}}}", "spec.selector cannot be set"),
    "service-name": ("{spec: {serviceName: x}}", "spec.serviceName cannot be set"),
    "label": (
        "{metadata: {labels: {paddlespec.io/role: x}}}",
        'metadata.labels."paddlespec.io/role" cannot be changed',
    ),
    "label-removed": (
        "{metadata: {labels: {app.kubernetes.io/name: null}}}",
        'metadata.labels."app.kubernetes.io/name" cannot be removed',
    ),
    "pod-label": (
        "{spec: {template: {metadata: {labels: {app.kubernetes.io/name: x}}}}}",
        'spec.template.metadata.labels."app.kubernetes.io/name" cannot be changed',
    ),
    "pod-label-added": (
        "{spec: {template: {metadata: {labels: {app.kubernetes.io/part-of: x}}}}}",
        'spec.template.metadata.labels."app.kubernetes.io/part-of" cannot be set',
    ),
    "subdomain": (
        "{spec: {template: {spec: {subdomain: x}}}}",
        "spec.template.spec.subdomain cannot be changed",
    ),
    "containers": (
        "{spec: {template: {spec: {initContainers: [{name: main, image: x}]}}}}",
        "spec.template.spec.initContainers would have two items with name main",
    ),
    "env": (
        "[{op: add, path: /spec/template/spec/containers/0/env/-, value: {name: A}}]",
        "spec.template.spec.containers[0].env would have two items with name A",
    ),
    "volumes": (
        "[{op: add, path: /spec/template/spec/volumes/-, value: {name: data}}]",
        "spec.template.spec.volumes would have two items with name data",
    ),
    "mounts": (
        (
            "[{op: add, path: /spec/template/spec/containers/0/volumeMounts/-,"
            " value: {name: x, mountPath: /data}}]"
        ),
        "spec.template.spec.containers[0].volumeMounts would have two items with mountPath /data",
    ),
    "ports": (
        (
            "[{op: add, path: /spec/template/spec/containers/0/ports/-,"
            " value: {containerPort: 80, protocol: TCP}}]"
        ),
        "spec.template.spec.containers[0].ports would have two items with containerPort 80, protocol TCP",
    ),
    "port-names": (
        (
            "{spec: {template: {spec: {containers: [{name: main, ports:"
            " [{containerPort: 82, name: one}]}]}}}}"
        ),
        "spec.template.spec.containers[0].ports would have two items with name one",
    ),
    "labels-lost": (
        "[{op: replace, path: /metadata/labels, value: none}]",
        "metadata.labels must be a mapping, not a string",
    ),
}


CONTRACT = {
    "index": ("{spec: {completionMode: null}}", "spec.completionMode cannot be removed"),
    "completions": ("{spec: {completions: 3}}", "spec.completions cannot be changed"),
    "parallelism": ("{spec: {parallelism: 1}}", "spec.parallelism cannot be changed"),
    "hostname": (
        "{spec: {template: {spec: {hostname: me}}}}",
        "spec.template.spec.hostname cannot be set",
    ),
    "annotation": (
        "{spec: {template: {metadata: {annotations: {batch.kubernetes.io/job-completion-index: '0'}}}}}",
        'spec.template.metadata.annotations."batch.kubernetes.io/job-completion-index" cannot be set',
    ),
    "variable": (
        "{spec: {template: {spec: {containers: [{name: paddle, env: [{name: TRAINING_ROLE, value: PSERVER}]}]}}}}",
        "TRAINING_ROLE of container paddle cannot be set",
    ),
    "variable-changed": (
        "{spec: {template: {spec: {containers: [{name: paddle, env: [{name: PADDLE_NNODES, value: '9'}]}]}}}}",
        "PADDLE_NNODES of container paddle cannot be changed",
    ),
    "variables": (
        "{spec: {template: {spec: {containers: [{name: paddle, env: [{$patch: replace}]}]}}}}",
        "NS of container paddle cannot be removed",
    ),
}


class TestContract:
    """What the variables of replicas build on."""

    @staticmethod
    def faults(folder: Path, target: str, patch: str, spec: str) -> list[Diagnostic]:
        file = folder / "paddlejob.yaml"
        file.write_text(
            f"{HEAD}{spec}  trainers: {{replicas: 2}}\n  patches:\n"
            f"    - {{target: {{kind: {target}, role: trainers}}, patch: {patch}}}\n".replace(
                "JobSet, role: trainers", "JobSet"
            ),
            encoding="utf-8",
        )
        choices = Choices(target="jobset" if target == "JobSet" else None)
        (loaded,), _ = load(str(file), Files(), choices)
        assert loaded.is_valid, loaded.diagnostics
        return patch_faults(loaded, Templates())

    MEETING = "  mode: collective\n  command: python -m paddle.distributed.launch train.py\n"
    ALONE = "  mode: parallel\n  command: python train.py\n"

    @pytest.mark.parametrize(("change", "message"), CONTRACT.values(), ids=CONTRACT.keys())
    def test_a_patch_that_breaks_it_is_rejected(
        self, tmp_path: Path, change: str, message: str
    ) -> None:
        first, *_ = self.faults(tmp_path, "Job", change, self.MEETING)
        assert first.code == "patch-refused"
        assert first.message.startswith(f"Job a-trainer: {message} ")
        assert (first.span.line, bool(first.hint)) == (10, True)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                "{spec: {network: {enableDNSHostnames: false}}}",
                "spec.network.enableDNSHostnames cannot be changed",
            ),
            (
                "[{op: replace, path: /spec/replicatedJobs/0/replicas, value: 2}]",
                "spec.replicatedJobs[0].replicas cannot be changed",
            ),
            (
                "[{op: remove, path: /spec/replicatedJobs/0/template/spec/completionMode}]",
                "spec.replicatedJobs[0].template.spec.completionMode cannot be removed",
            ),
        ],
    )
    def test_so_is_one_of_a_job_set(self, tmp_path: Path, change: str, message: str) -> None:
        (fault,) = self.faults(tmp_path, "JobSet", change, self.MEETING)
        assert fault.message == f"JobSet a: {message} by a patch"

    def test_replicas_that_do_not_meet_may_take_turns(self, tmp_path: Path) -> None:
        assert self.faults(tmp_path, "Job", "{spec: {parallelism: 1}}", self.ALONE) == []
        (fault,) = self.faults(tmp_path, "Job", "{spec: {completions: 1}}", self.ALONE)
        assert fault.hint is not None
        assert "trainers.replicas" in fault.hint

    def test_other_variables_and_containers_are_the_users_own(self, tmp_path: Path) -> None:
        for change in (
            "{spec: {template: {spec: {containers: [{name: paddle, env: [{name: NCCL_DEBUG, value: INFO}]}]}}}}",
            "{spec: {template: {spec: {containers: [{name: side, image: x, env: [{name: NS, value: x}]}]}}}}",
        ):
            assert self.faults(tmp_path, "Job", change, self.MEETING) == []


class TestRefusals:
    @pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED.keys())
    def test_forbidden_patches_are_rejected(self, change: str, message: str) -> None:
        after, faults = patch(f"- {{target: {TRAINERS}, patch: {change}}}")
        assert after == rendered()
        assert {diagnostic.code for diagnostic in faults} == {"patch-refused"}
        assert faults[0].message.startswith(f"Job fit-trainers: {message}")
        assert all(diagnostic.span.line == 11 for diagnostic in faults)

    @pytest.mark.parametrize(
        ("kind", "change", "message"),
        [
            ("Service", "{spec: {selector: {a: b}}}", "Service fit-pservers: spec.selector"),
            ("JobSet", "{spec: {network: {subdomain: x}}}", "JobSet fit: spec.network.subdomain"),
        ],
    )
    def test_links_of_other_kinds_cannot_be_changed(
        self, kind: str, change: str, message: str
    ) -> None:
        after, faults = patch(f"- {{target: {{kind: {kind}}}, patch: {change}}}")
        assert after == rendered()
        assert faults[0].message.startswith(message)

    @pytest.mark.parametrize(
        "change",
        [
            "{metadata: {name: fit-trainers, labels: {paddlespec.io/role: trainers, mine: x}}}",
            "{spec: {template: {spec: {containers: [{name: side, image: x, env: [{name: A}]}]}}}}",
            (
                "[{op: add, path: /spec/template/spec/containers/0/ports/-,"
                " value: {containerPort: 80, protocol: UDP}}]"
            ),
        ],
        ids=["unchanged-and-own-labels", "sidecar", "same-port-other-protocol"],
    )
    def test_allowed_patches_are_applied(self, change: str) -> None:
        after, faults = patch(f"- {{target: {TRAINERS}, patch: {change}}}")
        assert faults == []
        assert after != rendered()

    def test_a_rejection_is_reported_at_its_position(self) -> None:
        assert reported("""
- target: {kind: Job, role: trainers}
  patch:
    metadata:
      name: other
      labels:
        paddlespec.io/role: pservers
- target: {kind: Job, role: trainers}
  patch:
    - {op: add, path: /metadata/annotations, value: {}}
    - {op: remove, path: /metadata/labels}
""") == [
            "14 patch-refused at other: Job fit-trainers: metadata.name cannot be changed by a patch",
            (
                '16 patch-refused at pservers: Job fit-trainers: metadata.labels."paddlespec.io/role" cannot be'
                " changed by a patch"
            ),
            (
                '20 patch-refused at /metadata/labels: Job fit-trainers: metadata.labels."app.kubernetes.io/name" cannot'
                " be removed by a patch"
            ),
            (
                '20 patch-refused at /metadata/labels: Job fit-trainers: metadata.labels."paddlespec.io/role" cannot be'
                " removed by a patch"
            ),
        ]

    def test_a_rejection_names_the_last_operation_that_changes_the_value(self) -> None:
        assert reported("""
- target: {kind: JobSet}
  patch:
    - {op: replace, path: /metadata, value: {name: other}}
    - {op: move, from: /metadata/name, path: /spec/name}
    - {op: test, path: /metadata/name, value: x}
    - {op: add, path: /spec/a, value: 1}
""")[0].startswith("15 patch-failed")
        assert reported("""
- target: {kind: JobSet}
  patch:
    - {op: replace, path: /metadata, value: {name: other}}
    - {op: move, from: /metadata/name, path: /spec/name}
    - {op: test, path: /metadata, value: {}}
    - {op: add, path: /spec/a, value: 1}
""") == ["14 patch-refused at /spec/name: JobSet fit: metadata.name cannot be removed by a patch"]

    def test_existing_duplicates_are_not_the_fault_of_a_patch(self) -> None:
        before = {"spec": {"containers": [{"env": [{"name": "A"}, {"name": "A"}]}]}}
        after: dict[str, Any] = copy.deepcopy(before)
        after["spec"]["containers"][0]["image"] = "x"
        assert list(refusals(before, after)) == []
        after["spec"]["containers"][0]["env"].append({"name": "B"})
        assert list(refusals(before, after)) == []
        after["spec"]["containers"][0]["env"].append({"name": "B"})
        assert [refusal.path for refusal in refusals(before, after)] == [
            ("spec", "containers", 0, "env")
        ]

    def test_only_the_broken_object_stays_unpatched(self) -> None:
        after, faults = patch(
            "- {target: {kind: Job}, patch: {metadata: {name: fit-trainers}, spec: {ttlSecondsAfterFinished: 1}}}"
        )
        assert [diagnostic.message.split(":")[0] for diagnostic in faults] == ["Job fit-pservers"]
        lives = [manifest["spec"].get("ttlSecondsAfterFinished") for manifest in after]
        assert lives == [None, None, 1, None]


def test_the_example_of_the_documentation() -> None:
    after, faults = patch(
        "- {when: {target: kubernetes}, target: {kind: Job, role: trainers},"
        " patch: {spec: {template: {spec: {priorityClassName: high}}}}}"
    )
    assert faults == []
    assert pod(after[2])["priorityClassName"] == "high"
    assert pod(after[2])["containers"] == pod(rendered()[2])["containers"]
