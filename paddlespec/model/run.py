"""How a job is packed, scheduled and kept."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import Field

from paddlespec.model.base import WHOLE, Duration, Label, Model, Object, ObjectName, Text, described


class Package(Model):
    """The user's code, and how it gets into the replicas."""

    path: Text = Field(
        ".",
        description="Folder relative to the spec; an absolute path on a declared mount is already "
        "there and nothing travels.",
        examples=[".", "/pfs/dc1/home/alice/code"],
    )
    into: Text = Field(
        ".", description="Folder below `workdir` that receives the code.", examples=["demo"]
    )
    exclude: list[Text] = Field(
        [],
        description="Patterns of files that stay behind, as in .gitignore; besides .gitignore and "
        ".paddleignore. .git never travels.",
        examples=[["data/**"]],
    )
    requirements: Text | None = Field(
        None,
        description="Requirements file inside the package; requirements.txt is found by itself.",
        examples=["requirements.txt"],
    )
    pip: list[Text] = Field(
        [], description="Further packages to install.", examples=[["visualdl==2.5.3"]]
    )
    python: Text = Field(
        "python", description="Interpreter inside the image.", examples=["python3.10"]
    )
    delivery: Literal["auto", "configmap", "volume", "image", "git"] = Field(
        "auto",
        description="How the code travels. auto: already there when `path` is absolute, else "
        "configmap for small packages.",
        examples=["auto"],
        json_schema_extra=described(
            auto="Already there when path is absolute, else configmap.",
            configmap="In ConfigMaps, unpacked before the command; up to 1 MiB.",
            volume="Copied to a volume.",
            image="Built into an image.",
            git="Cloned from the repository.",
        ),
    )


class Legacy(Model):
    """Settings of mode legacy: Paddle v1 and v2."""

    topology: Text | None = Field(
        None, description="Config file of a v1 job, run by `paddle train`.", examples=["conf.py"]
    )
    train_list: Text | None = Field(
        None, description="File that lists the training data of a v1 job.", examples=["train.list"]
    )
    ports: Annotated[int, Field(ge=1, le=64), WHOLE] = Field(
        1, description="Ports of each pserver for dense parameters.", examples=[1]
    )
    sparse_ports: Annotated[int, Field(ge=0, le=64), WHOLE] = Field(
        1, description="Ports of each pserver for sparse parameters.", examples=[1]
    )


class Scheduling(Model):
    """Which queue and scheduler the job goes through."""

    queue: Label | None = Field(None, description="Queue of the scheduler.", examples=["ads"])
    priority: ObjectName | None = Field(
        None, description="Name of a PriorityClass.", examples=["normal"]
    )
    gang: bool = Field(False, description="Start all replicas together or none.", examples=[True])
    scheduler: Literal["default", "kueue", "volcano"] = Field(
        "default",
        description="Who admits the job.",
        examples=["kueue"],
        json_schema_extra=described(
            default="The cluster's own scheduler.",
            kueue="Kueue, by its queue label; it starts the job when there is quota.",
            volcano="Volcano, with a PodGroup.",
        ),
    )


class Policy(Model):
    """What happens when the job takes long, fails, ends or changes."""

    timeout: Duration | None = Field(
        None, description="The job fails when it runs longer.", examples=["12h"]
    )
    retries: Annotated[int, Field(ge=0, le=100), WHOLE] = Field(
        0, description="How often the whole job is restarted after a failure.", examples=[2]
    )
    keep_finished: Duration | None = Field(
        None,
        description="How long the finished job stays in the cluster. 7d when absent; 1h in modes "
        "with pservers on plain Kubernetes, which run until then when no client waits.",
        examples=["7d"],
    )
    when_changed: Literal["refuse", "replace-finished", "replace-running"] = Field(
        "replace-finished",
        description="What apply does with a job whose spec changed.",
        examples=["replace-finished"],
        json_schema_extra=described(
            **{
                "refuse": "Nothing happens until the job is deleted.",
                "replace-finished": "A finished job is replaced, a running one is left alone.",
                "replace-running": "A running job is stopped and replaced.",
            }
        ),
    )


class PatchCondition(Model):
    """When a patch applies."""

    target: Text | None = Field(None, description="Only for this target.", examples=["kubernetes"])


class PatchTarget(Model):
    """Which rendered objects a patch applies to; every field given must match."""

    kind: Text | None = Field(None, description="Kind of the object.", examples=["Job"])
    name: Text | None = Field(None, description="Name of the object.", examples=["fit-a-line"])
    role: Literal["trainers", "pservers"] | None = Field(
        None, description="Role that the object runs.", examples=["trainers"]
    )


class Operation(Model):
    """One operation of a JSON patch (RFC 6902)."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"] = Field(
        description="What to do.", examples=["replace"]
    )
    path: str = Field(description="JSON pointer of the place.", examples=["/spec/backoffLimit"])
    value: Any = Field(None, description="Value to add, replace or test.", examples=[3])
    from_: str | None = Field(
        None,
        alias="from",
        description="JSON pointer of the source of a move or copy.",
        examples=["/a"],
    )


class Patch(Model):
    """A change to rendered objects: the escape hatch."""

    when: PatchCondition = Field(
        PatchCondition(),
        description="When it applies; always when absent.",
        examples=[{"target": "kubernetes"}],
    )
    target: PatchTarget = Field(
        description="Which objects it applies to.", examples=[{"kind": "Job", "role": "trainers"}]
    )
    patch: Union[Object, Annotated[list[Operation], Field(min_length=1)]] = Field(
        description="A mapping merges (strategic merge; JSON merge for custom resources), a list "
        "is a JSON patch.",
        examples=[{"spec": {"template": {"spec": {"priorityClassName": "high"}}}}],
    )
