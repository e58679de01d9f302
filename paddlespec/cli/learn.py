"""`schema` and `explain`: what a spec may say."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from paddlespec.cli.exits import Exit, Stop


def schema(
    which: Annotated[
        str,
        typer.Argument(
            metavar="[source|effective|project|config]",
            help="source: one file; effective: after all layers; project: .paddlespec.yaml; config: your own.",
        ),
    ] = "source",
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write it to FILE.")
    ] = None,
) -> int:
    """
    Print the JSON schema of specs, for editors and other tools.

    \b
    paddlespec schema
    paddlespec schema effective
    paddlespec schema project --out paddlespec.v1.json
    """
    from paddlespec.gate import CONFIG, EFFECTIVE, PROJECT, SOURCE
    from paddlespec.resources import text

    names = {"source": SOURCE, "effective": EFFECTIVE, "project": PROJECT, "config": CONFIG}
    if which not in names:
        raise Stop(Exit.usage, f"{which}: expected one of {', '.join(names)}")
    content = text("schemas", names[which])
    if out is None:
        sys.stdout.write(content)
        return Exit.done
    from paddlespec.cli.write import write_all

    write_all({out: content.encode()})
    return Exit.done


def explain(
    field: Annotated[
        str | None,
        typer.Argument(metavar="[FIELD]", help="Such as trainers.resources; all if absent."),
    ] = None,
    recursive: Annotated[
        bool, typer.Option("--recursive", help="The names of all fields below it, as a tree.")
    ] = False,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="text|json", help="Form of the output.")
    ] = "text",
) -> int:
    """
    Tell what a field of a spec means, what it takes and what is below it.

    \b
    paddlespec explain
    paddlespec explain trainers.resources
    paddlespec explain spec.volumes --recursive
    """
    if output not in ("text", "json"):
        raise Stop(Exit.usage, f"-o {output}: expected one of text, json")
    from paddlespec import explain as fields

    path = fields.path_of(field or "")
    if output == "json":
        import json

        found = fields.as_data(path, recursive=recursive)
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(fields.tree(path) if recursive else fields.text(path))
    return Exit.done
