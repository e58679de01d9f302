"""`version`: of this client, of what it reads, and of the cluster with its extensions."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from paddlespec.cli import listing, options
from paddlespec.cli.exits import Exit

if TYPE_CHECKING:
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.places import Engines
    from paddlespec.cluster.engine import Engine

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
    from paddlespec import __version__

    listing.check(output, _FORMS)
    data: dict[str, Any] = {
        "client": __version__,
        "spec": "paddlespec.io/v1",
        "python": sys.version.split()[0],
    }
    code = Exit.done
    if not client:
        asked = bool(datacenter or context or kubeconfig)
        data["server"] = None
        code = _ask(data, datacenter, context, kubeconfig, asked=asked)
    if output == "text":
        sys.stdout.write(_text(data))
    else:
        listing.write_data(output, data)
    return code


def _ask(
    data: dict[str, Any],
    datacenter: str | None,
    context: str | None,
    kubeconfig: str | None,
    *,
    asked: bool,
) -> Exit:
    """Put into *data* what the cluster says, or tell why it says nothing."""
    from paddlespec.backend import OperationFailed
    from paddlespec.cli.places import Engines

    try:
        with Engines(kubeconfig, context, None, time.monotonic() + _SECONDS) as engines:
            data |= _cluster(engines, datacenter)
    except OperationFailed as error:
        _note(error)
        return Exit.refused if asked else Exit.done
    return Exit.done


def _cluster(engines: Engines, datacenter: str | None) -> dict[str, Any]:
    from paddlespec.cli.config_check import reached
    from paddlespec.cluster.terrain import installed

    usual = cast("Engine", engines.at(None)) if datacenter is None else None
    client = usual.client if usual else reached(engines, datacenter)[0]
    return {
        "server": client.server_version(),
        "address": client.host,
        "extensions": installed(client),
    }


def _note(error: OperationFailed) -> None:
    sys.stderr.write(f"no version of a cluster: {error.message}\n")
    if error.hint:
        sys.stderr.write(f"  hint: {error.hint}\n")


def _text(data: dict[str, Any]) -> str:
    rows = {key: each for key, each in data.items() if isinstance(each, str)}
    rows |= {key: each or "-" for key, each in (data.get("extensions") or {}).items()}
    width = max(map(len, rows)) + 2
    return "".join(f"{f'{key}:':{width}}{each}\n" for key, each in rows.items())
