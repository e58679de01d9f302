"""`explain`: the documentation of a field of the spec."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.values import one_of


def explain(
    field: Annotated[
        str | None,
        typer.Argument(
            metavar="[FIELD]", help="Path of a field, such as trainers.resources [default: all]."
        ),
    ] = None,
    recursive: Annotated[
        bool, typer.Option("--recursive", help="Print the names of all fields below, as a tree.")
    ] = False,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="text|json", help="Output format.")
    ] = "text",
) -> int:
    """
    Describe a spec field: meaning, type, default, children.

    Changes nothing, and contacts no cluster.

    \b
    paddlespec explain
    paddlespec explain trainers.resources
    paddlespec explain spec.volumes --recursive
    """
    from paddlespec.spec import explain as fields

    one_of("-o", output, ("text", "json"))

    path = fields.path_of(field or "")
    if output == "json":
        import json

        data = fields.as_data(path, recursive=recursive)
        write.data(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    else:
        write.text(fields.tree(path) if recursive else fields.text(path))
    return Exit.done
