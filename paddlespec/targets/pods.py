"""The parts of a replica's pod: variables, volumes, init containers, the command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import contract
from paddlespec.quantity import as_bytes, as_written, quantity
from paddlespec.targets.program import program, script
from paddlespec.targets.sources import source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.contract import Context, RoleName
    from paddlespec.model import Job, Resources, Role

INDEX_ANNOTATION = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
ORDINAL_LABEL = "metadata.labels['apps.kubernetes.io/pod-index']"
RUN_LABEL = "metadata.labels['batch.kubernetes.io/controller-uid']"
_CODE, _ARCHIVE, _IDENTITY = "paddlespec-code", "paddlespec-archive", "paddlespec-identity"

Json = dict[str, Any]


class Mount(NamedTuple):
    """A volume of the pod and where its containers see it."""

    volume: Json
    mount: Json


class Replica:
    """One replica of a role: everything that its pod's template needs."""

    def __init__(self, job: Job, name: RoleName, context: Context) -> None:
        self.job = job
        self.name = name
        self.context = context
        self.role: Role = getattr(job.spec, name)
        self.image = self.role.image or job.spec.image
        self.delivers = context.code is not None

    def env(self) -> list[Json]:
        """The variables in order: the pod's own facts, the contract, then the user's."""
        managed = contract.environment(self.job, self.name, self.context)
        users = {**self.job.spec.env, **self.role.env}
        facts = {
            "NS": {"valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            "IDX": self._index(),
        }
        # The contract refers to these: taken over by the user, they still come first.
        found = [{"name": key, **facts[key]} for key in facts if key not in users]
        found += [{"name": key, **_variable(users[key])} for key in facts if key in users]
        found += [{"name": key, "value": managed[key]} for key in managed if key not in users]
        found += [{"name": key, **_variable(users[key])} for key in users if key not in facts]
        return found

    def _index(self) -> Json:
        if not self.indexed:
            return {"value": "0"}
        path = ORDINAL_LABEL if self.is_stateful else INDEX_ANNOTATION
        return {"valueFrom": {"fieldRef": {"fieldPath": path}}}

    @property
    def is_stateful(self) -> bool:
        pservers = self.job.spec.pservers
        return self.name == "pservers" and bool(pservers and pservers.workload == "StatefulSet")

    @property
    def indexed(self) -> bool:
        """A lone collective trainer is a plain job: it has nobody to find."""
        return self.job.spec.mode != "collective" or contract.meets(self.job)

    def ports(self) -> dict[str, int]:
        """The named ports of the replica, the contract's first."""
        mode = self.job.spec.mode
        found: dict[str, int] = {}
        if mode == "collective" and contract.meets(self.job):
            found["master"] = contract.MASTER_PORT
        if self.name == "pservers":
            listed = contract.pserver_ports(self.job)
            found |= {
                "pserver" if index == 0 else f"pserver-{index}": port
                for index, port in enumerate(listed)
            }
            if mode == "ps":
                found["gloo"] = contract.GLOO_PORT
        return {**found, **self.role.ports}

    def mounts(self) -> Iterator[Mount]:
        """Shared memory, the user's volumes, and the folder that receives the code."""
        yield Mount(
            {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": self.shared_memory()}},
            {"name": "dshm", "mountPath": "/dev/shm"},
        )
        for volume in self.job.spec.volumes:
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
                {"name": _CODE, "mountPath": self.job.spec.workdir},
            )

    def volumes(self) -> list[Json]:
        """The volumes of the pod, those of its init containers included."""
        found = [each.volume for each in self.mounts()]
        if self.context.code:
            name = f"{self.job.metadata.name}-code-{self.context.code.digest}"
            found.append({"name": _ARCHIVE, "configMap": {"name": name}})
        if self._writes_identity:
            found.append({"name": _IDENTITY, "emptyDir": {}})
        return found

    def volume_mounts(self) -> list[Json]:
        """The mounts of the main container."""
        found = [each.mount for each in self.mounts()]
        for name in ("trainer_id", "trainer_count") if self._writes_identity else ():
            found.append({"name": _IDENTITY, "mountPath": f"/{name}", "subPath": name})
        return found

    @property
    def _writes_identity(self) -> bool:
        return self.job.spec.mode == "legacy" and self.name == "trainers"

    def shared_memory(self) -> str:
        """The size of /dev/shm: as asked for, else half of the memory, of which it is a part."""
        resources = self.role.resources
        asked = resources.shared_memory
        return as_written(asked) if asked is not None else as_bytes(quantity(resources.memory) / 2)

    def init_containers(self) -> list[Json]:
        """What happens before the command, each step in a container of the role's own image."""
        found = []
        if self.delivers:
            command = ["tar", "-xf", _archive_path, "-C", self.job.spec.workdir]
            step = self._step("unpack", command)
            step["volumeMounts"] = [
                {"name": _CODE, "mountPath": self.job.spec.workdir},
                {"name": _ARCHIVE, "mountPath": _archive_path.rpartition("/")[0]},
            ]
            found.append(step)
        if self._writes_identity:
            count = str(contract.replicas(self.job, "trainers"))
            script = 'echo "$IDX" > /identity/trainer_id; echo "$1" > /identity/trainer_count'
            step = self._step("identity", ["sh", "-c", script, "identity", count])
            step["env"] = [{"name": "IDX", **self._index()}]
            step["volumeMounts"] = [{"name": _IDENTITY, "mountPath": "/identity"}]
            found.append(step)
        found += self._output_step()
        if self.name == "trainers" and self.job.spec.pservers and self.job.spec.mode != "parallel":
            found.append(self._wait_step())
        return found

    def _output_step(self) -> list[Json]:
        folder = contract.output(self.job)
        policy = self.job.spec.output_policy
        if self.name != "trainers" or not folder or policy == "reuse" or self._is_scratch(folder):
            return []
        step = self._step("output", ["sh", "-c", script(f"output-{policy}.sh")])
        step["env"] = [
            {"name": "PADDLESPEC_OUTPUT", "value": folder},
            {"name": "RUN", "valueFrom": {"fieldRef": {"fieldPath": RUN_LABEL}}},
        ]
        names = {each.name for each in self.job.spec.volumes}
        step["volumeMounts"] = [each.mount for each in self.mounts() if each.mount["name"] in names]
        return [step]

    def _is_scratch(self, folder: str) -> bool:
        """Whether *folder* is on a mount that is always empty at the start."""
        mounts = [
            each
            for each in self.job.spec.volumes
            if f"{folder}/".startswith(f"{each.mount_path.rstrip('/')}/")
        ]
        return (
            bool(mounts)
            and max(mounts, key=lambda each: len(each.mount_path)).empty_dir is not None
        )

    def _wait_step(self) -> Json:
        own = self.job.spec.package
        names = dict.fromkeys([*([own.python] if own else []), "python3", "python"])
        pythons = " ".join(map(shlex.quote, names))
        find = f"for each in {pythons}; do command -v $each && break; done"
        step = self._step(
            "wait-for-pservers",
            ["sh", "-c", f'exec "$({find})" -u -c "$1"', "wait", script("wait-for-pservers.py")],
        )
        addresses = ",".join(contract.awaited(self.job))
        step["env"] = [
            {"name": "NS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
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
            "securityContext": {"allowPrivilegeEscalation": False},
        }

    def command(self) -> list[str] | None:
        """The command of the main container; the image's own where the spec gives none."""
        return program(self.job, self.name, self.context.code)


_archive_path = "/paddlespec/archive/code.tar"


def resources(asked: Resources) -> Json:
    """Requests and limits, which are equal: replicas of one role must not differ in speed."""
    amounts = {"cpu": as_written(asked.cpu), "memory": as_written(asked.memory)}
    if asked.gpu:
        amounts[asked.accelerator] = str(asked.gpu)
    return {"requests": amounts, "limits": amounts}


def _variable(value: Any) -> Json:
    """A user's variable as Kubernetes takes it; numbers and truth values become text."""
    if isinstance(value, bool):
        return {"value": "true" if value else "false"}
    if isinstance(value, (str, int, float)):
        return {"value": str(value)}
    if value.secret:
        return {"valueFrom": {"secretKeyRef": {"name": value.secret, "key": value.key}}}
    if value.config_map:
        return {"valueFrom": {"configMapKeyRef": {"name": value.config_map, "key": value.key}}}
    return _variable(value.value)
