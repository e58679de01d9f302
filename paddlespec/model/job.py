"""The spec: one training job."""

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
    Scalar,
    Text,
    described,
)
from paddlespec.model.role import Command, Env, Pservers, Trainers
from paddlespec.model.run import Legacy, Package, Patch, Policy, Scheduling
from paddlespec.model.volume import Volume

Mode = Literal["collective", "ps", "legacy", "parallel"]


class Metadata(Model):
    """What the job is called and where it belongs."""

    name: JobName = Field(
        description="Name of the job and of its objects.", examples=["fit-a-line"]
    )
    namespace: Label | None = Field(
        None, description="Namespace; the connection's own when absent.", examples=["ads"]
    )
    labels: Labels = Field({}, description="Labels of every object.", examples=[{"team": "ads"}])
    annotations: Annotations = Field(
        {}, description="Annotations of every object.", examples=[{"example.com/owner": "ads"}]
    )


class Spec(Model):
    """What runs."""

    mode: Mode = Field(
        description="How the replicas work together. collective: all-reduce through "
        "paddle.distributed.launch; ps: trainers and parameter servers; legacy: Paddle v1 and v2 "
        "(PADDLE_INIT_*); parallel: independent replicas.",
        examples=["collective"],
        json_schema_extra=described(
            collective="All-reduce between equal trainers, through paddle.distributed.launch.",
            ps="Trainers and parameter servers (fleet).",
            legacy="Paddle v1 and v2, configured by PADDLE_INIT_*.",
            parallel="Independent replicas: sharding jobs, tools.",
        ),
    )
    image: Text = Field(description="Container image.", examples=["paddlepaddle/paddle:2.6.2"])
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        None, description="When the node pulls the image.", examples=["IfNotPresent"]
    )
    registry: ObjectName | None = Field(
        None, description="Name of the pull secret for the image.", examples=["team-registry"]
    )
    package: Package | None = Field(
        None,
        description="The user's code; when absent it is in the image.",
        examples=[{"path": "."}],
    )
    setup: list[Text] = Field(
        [],
        description="Shell commands before the main one, in its container.",
        examples=[["pip install -e ."]],
    )
    teardown: list[Text] = Field(
        [],
        description="Shell commands after the main one, also when it fails.",
        examples=[["cp -r log /output"]],
    )
    command: Command | None = Field(
        None,
        description="What every replica runs: a string goes to the shell, a list is executed as "
        "it is. Never rewritten.",
        examples=["python train.py", ["python", "train.py"]],
    )
    workdir: AbsolutePath = Field(
        "/workspace", description="Working directory of the command.", examples=["/workspace"]
    )
    parameters: dict[ParameterName, Scalar | None] = Field(
        {},
        description="Values for `${{ parameters.NAME }}`; null must be supplied by a layer.",
        examples=[{"passes": 10}],
    )
    env: Env = Field(
        {},
        description="Variables of every replica.",
        examples=[{"LOG_LEVEL": "info", "TOKEN": {"secret": "team-token", "key": "token"}}],
    )
    allow_managed_env: list[EnvName] = Field(
        [],
        description="Managed variables that this spec may set all the same.",
        examples=[["PADDLE_LOG_LEVEL"]],
    )
    trainers: Trainers = Field(
        Trainers(),
        description="The replicas that train; every mode has them.",
        examples=[{"replicas": 4}],
    )
    pservers: Pservers | None = Field(
        None,
        description="The replicas that hold the parameters; modes ps and legacy.",
        examples=[{"replicas": 2}],
    )
    legacy: Legacy | None = Field(
        None, description="Settings of mode legacy.", examples=[{"topology": "conf.py"}]
    )
    volumes: list[Volume] = Field(
        [],
        description="Mounts of every replica.",
        examples=[[{"name": "home", "mountPath": "/home/alice", "claim": "alice-home"}]],
    )
    workspace: AbsolutePath | None = Field(
        None,
        description="Folder on a mount; gives jobs/NAME/source and jobs/NAME/output below it.",
        examples=["/pfs/dc1/home/alice"],
    )
    input: AbsolutePath | None = Field(
        None,
        description="Folder with the training data, on a mount; PADDLESPEC_INPUT.",
        examples=["/pfs/dc1/public/data"],
    )
    output: AbsolutePath | None = Field(
        None,
        description="Folder for results, on a mount; PADDLESPEC_OUTPUT. jobs/NAME/output of the "
        "workspace when absent.",
        examples=["/pfs/dc1/home/alice/output"],
    )
    output_policy: Literal["refuse", "reuse", "clear"] = Field(
        "refuse",
        description="What a run does when the output folder is not empty.",
        examples=["refuse"],
        json_schema_extra=described(
            refuse="The run fails before it starts.",
            reuse="The run writes beside what is there, to go on from a checkpoint.",
            clear="The run removes what is there.",
        ),
    )
    scheduling: Scheduling = Field(
        Scheduling(), description="Queue and scheduler.", examples=[{"queue": "ads"}]
    )
    policy: Policy = Field(
        Policy(), description="Timeout, retries, retention.", examples=[{"timeout": "12h"}]
    )
    target: Text = Field(
        "kubernetes",
        description="How the job becomes objects; --target wins.",
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
        description="Version of the spec.", examples=["paddlespec.io/v1"]
    )
    kind: Literal["PaddleJob"] = Field(description="Kind of the document.", examples=["PaddleJob"])
    metadata: Metadata = Field(description="Name and labels.", examples=[{"name": "fit-a-line"}])
    spec: Spec = Field(
        description="What runs, and how.",
        examples=[{"mode": "collective", "image": "team/train:1.0"}],
    )
