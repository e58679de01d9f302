"""`version`: of this client, of what it reads, and of the cluster with its extensions."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, cast

import typer

from paddlespec.cli import listing, options
from paddlespec.cli.exits import Exit

if TYPE_CHECKING:
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.places import Engines
    from paddlespec.cluster.client import Client
    from paddlespec.cluster.engine import Engine
    from paddlespec.shapes import places as shapes

# Who asks for versions alone does not wait for a cluster that does not answer.
_SECONDS = 5.0
_FORMS = ("text", "json", "yaml")


def version(
    client: Annotated[
        bool, typer.Option("--client", help="Only what is installed here; contact no cluster.")
    ] = False,
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="|".join(_FORMS), help="Form of the output."),
    ] = "text",
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Show the versions of this client, of specs, and of the cluster with what jobs can use there.

    A cluster that does not answer is told on stderr; one that was named has to answer.

    \b
    paddlespec version
    paddlespec version --client
    paddlespec version --context dc1 -o json
    """
    listing.check(output, _FORMS)
    found, code = _ours(), Exit.done
    if not client:
        found, code = _asked(found, datacenter, context, kubeconfig)
    if output == "text":
        sys.stdout.write(_text(found))
    else:
        listing.write_data(output, found)
    return code


def _ours() -> shapes.Versions:
    from paddlespec import __version__

    return {
        "client": __version__,
        "spec": "paddlespec.io/v1",
        "python": sys.version.split()[0],
        "server": None,
        "address": None,
        "extensions": None,
    }


def _asked(
    found: shapes.Versions, datacenter: str | None, context: str | None, kubeconfig: str | None
) -> tuple[shapes.Versions, Exit]:
    """*found* with what the cluster says, or why it says nothing."""
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.places import Engines
    from paddlespec.cluster.terrain import installed

    try:
        with Engines(kubeconfig, context, None, time.monotonic() + _SECONDS) as engines:
            client = _client(engines, datacenter)
            found["server"], found["address"] = client.server_version(), client.host
            found["extensions"] = installed(client)
    except OperationFailed as error:
        _note(error)
        return found, Exit.refused if datacenter or context or kubeconfig else Exit.done
    return found, Exit.done


def _client(engines: Engines, datacenter: str | None) -> Client:
    from paddlespec.cli.config_check import reached

    if datacenter is not None:
        return reached(engines, datacenter)[0]
    return cast("Engine", engines.at(None)).client


def _note(error: OperationFailed) -> None:
    sys.stderr.write(f"no version of a cluster: {error.message}\n")
    if error.hint:
        sys.stderr.write(f"  hint: {error.hint}\n")


def _text(found: shapes.Versions) -> str:
    rows = {key: each for key, each in found.items() if isinstance(each, str)}
    rows |= {key: each or "-" for key, each in (found["extensions"] or {}).items()}
    width = max(map(len, rows)) + 2
    return "".join(f"{f'{key}:':{width}}{each}\n" for key, each in rows.items())
