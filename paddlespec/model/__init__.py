"""
Pydantic models of the spec, the project file and the configuration.

The published schemas are generated from them. Commands read specs through `paddlespec.spec.frozen`,
which has the same attributes without the cost of importing pydantic.
"""

from paddlespec.model.env import EnvFrom, EnvSource
from paddlespec.model.job import (
    Job,
    Metadata,
    Mode,
    Spec,
)
from paddlespec.model.network import Network, NetworkPorts, Rdma
from paddlespec.model.pod import Pod
from paddlespec.model.project import Datacenter, Project, Storage
from paddlespec.model.role import (
    Limits,
    Pservers,
    ResourceClaim,
    Resources,
    Role,
    Toleration,
    Trainers,
)
from paddlespec.model.run import (
    Legacy,
    Package,
    Patch,
    PatchTarget,
    Policy,
    Scheduling,
)
from paddlespec.model.sidecar import Sidecar, SidecarMount, SidecarResources
from paddlespec.model.volume import (
    CephFs,
    EmptyDir,
    NewClaim,
    Nfs,
    Volume,
)

__all__ = [
    "CephFs",
    "Datacenter",
    "EmptyDir",
    "EnvFrom",
    "EnvSource",
    "Job",
    "Legacy",
    "Limits",
    "Metadata",
    "Mode",
    "Network",
    "NetworkPorts",
    "NewClaim",
    "Nfs",
    "Package",
    "Patch",
    "PatchTarget",
    "Pod",
    "Policy",
    "Project",
    "Pservers",
    "Rdma",
    "ResourceClaim",
    "Resources",
    "Role",
    "Scheduling",
    "Sidecar",
    "SidecarMount",
    "SidecarResources",
    "Spec",
    "Storage",
    "Toleration",
    "Trainers",
    "Volume",
]
