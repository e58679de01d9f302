"""The PaddleJob spec: one training job."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from paddlespec.model.base import (
    AbsolutePath,
    Annotations,
    EnvName,
    JobName,
    Label,
    Labels,
    Model,
    ObjectName,
    ParameterName,
    RoleKey,
    Scalar,
    Text,
    described,
)
from paddlespec.model.env import Command, Env, EnvFrom
from paddlespec.model.network import Network
from paddlespec.model.pod import Pod
from paddlespec.model.role import (
    Pservers,
    Role,
    Trainers,
)
from paddlespec.model.run import (
    Legacy,
    Package,
    Patch,
    Policy,
    Scheduling,
)
from paddlespec.model.sidecar import Sidecar
from paddlespec.model.volume import Volume

Mode = Literal["collective", "ps", "legacy", "parallel"]


class Metadata(Model):
    """Name, namespace, labels and annotations of the job."""

    name: JobName = Field(
        description="Name of the job and prefix of its objects.", examples=["fit-a-line"]
    )
    namespace: Label | None = Field(
        None,
        description="Namespace of the job. Defaults to the namespace of the connection.",
        examples=["ads"],
    )
    labels: Labels = Field(
        {}, description="Labels added to every object and pod.", examples=[{"team": "ads"}]
    )
    annotations: Annotations = Field(
        {},
        description="Annotations added to every object, but not to pods; see `pod.annotations`.",
        examples=[{"example.com/owner": "ads"}],
    )


class Spec(Model):
    """What the job runs, and how."""

    mode: Mode = Field(
        description="How the replicas work together. collective: all-reduce with "
        "paddle.distributed.launch; ps: trainers and parameter servers; legacy: Paddle v1 and v2 "
        "(PADDLE_INIT_*); parallel: independent replicas.",
        examples=["collective"],
        json_schema_extra=described(
            collective="All-reduce between equal trainers with paddle.distributed.launch.",
            ps="Trainers and parameter servers (fleet).",
            legacy="Paddle v1 and v2, configured by PADDLE_INIT_* variables.",
            parallel="Independent replicas, for example to shard data.",
        ),
    )
    image: Text = Field(description="Container image.", examples=["paddlepaddle/paddle:2.6.2"])
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        None, description="When nodes pull the image.", examples=["IfNotPresent"]
    )
    registry: ObjectName | None = Field(
        None,
        description="Name of the image pull secret.",
        examples=["team-registry"],
    )
    package: Package | None = Field(
        None,
        description="Code to deliver to the replicas. If unset, the image contains the code.",
        examples=[{"path": "."}],
    )
    setup: list[Text] = Field(
        [],
        description="Shell commands to run before `command`, in the same container.",
        examples=[["pip install -e ."]],
    )
    teardown: list[Text] = Field(
        [],
        description="Shell commands to run after `command`, even if it fails.",
        examples=[["cp -r log /output"]],
    )
    command: Command | None = Field(
        None,
        description="Command of every replica. A string is run by a shell; a list is executed "
        "directly. Never rewritten.",
        examples=["python train.py", ["python", "train.py"]],
    )
    args: list[str] = Field(
        [],
        description="Arguments for the entry point of the image, instead of `command`.",
        examples=[["--epochs", "3"]],
    )
    workdir: AbsolutePath | None = Field(
        None,
        description="Working directory of the command. Defaults to the folder of the package "
        "(/workspace if it is delivered), or without a package to that of the image.",
        examples=["/workspace"],
    )
    parameters: dict[ParameterName, Scalar | None] = Field(
        {},
        description="Values for `${{ parameters.NAME }}`. A null value must be set by a layer.",
        examples=[{"passes": 10}],
    )
    env: Env = Field(
        {},
        description="Environment variables of every replica.",
        examples=[{"LOG_LEVEL": "info", "TOKEN": {"secret": "team-token", "key": "token"}}],
    )
    env_from: list[EnvFrom] = Field(
        [],
        description="Secrets and ConfigMaps whose keys are variables of every replica. `env` "
        "overrides them.",
        examples=[[{"secret": "team-credentials"}, {"configMap": "settings", "prefix": "TEAM_"}]],
    )
    allow_managed_env: list[EnvName] = Field(
        [],
        description="Variables managed by paddlespec that this spec may override.",
        examples=[["PADDLE_LOG_LEVEL"]],
    )
    pod: Pod = Field(
        Pod(),
        description="Settings of all pods: metadata, identity and security.",
        examples=[{"serviceAccount": "trainer", "security": "restricted"}],
    )
    trainers: Trainers = Field(
        Trainers(),
        description="Replicas that train. Every mode has trainers.",
        examples=[{"replicas": 4}],
    )
    pservers: Pservers | None = Field(
        None,
        description="Replicas that hold the parameters, in modes ps and legacy.",
        examples=[{"replicas": 2}],
    )
    roles: dict[RoleKey, Role] = Field(
        {},
        description="Further roles by name, such as an evaluator or a model server. They do not "
        "train: the trainers decide when the job ends, and the other roles are stopped.",
        examples=[{"evaluator": {"command": "python evaluate.py"}}],
    )
    legacy: Legacy | None = Field(
        None, description="Settings of mode legacy.", examples=[{"topology": "conf.py"}]
    )
    volumes: list[Volume] = Field(
        [],
        description="Volumes mounted in every replica.",
        examples=[[{"name": "home", "mountPath": "/home/alice", "claim": "alice-home"}]],
    )
    sidecars: list[Sidecar] = Field(
        [],
        description="Containers that run beside the command of every replica, and stop with it.",
        examples=[[{"name": "exporter", "image": "team/exporter:1.0"}]],
    )
    workspace: AbsolutePath | None = Field(
        None,
        description="Folder on a volume. Contains jobs/NAME/source and jobs/NAME/output.",
        examples=["/pfs/dc1/home/alice"],
    )
    input: AbsolutePath | None = Field(
        None,
        description="Folder of the training data, on a volume. Available as PADDLESPEC_INPUT.",
        examples=["/pfs/dc1/public/data"],
    )
    output: AbsolutePath | None = Field(
        None,
        description="Folder for results, on a volume. Available as PADDLESPEC_OUTPUT. Defaults to "
        "jobs/NAME/output in the workspace.",
        examples=["/pfs/dc1/home/alice/output"],
    )
    output_policy: Literal["refuse", "reuse", "clear"] = Field(
        "refuse",
        description="What a run does if the output folder is not empty.",
        examples=["refuse"],
        json_schema_extra=described(
            refuse="The run fails before it starts.",
            reuse="The run keeps existing files, for example to resume from a checkpoint.",
            clear="The run deletes existing files.",
        ),
    )
    logs: AbsolutePath | None = Field(
        None,
        description="Folder on a volume for the logs that Paddle's launcher writes for each process, "
        "in mode collective. Every replica has its own folder in it. Defaults to a folder that is "
        "lost with the replica.",
        examples=["/pfs/dc1/home/alice/logs"],
    )
    network: Network = Field(
        Network(),
        description="Network of the replicas, their ports, and RDMA.",
        examples=[{"host": True}],
    )
    scheduling: Scheduling = Field(
        Scheduling(), description="Queue and scheduler.", examples=[{"queue": "ads"}]
    )
    policy: Policy = Field(
        Policy(), description="Timeout, retries, retention.", examples=[{"timeout": "12h"}]
    )
    target: Text = Field(
        "kubernetes",
        description="Platform to render for: kubernetes, jobset, local, or one that a package adds. "
        "Overridden by --target.",
        examples=["kubernetes"],
    )
    patches: list[Patch] = Field(
        [],
        description="Changes to the rendered objects.",
        examples=[[{"target": {"kind": "Job"}, "patch": {"spec": {"backoffLimit": 1}}}]],
    )


class Job(Model):
    """One training job: the effective document after all layers."""

    api_version: Literal["paddlespec.io/v1"] = Field(
        description="Version of the spec format.", examples=["paddlespec.io/v1"]
    )
    kind: Literal["PaddleJob"] = Field(description="Kind of the document.", examples=["PaddleJob"])
    metadata: Metadata = Field(description="Name and labels.", examples=[{"name": "fit-a-line"}])
    spec: Spec = Field(
        description="What runs, and how.",
        examples=[{"mode": "collective", "image": "team/train:1.0"}],
    )
