"""The parts of a replica's pod: variables, volumes, init containers and command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads
from paddlespec.quantity import canonical
from paddlespec.render import environment, roles, runtime
from paddlespec.render.pod_settings import is_restricted
from paddlespec.render.resources import shared_memory
from paddlespec.targets import fabric
from paddlespec.targets.program import program, script
from paddlespec.targets.sidecars import sidecars
from paddlespec.targets.sources import source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paddlespec.model import EnvFrom, Job, Role
    from paddlespec.render.roles import RoleName
    from paddlespec.render.runtime import Context

INDEX_ANNOTATION = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
ORDINAL_LABEL = "metadata.labels['apps.kubernetes.io/pod-index']"
_CODE, _ARCHIVE, _IDENTITY = "paddlespec-code", "paddlespec-archive", "paddlespec-identity"

Json = dict[str, Any]


class Mount(NamedTuple):
    """A volume of the pod and its mount in the main container."""

    volume: Json
    mount: Json


class Replica:
    """One replica of a role, with everything the template of its pod needs."""

    def __init__(self, job: Job, name: RoleName, context: Context) -> None:
        self.job = job
        self.name = name
        self.context = context
        self.role: Role = roles.role(job.spec, name)
        self.image = self.role.image or job.spec.image
        self.own_volumes = runtime.volumes(job, name)
        self.delivers = context.code is not None

    def fabric_env(self) -> list[Json]:
        """Return the variables of the network that the spec does not set."""
        declared = {**self.job.spec.env, **self.role.env}
        own = fabric.variables(self.job, self.name)
        return [{"name": key, "value": own[key]} for key in own if key not in declared]

    def env(self) -> list[Json]:
        """Return the variables: those of the pod, the runtime contract, then the spec."""
        managed = environment.of(self.job, self.name, self.context)
        return self._merged(managed, {**self.job.spec.env, **self.role.env})

    def shared_env(self, declared: Mapping[str, Any]) -> list[Json]:
        """Return the variables of another container: what replica it is in, then *declared*."""
        return self._merged(environment.common(self.job, self.name, self.context), declared)

    def _merged(self, managed: Mapping[str, str], declared: Mapping[str, Any]) -> list[Json]:
        facts = {
            "NS": _field("metadata.namespace"),
            "IDX": self._index(),
        }
        # The contract refers to the facts, so they come first even if the spec overrides them.
        env = [{"name": key, **facts[key]} for key in facts if key not in declared]
        env += [{"name": key, **_variable(declared[key])} for key in facts if key in declared]
        env += [{"name": key, "value": managed[key]} for key in managed if key not in declared]
        env += [{"name": key, **_variable(declared[key])} for key in declared if key not in facts]
        return env

    def env_from(self) -> list[Json]:
        """Return the Secrets and ConfigMaps whose keys are variables; variables override them."""
        return [_all_keys(source) for source in (*self.job.spec.env_from, *self.role.env_from)]

    def _index(self) -> Json:
        if not self.indexed:
            return {"value": "0"}
        path = ORDINAL_LABEL if self.is_stateful else INDEX_ANNOTATION
        return _field(path)

    @property
    def is_stateful(self) -> bool:
        pservers = self.job.spec.pservers
        return self.name == "pservers" and bool(pservers and workloads.restarts(pservers.workload))

    @property
    def indexed(self) -> bool:
        """Whether the Job is indexed; a collective trainer without peers needs no index."""
        return self.job.spec.mode != "collective" or runtime.has_hosts(self.job)

    def ports(self) -> dict[str, int]:
        """Return the named ports of the replica, those of the runtime contract first."""
        reserved = runtime.reserved_ports(self.job, self.name)
        return {**reserved, **self.role.ports}

    def mounts(self) -> Iterator[Mount]:
        """Yield shared memory, the volumes of the spec, and the folder for the code."""
        yield Mount(
            {"name": "dshm", "emptyDir": {"medium": "Memory", **self._shared_memory()}},
            {"name": "dshm", "mountPath": "/dev/shm"},
        )
        for volume in self.own_volumes:
            yield Mount(
                {"name": volume.name, **source(self.job, volume)},
                {
                    "name": volume.name,
                    "mountPath": volume.mount_path,
                    **({"subPath": volume.sub_path} if volume.sub_path else {}),
                    **({"readOnly": True} if volume.read_only else {}),
                },
            )
        if self.delivers:
            yield Mount(
                {"name": _CODE, "emptyDir": {}},
                {"name": _CODE, "mountPath": runtime.delivered_to(self.job)},
            )

    def volumes(self) -> list[Json]:
        """Return the volumes of the pod, including those of its init containers."""
        volumes = [mount.volume for mount in self.mounts()]
        if self.context.code:
            name = f"{self.job.metadata.name}-code-{self.context.code.digest}"
            volumes.append({"name": _ARCHIVE, "configMap": {"name": name}})
        if self._writes_identity:
            volumes.append({"name": _IDENTITY, "emptyDir": {}})
        return volumes

    def volume_mounts(self) -> list[Json]:
        """Return the mounts of the main container."""
        mounts = [mount.mount for mount in self.mounts()]
        for name in ("trainer_id", "trainer_count") if self._writes_identity else ():
            mounts.append({"name": _IDENTITY, "mountPath": f"/{name}", "subPath": name})
        return mounts

    @property
    def _writes_identity(self) -> bool:
        return self.job.spec.mode == "legacy" and self.name == "trainers"

    def _shared_memory(self) -> Json:
        size = shared_memory(self.role.resources)
        return {"sizeLimit": size} if size else {}

    def init_containers(self) -> list[Json]:
        """Return the steps before the command, in containers of the role's image."""
        steps = []
        if self.delivers:
            folder = runtime.delivered_to(self.job)
            command = ["tar", "-xf", _archive_path, "-C", folder]
            step = self._step("unpack", command)
            step["volumeMounts"] = [
                {"name": _CODE, "mountPath": folder},
                {"name": _ARCHIVE, "mountPath": _archive_path.rpartition("/")[0]},
            ]
            steps.append(step)
        if self._writes_identity:
            count = str(runtime.replicas(self.job, "trainers"))
            script = 'echo "$IDX" > /identity/trainer_id; echo "$1" > /identity/trainer_count'
            step = self._step("identity", ["sh", "-c", script, "identity", count])
            step["env"] = [{"name": "IDX", **self._index()}]
            step["volumeMounts"] = [{"name": _IDENTITY, "mountPath": "/identity"}]
            steps.append(step)
        steps += self._output_step()
        # They run while trainers wait, but not if the output is refused.
        steps += sidecars(self)
        if self.name == "trainers" and self.job.spec.pservers and self.job.spec.mode != "parallel":
            steps.append(self._wait_step())
        return steps

    def _output_step(self) -> list[Json]:
        folder = runtime.output(self.job)
        policy = self.job.spec.output_policy
        if self.name != "trainers" or not folder or policy == "reuse" or self._is_scratch(folder):
            return []
        step = self._step("output", ["sh", "-c", script(f"output-{policy}.sh")])
        if not is_restricted(self.job, self.name):
            # On volumes of users even root needs capabilities to read and delete files of others.
            del step["securityContext"]["capabilities"]
        step["env"] = [
            {"name": "PADDLESPEC_OUTPUT", "value": folder},
            {"name": "RUN", **_field(self.context.naming.run)},
        ]
        names = {volume.name for volume in self.own_volumes}
        step["volumeMounts"] = [
            mount.mount for mount in self.mounts() if mount.mount["name"] in names
        ]
        return [step]

    def _is_scratch(self, folder: str) -> bool:
        """Whether *folder* is on a mount that is empty when the replica starts."""
        mounts = [
            volume
            for volume in self.own_volumes
            if f"{folder}/".startswith(f"{volume.mount_path.rstrip('/')}/")
        ]
        return (
            bool(mounts)
            and max(mounts, key=lambda volume: len(volume.mount_path)).empty_dir is not None
        )

    def _wait_step(self) -> Json:
        package = self.job.spec.package
        names = dict.fromkeys([*([package.python] if package else []), "python3", "python"])
        pythons = " ".join(map(shlex.quote, names))
        find = f"for each in {pythons}; do command -v $each && break; done"
        step = self._step(
            "wait-for-pservers",
            ["sh", "-c", f'exec "$({find})" -u -c "$1"', "wait", script("wait-for-pservers.py")],
        )
        addresses = ",".join(runtime.awaited(self.job, self.context.naming))
        step["env"] = [
            {"name": "NS", **_field("metadata.namespace")},
            {"name": "PADDLESPEC_WAIT_FOR", "value": addresses},
        ]
        return step

    def _step(self, name: str, command: list[str]) -> Json:
        spec = self.job.spec
        return {
            "name": name,
            "image": self.image,
            **({"imagePullPolicy": spec.image_pull_policy} if spec.image_pull_policy else {}),
            "command": command,
            "resources": {
                "requests": (small := {"cpu": "100m", "memory": "128Mi"}),
                "limits": small,
            },
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            },
        }

    def command(self) -> list[str] | None:
        """Return the command of the main container, or None for that of the image."""
        return program(self.job, self.name, self.context.code)


