"""`config add`: a new datacenter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli.shared import config_file, options
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.values import deadline_of

if TYPE_CHECKING:
    from paddlespec.spec.edit.splice import Action

_PATIENCE = "5s"


def add(
    name: config_file.Name,
    *,
    context: options.Context = None,
    namespace: Annotated[
        str | None,
        typer.Option("-n", "--namespace", metavar="NAME", help="Namespace to use there."),
    ] = None,
    kubeconfig: options.Kubeconfig = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Do not contact the cluster.")
    ] = False,
    project: config_file.InProject = False,
) -> int:
    """
    Add a datacenter to your configuration or the project.

    With --context, contacts the cluster and prints what it is. A cluster that does not answer is
    added, too.

    \b
    paddlespec config add dc1 --context alice@dc1 -n alice
    paddlespec config add dc2 --context k8s-dc2 -n ads --project
    """
    from paddlespec.diagnostic import Span

    file = config_file.opened(project=project)
    if file.position_of(name) is not None:
        hint = f"change it: paddlespec config set '{file.holder}[{name}].context=NAME'"
        raise Stop(Exit.usage, f'{file.path} already has "{name}"', hint)
    values = {"name": name, "context": context, "namespace": namespace}
    value: Any = {key: text for key, text in values.items() if text is not None}
    action: Action = "append" if file.data.get(file.holder) else "set"
    whole = value if action == "append" else [value]
    file.put((file.holder,), whole, Span(name), action).write_and_note()
    if context is not None and not no_check:
        _describe(name, options.Cluster(context, namespace, kubeconfig))
    return Exit.done


def _describe(name: str, cluster: options.Cluster) -> None:
    """Print what the cluster of a new datacenter is, or why that is not known."""
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.output import note
    from paddlespec.runs.failures import OperationFailed

    try:
        with Engines(cluster.request(deadline_of(_PATIENCE))) as engines:
            engine = engines.of_datacenter()
            features = needed(engine.capabilities.features, engine, "config add")
            server, extensions = features.server(), features.extensions()
            namespace = engine.namespace
    except OperationFailed as error:
        note(f"{name}: added, but not checked: {error.message}")
        note(f"next: paddlespec config check {name}, once it can be reached")
        if error.hint:
            note(f"hint: {error.hint}")
        return
    installed = ", ".join(extension for extension, version in extensions.items() if version)
    more = f", with {installed}" if installed else ""
    note(f"{name}: Kubernetes {server.version} at {server.address}, namespace {namespace}{more}")
    note(f"next: paddlespec config check {name}, for your rights, queues and storages")
