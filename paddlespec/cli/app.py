"""The command line: every command, and what comes before one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer

from paddlespec.cli.lazy import Group, LazyGroup, filled
from paddlespec.cli.shared.exits import Exit

_CONFIG = Group(
    "Manage datacenters, and your own connections to them.",
    {
        "Look": {
            "list": "config.list:list_datacenters",
            "view": "config.view:view",
            "check": "config.check:check",
        },
        "Change": {
            "use": "config.use:use",
            "add": "config.add:add",
            "delete": "config.delete:delete",
            "set": "config.set:set_values",
            "unset": "config.unset:unset",
            "edit": "config.edit:edit",
            "discover": "config.discover:discover",
            "import": "config.import_:import_file",
        },
    },
)
_GET = Group(
    "Show jobs, their history, and what a place offers.",
    {
        "Jobs": {
            "jobs": "get.jobs:jobs",
            "workers": "get.workers:workers",
            "history": "get.history:history",
            "spec": "get.spec:spec",
        },
        "Places": {
            "resources": "get.resources:resources",
            "quota": "get.quota:quota",
            "queues": "get.queues:queues",
            "storages": "get.storages:storages",
            "registries": "get.registries:registries",
        },
    },
)
_REGISTRY = Group(
    "Manage pull secrets, and look for images in registries.",
    {
        "Commands": {
            "add": "registry.add:add",
            "list": "get.registries:registries",
            "delete": "registry.delete:delete",
            "check": "registry.check:check",
        }
    },
)
ROOT = Group(
    "Declarative job specs for distributed PaddlePaddle training: one reviewed file per job, "
    "validated, previewed, rendered and applied to Kubernetes.",
    {
        "Write specs": {
            "init": "init:init",
            "set": "set:set_values",
            "explain": "explain:explain",
            "schema": "schema:schema",
        },
        "Review specs": {
            "validate": "validate:validate",
            "render": "render:render",
            "diff": "diff:diff",
        },
        "Run jobs": {
            "apply": "apply:apply",
            "wait": "wait:wait",
            "kill": "kill:kill",
            "delete": "delete:delete",
        },
        "Look at jobs": {
            "get": _GET,
            "status": "status:status",
            "logs": "logs:logs",
        },
        "Work inside jobs": {
            "exec": "exec_:execute",
            "shell": "shell:shell",
            "port-forward": "port_forward:port_forward",
        },
        "Set up": {
            "config": _CONFIG,
            "registry": _REGISTRY,
            "completion": "completion:completion",
            "version": "version:version",
            "help": "help:help_",
        },
    },
    # Commands of older clients and of similar tools.
    {
        "submit": "apply",
        "train": "apply",
        "sub": "apply",
        "up": "apply",
        "run": "apply",
        "cancel": "kill",
        "stop": "kill",
        "down": "delete",
        "list": "get jobs",
        "ps": "get jobs",
        "jobs": "get jobs",
        "history": "get history",
        "describe": "status NAME",
        "plan": "diff",
        "preview": "render --preview",
        "lint": "validate",
        "check": "validate",
        "edit": "set",
        "create": "init",
        "new": "init",
    },
)

app = typer.Typer(
    name="paddlespec",
    cls=LazyGroup,
    help=ROOT.help,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main() -> int:
    """Run the command line; usage errors end with the usual exit code."""
    return called()


def called(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with *arguments*, or with those of this process."""
    try:
        code = command()(arguments, standalone_mode=False, prog_name="paddlespec")
    except Exception as error:
        from paddlespec.cli.shared.usage import usage_error

        stop = usage_error(error)
        if stop is None:
            raise
        raise stop from None
    return code if isinstance(code, int) else Exit.done


@cache
def command() -> Any:
    """The whole command line, as its parser knows it."""
    return filled(typer.main.get_command(app), ROOT)


def _print_version(is_given: bool) -> None:
    if is_given:
        from paddlespec import __version__

        typer.echo(f"paddlespec {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options before the command."""
