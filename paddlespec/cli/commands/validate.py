"""`validate`: report everything that is wrong with specs."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import options
from paddlespec.cli.shared.values import one_of


def validate(
    *,
    specs: options.Specs,
    layers: options.Layers,
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="text|json|github|sarif", help="Output format."),
    ] = "text",
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Report every mistake in specs, with file, line and column.

    Searches folders for specs. Never contacts a cluster, and changes nothing. Exits with 1 if
    there are errors.

    \b
    paddlespec validate paddlejob.yaml
    paddlespec validate examples/ -o github
    paddlespec validate paddlejob.yaml --overlay prod.yaml --profile smoke
    """
    from paddlespec.cli.shared import validate_specs
    from paddlespec.cli.shared.session import required

    one_of("-o", output, ("text", "json", "github", "sarif"))
    return validate_specs.validate(
        required(specs.given), layers.choices(), output, no_color=no_color, quiet=quiet
    )
