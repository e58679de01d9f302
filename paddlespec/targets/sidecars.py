"""
Render sidecars as init containers that run until the replica ends.

Kubernetes stops such containers when the command has finished, so a Job still completes. Other
containers beside the command would keep it running forever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.quantity import canonical
from paddlespec.render import runtime
from paddlespec.render.pod_settings import is_restricted

if TYPE_CHECKING:
    from paddlespec.model import Sidecar
    from paddlespec.targets.pods import Replica

Json = dict[str, Any]


def sidecars(replica: Replica) -> list[Json]:
    """Return the sidecars of *replica*, in the order in which they start."""
    own = runtime.sidecars(replica.job, replica.name)
    return [_container(replica, sidecar) for sidecar in own]


def _container(replica: Replica, sidecar: Sidecar) -> Json:
    policy, command = replica.job.spec.image_pull_policy, sidecar.command
    restricted = is_restricted(replica.job, replica.name)
    container = {
        "name": sidecar.name,
        "image": sidecar.image or replica.image,
        "imagePullPolicy": policy,
        "restartPolicy": "Always",
        "command": ["sh", "-c", command] if isinstance(command, str) else command,
        "args": sidecar.args,
        "env": replica.shared_env(sidecar.env),
        "resources": _resources(sidecar),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            **({"capabilities": {"drop": ["ALL"]}} if restricted else {}),
        },
        "volumeMounts": _mounts(replica, sidecar),
    }
    return {key: value for key, value in container.items() if value not in (None, [], {})}


def _resources(sidecar: Sidecar) -> Json:
    declared = sidecar.resources
    amounts = {
        name: canonical(amount)
        for name, amount in (("cpu", declared.cpu), ("memory", declared.memory))
        if amount is not None
    }
    return {"requests": amounts, "limits": amounts} if amounts else {}


def _mounts(replica: Replica, sidecar: Sidecar) -> list[Json]:
    volumes = {volume.name: volume for volume in replica.own_volumes}
    mounts = []
    for mount in sidecar.volume_mounts:
        volume = volumes[mount.name]
        sub_path = mount.sub_path or volume.sub_path
        read_only = mount.read_only or volume.read_only
        mounts.append(
            {
                "name": mount.name,
                "mountPath": mount.mount_path or volume.mount_path,
                **({"subPath": sub_path} if sub_path else {}),
                **({"readOnly": True} if read_only else {}),
            }
        )
    return mounts
