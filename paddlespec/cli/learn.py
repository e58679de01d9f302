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
            metavar="[source|effective|project|config|output/NAME]",
            help="source: one file; effective: after all layers; project: .paddlespec.yaml; "
            "config: your own; output/NAME: what a command prints with -o json.",
        ),
    ] = "source",
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write it to FILE.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="The names of all schemas.")] = False,
) -> int:
    """
    Print the JSON schema of specs, or of what a command prints with -o json.

    \b
    paddlespec schema
    paddlespec schema effective
    paddlespec schema project --out paddlespec.v1.json
    paddlespec schema output/jobs
    """
    from paddlespec.resources import text

    files = _schemas()
    if listed:
        sys.stdout.write("".join(f"{each}\n" for each in files))
        return Exit.done
    if which not in files:
        from paddlespec.diagnostic import did_you_mean

        hint = did_you_mean(which, files) or "all names: paddlespec schema --list"
        raise Stop(Exit.usage, f'no schema is called "{which}"', hint)
    content = text("schemas", *files[which])
    if out is None:
        sys.stdout.write(content)
        return Exit.done
    from paddlespec.cli.write import write_all

    write_all({out: content.encode()})
    return Exit.done


def _schemas() -> dict[str, tuple[str, ...]]:
    """The path of each bundled schema by the name that people give."""
    import os

    from paddlespec.gate import CONFIG, EFFECTIVE, PROJECT, SOURCE
    from paddlespec.resources import bundled

    own = {"source": SOURCE, "effective": EFFECTIVE, "project": PROJECT, "config": CONFIG}
    files = os.listdir(bundled("schemas", "output"))
    outputs = sorted(each.removesuffix(".v1.json") for each in files)
    return {
        **{name: (file,) for name, file in own.items()},
        **{f"output/{each}": ("output", f"{each}.v1.json") for each in outputs},
    }


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
