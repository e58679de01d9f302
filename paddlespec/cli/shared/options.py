"""
Options that commands share, each defined once, and bundles of them.

A command takes a bundle as one keyword-only parameter; see `paddlespec.cli.lazy`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from paddlespec.backends.protocols import Request
from paddlespec.cli.shared.output import foreign_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.pipeline import Choices

Context = Annotated[
    str | None,
    typer.Option("--context", metavar="NAME", help="Use this context of the kubeconfig."),
]
Kubeconfig = Annotated[
    str | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Use this kubeconfig [default: $KUBECONFIG, then ~/.kube/config].",
    ),
]
Datacenter = Annotated[
    str | None,
    typer.Option(
        "--datacenter", metavar="NAME", help="Use this datacenter of the project or your own."
    ),
]
TemplatesFolder = Annotated[
    str | None,
    typer.Option(
        "--templates", metavar="DIR", help="Use templates in DIR instead of the bundled ones."
    ),
]
NoColor = Annotated[bool, typer.Option("--no-color", help="Print plain text even on a terminal.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print only results and errors.")]
Timeout = Annotated[
    str | None,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        help="Give up after this long, such as 5m [default: never].",
    ),
]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask for confirmation.")]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Replace a job whose spec changed, even while it runs."),
]
Prune = Annotated[
    bool | None,
    typer.Option(
        "--prune/--no-prune",
        help="Delete objects the spec no longer renders [default: yes]. With --prune, also delete "
        "jobs whose spec files were deleted from the given folders.",
        show_default=False,
    ),
]
Rerun = Annotated[bool, typer.Option("--rerun", help="Run a finished job again.")]
ForceUnlock = Annotated[
    bool,
    typer.Option("--force-unlock", help="Take over the lock of a job, even from a live holder."),
]
IgnoreNotFound = Annotated[
    bool, typer.Option("--ignore-not-found", help="Succeed if the job does not exist.")
]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="Return at once; do not wait for the pods to end.")
]
Role = Annotated[
    str | None,
    typer.Option("--role", metavar="ROLE", help="Role of the replica, such as trainers."),
]
Index = Annotated[
    int | None, typer.Option("--index", metavar="I", min=0, help="Index of the replica, from 0.")
]

JOB = "NAME|PATH"
JOB_HELP = "Name of a job, or path of its spec. A path contains / or ends in .yaml."
UsualJob = Annotated[
    str | None,
    typer.Argument(
        metavar=f"[{JOB}]", help=f"{JOB_HELP} [default: paddlejob.yaml here, or the only job]"
    ),
]
File = Annotated[
    str | None,
    typer.Option("-f", "--file", metavar="FILE", help="Another way to give a PATH."),
]


class Job(NamedTuple):
    """The job a command is about."""

    name: UsualJob = None
    file: File = None


class Specs(NamedTuple):
    """The specs a command works on."""

    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH...]",
            help="Specs, or folders with specs; - reads stdin [default: paddlejob.yaml here].",
            show_default=False,
        ),
    ] = None
    file: Annotated[
        list[str] | None,
        typer.Option("-f", "--file", metavar="FILE", help="Another way to give a PATH."),
    ] = None

    @property
    def given(self) -> list[str]:
        """Every path, however it was given."""
        return [*(self.paths or ()), *(self.file or ())]


class Jobs(NamedTuple):
    """The jobs a command works on."""

    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|PATH...",
            help="Names of jobs, or paths of specs. A path contains / or ends in .yaml.",
        ),
    ] = None
    file: Annotated[
        list[str] | None,
        typer.Option("-f", "--file", metavar="FILE", help="Another way to give a PATH."),
    ] = None


class Layers(NamedTuple):
    """What the command line merges over a spec."""

    overlay: Annotated[
        list[str] | None,
        typer.Option("--overlay", metavar="FILE", help="Merge FILE over the spec; repeatable."),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="Apply this profile of the spec."),
    ] = None
    update: Annotated[
        list[str] | None,
        typer.Option(
            "-u",
            "--update",
            metavar="KEY=VALUE",
            help="Set a value, such as trainers.replicas=8. KEY+=VALUE appends, KEY- removes; "
            "repeatable.",
        ),
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="NAME",
            help="Use this target: kubernetes, jobset, or local for this machine [default: from the spec].",
        ),
    ] = None
    datacenter: Datacenter = None
    allow_outside: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-outside",
            metavar="DIR",
            help="Let specs read files in DIR, outside their git repository; repeatable.",
        ),
    ] = None

    def choices(self, more_updates: Sequence[str] = ()) -> Choices:
        """The layers as the pipeline takes them."""
        from paddlespec.pipeline import Choices

        return Choices(
            tuple(self.overlay or ()),
            self.profile,
            (*(self.update or ()), *more_updates),
            self.target,
            self.datacenter,
            tuple(self.allow_outside or ()),
        )


class JobPlace(NamedTuple):
    """Where a job that is given by name runs."""

    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="NAME",
            help="Look at this target: local is this machine, kubernetes the cluster.",
        ),
    ] = None
    datacenter: Datacenter = None


class Cluster(NamedTuple):
    """Which cluster and namespace."""

    context: Context = None
    namespace: Annotated[
        str | None,
        typer.Option("-n", "--namespace", metavar="NAME", help="Use this namespace."),
    ] = None
    kubeconfig: Kubeconfig = None

    def request(
        self,
        deadline: float | None = None,
        rehearsal: Rehearsal | None = None,
        *,
        attached: bool = False,
    ) -> Request:
        """What a backend needs to know of the command line."""
        options = {"--context": self.context, "--kubeconfig": self.kubeconfig}
        given = {name: (value,) for name, value in options.items() if value is not None}
        more = rehearsal.options if rehearsal else {}
        return Request(self.namespace, deadline, attached, {**given, **more}, foreign_note)


class Rehearsal(NamedTuple):
    """How a job runs on this machine."""

    scale: Annotated[
        list[str] | None,
        typer.Option(
            "--scale",
            metavar="ROLE=N,...",
            help="Local target: run this many replicas, such as trainers=2,pservers=1.",
        ),
    ] = None
    mount: Annotated[
        list[str] | None,
        typer.Option(
            "--mount", metavar="PATH=DIR", help="Local target: use DIR for the mount at PATH."
        ),
    ] = None
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="FILE", help="Local target: run with this Python."),
    ] = None
    cpu_only: Annotated[
        bool, typer.Option("--cpu-only", help="Local target: run without the requested GPUs.")
    ] = False
    in_image: Annotated[
        bool, typer.Option("--in-image", help="Local target: run in the spec's image, with podman.")
    ] = False

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """What was given, by long name."""
        values = {
            "--scale": tuple(self.scale or ()),
            "--mount": tuple(self.mount or ()),
            "--python": () if self.python is None else (self.python,),
            "--cpu-only": ("",) if self.cpu_only else (),
            "--in-image": ("",) if self.in_image else (),
        }
        return {name: value for name, value in values.items() if value}
