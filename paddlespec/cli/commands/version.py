"""`version`: of this client, of specs, and of the cluster with its extensions."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from paddlespec.cli.shared import listing, options
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit

if TYPE_CHECKING:
    from paddlespec.runs.failures import OperationFailed
    from paddlespec.shapes import places as shapes

# Nobody waits longer for a version.
_SECONDS = 5.0
_FORMS = ("text", "json", "yaml")


def version(
    *,
    client: Annotated[
        bool, typer.Option("--client", help="Print only local versions; contact no cluster.")
    ] = False,
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="|".join(_FORMS), help="Output format."),
    ] = "text",
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    kubeconfig: options.Kubeconfig = None,
) -> int:
    """
    Print versions of client, specs, cluster and extensions.

    A cluster that does not answer within 5 seconds is a note on stderr; if an option names the
    cluster, the command exits with 3.

    \b
    paddlespec version
    paddlespec version --client
    paddlespec version --context dc1 -o json
    """
    listing.check(output, _FORMS)
    versions, code = _client(), Exit.done
    if not client:
        cluster = options.Cluster(context, None, kubeconfig)
        versions, code = _with_server(versions, datacenter, cluster)
    if output == "text":
        write.lines(_rows(versions))
    else:
        listing.write_data(output, versions)
    return code


def _client() -> shapes.Versions:
    from paddlespec import __version__

    return {
        "client": __version__,
        "spec": "paddlespec.io/v1",
        "python": sys.version.split()[0],
        "server": None,
        "address": None,
        "extensions": None,
    }


def _with_server(
    versions: shapes.Versions, datacenter: str | None, cluster: options.Cluster
) -> tuple[shapes.Versions, Exit]:
    """*versions* with those of the cluster, or a note why it has none."""
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.runs.failures import OperationFailed

    try:
        with Engines(cluster.request(time.monotonic() + _SECONDS)) as engines:
            engine = engines.of_datacenter(datacenter)
            features = needed(engine.capabilities.features, engine, "version")
            versions["server"], versions["address"] = features.server()
            versions["extensions"] = features.extensions()
    except OperationFailed as error:
        _note(error)
        is_named = datacenter or cluster.context or cluster.kubeconfig
        return versions, Exit.refused if is_named else Exit.done
    return versions, Exit.done


def _note(error: OperationFailed) -> None:
    write.note(f"cluster version unknown: {error.message}")
    if error.hint:
        write.note(f"  hint: {error.hint}")


def _rows(versions: shapes.Versions) -> list[str]:
    rows = {key: value for key, value in versions.items() if isinstance(value, str)}
    rows |= {key: value or "-" for key, value in (versions["extensions"] or {}).items()}
    width = max(map(len, rows)) + 2
    return [f"{f'{key}:':{width}}{value}" for key, value in rows.items()]
