"""`config add`: a new datacenter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli.shared import config_file, options
from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.spec.edit.splice import Action


def add(
    name: config_file.Name,
    *,
    context: options.Context = None,
    namespace: Annotated[
        str | None,
        typer.Option("-n", "--namespace", metavar="NAME", help="Namespace to use there."),
    ] = None,
    project: config_file.InProject = False,
) -> int:
    """
    Add a datacenter to your configuration or the project.

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
    return Exit.done
