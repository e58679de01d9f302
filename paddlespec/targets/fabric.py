"""What NCCL and RDMA need in a replica: devices, a capability, and variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddlespec.model import Job
    from paddlespec.render.roles import RoleName

_RESOURCE, _COUNT = "rdma/hca", 1
# Interfaces of a node that lead to containers and virtual machines, not to other nodes. NCCL's own
# list has only the first two. Entries are prefixes.
_INNER = (
    *("lo", "docker", "veth", "virbr", "cni", "flannel", "cali", "tunl", "cilium", "lxc"),
    *("kube-ipvs", "nodelocaldns"),
)


def devices(job: Job, role: RoleName) -> dict[str, int]:
    """Return the RDMA devices of one replica by resource; only trainers have some."""
    rdma = job.spec.network.rdma
    if role != "trainers" or not rdma:
        return {}
    return {_RESOURCE: _COUNT} if rdma is True else {rdma.resource: rdma.count}


def capabilities(job: Job, role: RoleName) -> list[str]:
    """Return the capabilities to add: RDMA pins memory, beyond the usual limit of a process."""
    return ["IPC_LOCK"] if devices(job, role) else []


def variables(job: Job, role: RoleName) -> dict[str, str]:
    """Return variables of NCCL that are right on any cluster; the spec may override them."""
    if role != "trainers":
        return {}
    own = {}
    if job.spec.network.host and job.spec.trainers.resources.gpu:
        own["NCCL_SOCKET_IFNAME"] = f"^{','.join(_INNER)}"
    if devices(job, role):
        # Images without RDMA in mind may disable it.
        own["NCCL_IB_DISABLE"] = "0"
    return own
