"""The commands and their options; what they do stands beside."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from paddlespec.cli import (
    cluster,
    compare,
    config,
    forward,
    get,
    inside,
    learn,
    logs,
    options,
    registry,
    shell,
    status,
    verbose,
    version,
    wait,
    write,
)
from paddlespec.cli.exits import Exit, Stop

app = typer.Typer(
    name="paddlespec",
    help="Declarative job specs for distributed PaddlePaddle training: one reviewed file per job, "
    "validated, previewed, rendered and applied to Kubernetes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

_EARLIER = {
    "submit": "apply",
    "train": "apply",
    "sub": "apply",
    "cancel": "kill",
    "stop": "kill",
    "list": "get jobs",
    "jobs": "get jobs",
    "history": "get history",
}


def main() -> int:
    """Run the command line; usage errors become `Stop` with the usual code."""
    if len(sys.argv) > 1 and sys.argv[1] in _EARLIER:
        message = f"there is no `{sys.argv[1]}` here"
        raise Stop(Exit.usage, message, f"today it is `paddlespec {_EARLIER[sys.argv[1]]}`")
    try:
        code = command()(standalone_mode=False, prog_name="paddlespec")
    except Exception as error:
        # Typer vendors its option parser in some versions and not in others; what all usage
        # errors have is how they show themselves.
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        return Exit.usage
    return code if isinstance(code, int) else Exit.done


def command() -> Any:
    """The whole command line, as its parser knows it."""
    return verbose.add_to(typer.main.get_command(app))


def _version(wanted: bool) -> None:
    if wanted:
        from paddlespec import __version__

        typer.echo(f"paddlespec {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Options before the command."""


def _one_of(value: str, known: tuple[str, ...], option: str) -> str:
    if value not in known:
        raise Stop(Exit.usage, f"{option} {value}: expected one of {', '.join(known)}")
    return value


@app.command()
def validate(
    paths: options.Paths = None,
    file: options.File = None,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    target: options.Target = None,
    datacenter: options.Datacenter = None,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="text|json|github|sarif", help="Form of the findings."
        ),
    ] = "text",
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Report everything that is wrong with specs, each finding at its word.

    Folders are walked for specs. Exits with 1 when there are errors; contacts no cluster.

    \b
    paddlespec validate paddlejob.yaml
    paddlespec validate examples/ -o github
    paddlespec validate paddlejob.yaml --overlay prod.yaml --profile smoke
    """
    from paddlespec.cli import spec
    from paddlespec.cli.session import choices, given

    _one_of(output, ("text", "json", "github", "sarif"), "-o")
    chosen = choices(overlay, profile, update, target, datacenter)
    return spec.validate(given(paths, file), chosen, output, no_color=no_color, quiet=quiet)


@app.command()
def render(
    paths: options.Paths = None,
    file: options.File = None,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    target: options.Target = None,
    datacenter: options.Datacenter = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="yaml|json|spec", help="Form of the output.")
    ] = "yaml",
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="DIR", help="Write one file per object; stale ones are removed."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="With --out: write nothing, exit with 1 if stale.")
    ] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="For people: what runs, totals, environment.")
    ] = False,
    feasibility: Annotated[
        bool,
        typer.Option("--feasibility", help="With --preview: ask the cluster whether it fits now."),
    ] = False,
    show_origin: Annotated[
        bool, typer.Option("--show-origin", help="Name the layer and line behind each value.")
    ] = False,
    templates: options.TemplatesFolder = None,
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Write the Kubernetes manifests of specs; contacts no cluster but with --feasibility.

    The same files and flags give the same bytes on every machine.

    \b
    paddlespec render paddlejob.yaml
    paddlespec render paddlejob.yaml --preview -u trainers.replicas=8
    paddlespec render paddlejob.yaml --preview --datacenter dc1 --feasibility
    paddlespec render jobs/ --out manifests/ --check
    paddlespec render paddlejob.yaml -o spec --overlay prod.yaml
    """
    from paddlespec.cli import spec
    from paddlespec.cli.session import choices, given

    _one_of(output, ("yaml", "json", "spec"), "-o")
    if check and not out:
        raise Stop(Exit.usage, "--check needs --out DIR")
    if feasibility and (show_origin or not preview):
        raise Stop(Exit.usage, "--feasibility needs --preview, and no --show-origin")
    if out == "":
        raise Stop(Exit.usage, "--out names no folder")
    chosen = choices(overlay, profile, update, target, datacenter)
    wanted = given(paths, file)
    if preview or show_origin:
        from paddlespec.cli import preview as shown

        if show_origin:
            return shown.show_origin(wanted, chosen, no_color=no_color)
        return shown.preview(
            wanted, chosen, templates=templates, no_color=no_color, feasibility=feasibility
        )
    if out is not None:
        return spec.render_to_folder(
            wanted,
            chosen,
            out,
            check=check,
            templates=templates,
            no_color=no_color,
            quiet=quiet,
        )
    return spec.render(wanted, chosen, output, templates=templates, no_color=no_color, quiet=quiet)


app.command()(write.init)
app.command("set")(write.set_values)
app.command()(learn.schema)
app.command()(learn.explain)
app.command()(compare.diff)
app.command()(cluster.apply)
app.command()(cluster.kill)
app.command()(cluster.delete)
app.command()(logs.logs)
app.command("exec")(inside.execute)
app.command(cls=shell.Split)(shell.shell)
app.command("port-forward")(forward.port_forward)
app.command()(status.status)
app.command()(wait.wait)
app.command()(version.version)
app.add_typer(get.group)
app.add_typer(config.group)
app.add_typer(registry.group)
