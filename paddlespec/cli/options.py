"""The options that commands share, each said once."""

from __future__ import annotations

from typing import Annotated

import typer

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH...", help="Specs, or folders of specs; - reads stdin."),
]
File = Annotated[
    list[str] | None,
    typer.Option("-f", "--file", metavar="FILE", help="Another way to give a PATH."),
]
Overlay = Annotated[
    list[str] | None,
    typer.Option("--overlay", metavar="FILE", help="Merge FILE over the spec."),
]
Profile = Annotated[
    str | None,
    typer.Option("--profile", metavar="NAME", help="Use this profile."),
]
Update = Annotated[
    list[str] | None,
    typer.Option(
        "-u",
        "--update",
        metavar="KEY=VALUE",
        help="Set one value, such as trainers.replicas=8; KEY+=VALUE appends, KEY- removes.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", metavar="NAME", help="Render for this target."),
]
Datacenter = Annotated[
    str | None,
    typer.Option("--datacenter", metavar="NAME", help="Datacenter of the project file."),
]
TemplatesFolder = Annotated[
    str | None,
    typer.Option("--templates", metavar="DIR", help="Templates that replace the bundled ones."),
]
Context = Annotated[
    str | None,
    typer.Option("--context", metavar="NAME", help="Context of the kubeconfig."),
]
Namespace = Annotated[
    str | None,
    typer.Option("-n", "--namespace", metavar="NAME", help="Namespace."),
]
Kubeconfig = Annotated[
    str | None,
    typer.Option("--kubeconfig", metavar="FILE", help="Kubeconfig to use."),
]
NoColor = Annotated[bool, typer.Option("--no-color", help="Plain text, also on a terminal.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Only errors.")]
Timeout = Annotated[
    str | None,
    typer.Option("--timeout", metavar="DURATION", help="Give up after this long, such as 5m."),
]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Replace a job whose spec has changed, even if it runs."),
]
Prune = Annotated[
    bool | None,
    typer.Option(
        "--prune/--no-prune",
        help="Whether objects that are rendered no more go (they do, unless told otherwise). "
        "--prune also looks for jobs whose specs are gone from a folder.",
        show_default=False,
    ),
]
Rerun = Annotated[bool, typer.Option("--rerun", help="Run a finished job again, changed or not.")]
