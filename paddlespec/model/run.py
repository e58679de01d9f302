"""How a job is packaged, scheduled, retained and patched."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from paddlespec.model.base import (
    WHOLE,
    Duration,
    Label,
    Model,
    Object,
    ObjectName,
    RoleKey,
    Text,
    described,
)


class Package(Model):
    """The user's code and its delivery to the replicas."""

    path: Text = Field(
        ".",
        description="Folder of the code, relative to the spec. An absolute path names code on a "
        "volume, which is not delivered.",
        examples=[".", "/pfs/dc1/home/alice/code"],
    )
    into: Text = Field(
        ".",
        description="Folder in `workdir` (default: /workspace) that receives the code.",
        examples=["demo"],
    )
    exclude: list[Text] = Field(
        [],
        description="Patterns of files to leave out, in .gitignore syntax. Adds to .gitignore and "
        ".paddleignore; .git is always left out.",
        examples=[["data/**"]],
    )
    requirements: Text | None = Field(
        None,
        description="Requirements file in the package. Defaults to requirements.txt, if present.",
        examples=["requirements.txt"],
    )
    pip: list[Text] = Field(
        [], description="Additional packages to install.", examples=[["visualdl==2.5.3"]]
    )
    python: Text = Field(
        "python", description="Python interpreter in the image.", examples=["python3.10"]
    )
    delivery: Literal["auto", "configmap", "volume", "image", "git"] = Field(
        "auto",
        description="How to deliver the code. auto: not at all if `path` is absolute, otherwise "
        "configmap.",
        examples=["auto"],
        json_schema_extra=described(
            auto="Not delivered if path is absolute, otherwise configmap.",
            configmap="In ConfigMaps, unpacked before the command; limited to 1 MiB.",
            volume="Copied to a volume. Not available yet.",
            image="Built into an image. Not available yet.",
            git="Cloned from the repository. Not available yet.",
        ),
    )


class Legacy(Model):
    """Settings of mode legacy: Paddle v1 and v2."""

    topology: Text | None = Field(
        None, description="Config file of a v1 job for `paddle train`.", examples=["conf.py"]
    )
    train_list: Text | None = Field(
        None, description="File that lists the training data of a v1 job.", examples=["train.list"]
    )
    ports: Annotated[int, Field(ge=1, le=64), WHOLE] = Field(
        1, description="Ports per pserver for dense parameters.", examples=[1]
    )
    sparse_ports: Annotated[int, Field(ge=0, le=64), WHOLE] = Field(
        1, description="Ports per pserver for sparse parameters.", examples=[1]
    )


class Scheduling(Model):
    """The queue and scheduler of the job."""

    queue: Label | None = Field(None, description="Name of the queue.", examples=["ads"])
    priority: ObjectName | None = Field(
        None, description="Name of a PriorityClass.", examples=["normal"]
    )
    gang: bool = Field(False, description="Start all replicas together, or none.", examples=[True])
    scheduler: Literal["default", "kueue", "volcano"] = Field(
        "default",
        description="Scheduler that admits the job.",
        examples=["kueue"],
        json_schema_extra=described(
            default="Default scheduler of the cluster.",
            kueue="Kueue, which starts the job when its queue has quota.",
            volcano="Volcano, with a PodGroup.",
        ),
    )


class Policy(Model):
    """What happens if the job takes too long, fails, finishes or changes."""

    timeout: Duration | None = Field(
        None, description="Maximum run time. A job that exceeds it fails.", examples=["12h"]
    )
    retries: Annotated[int, Field(ge=0, le=100), WHOLE] = Field(
        0, description="Maximum restarts of the whole job after a failure.", examples=[2]
    )
    keep_finished: Duration | None = Field(
        None,
        description="How long to keep the finished job in the cluster. Defaults to 7d; with "
        "pservers or further roles on plain Kubernetes to 1h, because they run until then unless a "
        "client waits for the job.",
        examples=["7d"],
    )
    when_changed: Literal["refuse", "replace-finished", "replace-running"] = Field(
        "replace-finished",
        description="What `apply` does if the spec changed and the job must be replaced.",
        examples=["replace-finished"],
        json_schema_extra=described(
            **{
                "refuse": "Never replace the job; delete it first.",
                "replace-finished": "Replace a finished job, but not a running one.",
                "replace-running": "Stop and replace a running job.",
            }
        ),
    )


class PatchCondition(Model):
    """The condition for applying a patch."""

    target: Text | None = Field(
        None, description="Apply only for this target.", examples=["kubernetes"]
    )


class PatchTarget(Model):
    """Selects the rendered objects to patch. All fields that are set must match."""

    kind: Text | None = Field(None, description="Kind of the object.", examples=["Job"])
    name: Text | None = Field(None, description="Name of the object.", examples=["fit-a-line"])
    role: RoleKey | None = Field(None, description="Role of the object.", examples=["trainers"])


class Operation(Model):
    """One operation of a JSON patch (RFC 6902)."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"] = Field(
        description="Operation to perform.", examples=["replace"]
    )
    path: str = Field(description="JSON pointer to the value.", examples=["/spec/backoffLimit"])
    value: Any = Field(None, description="Value to add, replace or test.", examples=[3])
    from_: str | None = Field(
        None,
        alias="from",
        description="JSON pointer to the source of a move or copy.",
        examples=["/a"],
    )


class Patch(Model):
    """A change to rendered objects, for fields the spec does not cover."""

    when: PatchCondition = Field(
        PatchCondition(),
        description="Condition for applying the patch. If unset, it always applies.",
        examples=[{"target": "kubernetes"}],
    )
    target: PatchTarget = Field(
        description="Objects to patch.", examples=[{"kind": "Job", "role": "trainers"}]
    )
    patch: Object | Annotated[list[Operation], Field(min_length=1)] = Field(
        description="A mapping is a strategic merge patch (a JSON merge patch for custom "
        "resources); a list is a JSON patch.",
        examples=[{"spec": {"template": {"spec": {"priorityClassName": "high"}}}}],
    )