_archive_path = "/paddlespec/archive/code.tar"


def _field(path: str) -> Json:
    """
    Take a variable from a field of the pod.

    A reference has one owner as a whole. Without the version, which the server adds, another
    manager that applied the same manifest would own a different value.
    """
    return {"valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def _all_keys(source: EnvFrom) -> Json:
    kind = "secretRef" if source.secret else "configMapRef"
    optional = {"optional": True} if source.optional else {}
    reference = {kind: {"name": source.secret or source.config_map, **optional}}
    return {**({"prefix": source.prefix} if source.prefix else {}), **reference}


def _variable(value: Any) -> Json:
    """Convert a variable of the spec for Kubernetes; numbers and booleans become strings."""
    if isinstance(value, bool):
        return {"value": "true" if value else "false"}
    if isinstance(value, (str, int, float)):
        return {"value": str(value)}
    if value.field:
        return _field(value.field)
    if value.resource:
        # As `_field`: the API server adds a divisor of its own.
        divisor = canonical(value.divisor) if value.divisor is not None else "0"
        reference = {"resource": value.resource, "divisor": divisor}
        return {"valueFrom": {"resourceFieldRef": reference}}
    if value.secret:
        return {"valueFrom": {"secretKeyRef": {"name": value.secret, "key": value.key}}}
    if value.config_map:
        return {"valueFrom": {"configMapKeyRef": {"name": value.config_map, "key": value.key}}}
    return _variable(value.value)
