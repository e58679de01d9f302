"""The pods of the replicas: metadata, identity and security."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from paddlespec.model.base import (
    WHOLE,
    Annotations,
    Labels,
    Model,
    Object,
    ObjectName,
    Text,
    described,
)

UserId = Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE]


class Profile(Model):
    """A profile of seccomp or AppArmor."""

    type: Literal["RuntimeDefault", "Unconfined", "Localhost"] = Field(
        description="Where the profile comes from.", examples=["RuntimeDefault"]
    )
    localhost_profile: Text | None = Field(
        None, description="Profile on the node, for `Localhost`.", examples=["profiles/train.json"]
    )


class Sysctl(Model):
    """A kernel parameter of the pod."""

    name: Text = Field(description="Name of the parameter.", examples=["net.core.somaxconn"])
    value: Text = Field(description="Value of the parameter.", examples=["1024"])


class Capabilities(Model):
    """Linux capabilities to add to those of the container runtime, or to remove."""

    add: list[Text] | None = Field(
        None, description="Capabilities to add.", examples=[["IPC_LOCK"]]
    )
    drop: list[Text] | None = Field(None, description="Capabilities to remove.", examples=[["ALL"]])


class SecurityContext(Model):
    """Security settings of pods and containers alike."""

    run_as_user: UserId | None = Field(
        None, description="User ID of the processes.", examples=[1000]
    )
    run_as_group: UserId | None = Field(
        None, description="Primary group ID of the processes.", examples=[1000]
    )
    run_as_non_root: bool | None = Field(
        None, description="Refuse to start as root.", examples=[True]
    )
    seccomp_profile: Profile | None = Field(
        None,
        description="Seccomp profile. Defaults to that of the container runtime.",
        examples=[{"type": "RuntimeDefault"}],
    )
    app_armor_profile: Profile | None = Field(
        None, description="AppArmor profile.", examples=[{"type": "RuntimeDefault"}]
    )
    se_linux_options: Object | None = Field(
        None,
        description="SELinux labels, passed through unchanged.",
        examples=[{"level": "s0:c123,c456"}],
    )


class PodSecurityContext(SecurityContext):
    """Security settings of the whole pod."""

    fs_group: UserId | None = Field(
        None, description="Group ID that owns the files of its volumes.", examples=[1000]
    )
    fs_group_change_policy: Literal["Always", "OnRootMismatch"] | None = Field(
        None,
        description="When Kubernetes changes the owner of the files.",
        examples=["OnRootMismatch"],
    )
    supplemental_groups: list[UserId] | None = Field(
        None, description="Further group IDs of the processes.", examples=[[2000]]
    )
    sysctls: list[Sysctl] | None = Field(
        None,
        description="Kernel parameters of the pod.",
        examples=[[{"name": "net.core.somaxconn", "value": "1024"}]],
    )


class ContainerSecurityContext(SecurityContext):
    """Security settings of the container that runs the command."""

    privileged: bool | None = Field(
        None, description="Run with all rights of the node.", examples=[True]
    )
    allow_privilege_escalation: bool | None = Field(
        None,
        description="Whether processes may gain rights. Defaults to false, except with "
        "`privileged`.",
        examples=[False],
    )
    capabilities: Capabilities | None = Field(
        None, description="Linux capabilities.", examples=[{"add": ["IPC_LOCK"]}]
    )
    read_only_root_filesystem: bool | None = Field(
        None,
        description="Mount the file system of the image without write access.",
        examples=[True],
    )


class HostAlias(Model):
    """Host names of an address, for the hosts file of the pods."""

    ip: Text = Field(description="Address.", examples=["10.0.0.1"])
    hostnames: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Names of the address.", examples=[["storage.example.com"]]
    )


class Pod(Model):
    """Settings of the pods that do not change what they run."""

    labels: Labels = Field(
        {},
        description="Labels of the pods, in addition to `metadata.labels`.",
        examples=[{"cost-center": "ads"}],
    )
    annotations: Annotations = Field(
        {},
        description="Annotations of the pods.",
        examples=[{"k8s.v1.cni.cncf.io/networks": "rdma-net"}],
    )
    service_account: ObjectName | None = Field(
        None, description="Name of the service account.", examples=["trainer"]
    )
    automount_service_account_token: bool | None = Field(
        None,
        description="Mount the token of the service account. Defaults to false.",
        examples=[True],
    )
    security: Literal["baseline", "restricted"] | None = Field(
        None,
        description="Level of Pod Security that the pods keep to. Defaults to baseline.",
        examples=["restricted"],
        json_schema_extra=described(
            baseline="No privilege escalation; the seccomp profile of the container runtime.",
            restricted="In addition, no capabilities and no root user.",
        ),
    )
    security_context: PodSecurityContext | None = Field(
        None,
        description="Security settings of the pods.",
        examples=[{"runAsUser": 1000, "fsGroup": 1000}],
    )
    container_security_context: ContainerSecurityContext | None = Field(
        None,
        description="Security settings of the container that runs the command.",
        examples=[{"capabilities": {"add": ["IPC_LOCK"]}}],
    )
    runtime_class: ObjectName | None = Field(
        None, description="Name of the runtime class.", examples=["nvidia"]
    )
    host_ipc: bool | None = Field(
        None,
        alias="hostIPC",
        description="Share the interprocess communication of the node.",
        examples=[True],
    )
    host_aliases: list[HostAlias] | None = Field(
        None,
        description="Entries for the hosts file of the pods.",
        examples=[[{"ip": "10.0.0.1", "hostnames": ["storage.example.com"]}]],
    )
