"""`render`: the manifests of specs, or a preview for people."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import options
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.values import one_of


def render(
    *,
    specs: options.Specs,
    layers: options.Layers,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="yaml|json|spec",
            help="Output format; spec: all layers merged.",
        ),
    ] = "yaml",
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Write one file per object; remove stale files."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="With --out: write nothing, exit with 1 if stale.")
    ] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="Print what runs, totals, environment and endpoints.")
    ] = False,
    feasibility: Annotated[
        bool,
        typer.Option("--feasibility", help="With --preview: ask the cluster whether it fits now."),
    ] = False,
    show_origin: Annotated[
        bool, typer.Option("--show-origin", help="Print the layer and line behind each value.")
    ] = False,
    templates: options.TemplatesFolder = None,
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Print the Kubernetes manifests of specs, or a preview.

    Never contacts a cluster, except with --feasibility; writes files only with --out. The same
    files and options give the same bytes on every machine.

    \b
    paddlespec render paddlejob.yaml
    paddlespec render paddlejob.yaml --preview -u trainers.replicas=8
    paddlespec render paddlejob.yaml --preview --datacenter dc1 --feasibility
    paddlespec render jobs/ --out manifests/ --check
    paddlespec render paddlejob.yaml -o spec --overlay prod.yaml
    """
    from paddlespec.cli.shared import preview as previews
    from paddlespec.cli.shared import render_specs
    from paddlespec.cli.shared.session import required

    one_of("-o", output, ("yaml", "json", "spec"))
    if check and not out:
        raise Stop(Exit.usage, "--check needs --out DIR")
    if feasibility and (show_origin or not preview):
        raise Stop(Exit.usage, "--feasibility needs --preview without --show-origin")
    if out == "":
        raise Stop(Exit.usage, "--out needs the name of a folder")
    paths, chosen = required(specs.given), layers.choices()
    if show_origin:
        return previews.show_origin(paths, chosen, no_color=no_color)
    if preview:
        return previews.preview(
            paths, chosen, templates=templates, no_color=no_color, feasibility=feasibility
        )
    if out is not None:
        return render_specs.render_to_folder(
            *(paths, chosen, out),
            check=check,
            templates=templates,
            no_color=no_color,
            quiet=quiet,
        )
    return render_specs.render(
        paths, chosen, output, templates=templates, no_color=no_color, quiet=quiet
    )
