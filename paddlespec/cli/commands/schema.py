"""`schema`: JSON schemas of specs and outputs."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop


def schema(
    which: Annotated[
        str,
        typer.Argument(
            metavar="[source|effective|project|config|output/NAME]",
            help="source: one file; effective: all layers merged; project: .paddlespec.yaml; "
            "config: your own configuration; output/NAME: what a command prints with -o json "
            "[default: source].",
            show_default=False,
        ),
    ] = "source",
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write to FILE, not to stdout.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Print the names of all schemas.")] = False,
) -> int:
    """
    Print the JSON schema of specs, or of an output.

    Changes nothing, and contacts no cluster. Editors use the schema to complete and check specs.

    \b
    paddlespec schema
    paddlespec schema effective
    paddlespec schema project --out paddlespec.v1.json
    paddlespec schema output/jobs
    """
    from paddlespec.bundled import text

    files = known()
    if listed:
        write.lines(files)
        return Exit.done
    if which not in files:
        from paddlespec.diagnostic import did_you_mean

        hint = did_you_mean(which, files) or "list all with: paddlespec schema --list"
        raise Stop(Exit.usage, f'unknown schema "{which}"', hint)
    content = text("schemas", *files[which])
    if out is None:
        write.data(content)
        return Exit.done
    from paddlespec.cli.shared.write_files import write_all

    write_all({out: content.encode()})
    return Exit.done


def known() -> dict[str, tuple[str, ...]]:
    """The path of each bundled schema by the name users give."""
    import os

    from paddlespec.bundled import bundled
    from paddlespec.spec.gate import CONFIG, EFFECTIVE, PROJECT, SOURCE

    own = {"source": SOURCE, "effective": EFFECTIVE, "project": PROJECT, "config": CONFIG}
    files = os.listdir(bundled("schemas", "output"))
    outputs = sorted(file.removesuffix(".v1.json") for file in files)
    return {
        **{name: (file,) for name, file in own.items()},
        **{f"output/{name}": ("output", f"{name}.v1.json") for name in outputs},
    }
