"""`config import`: the configuration of older clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.config_file import DryRun, Edited, InProject, opened
from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.config.legacy import Imported


def import_file(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="~/.paddle/config, or OpenPAI's clusters.yaml."),
    ],
    project: InProject = False,
    dry_run: DryRun = False,
) -> int:
    """
    Import the datacenters of an older client.

    Existing values stay. What cannot be imported is printed on stderr with file and line.
    Passwords and tokens are never read.

    \b
    paddlespec config import ~/.paddle/config
    paddlespec config import ~/.openpai/clusters.yaml --project
    """
    from paddlespec.cli.shared.output import note
    from paddlespec.config.legacy import read

    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise Stop(Exit.usage, f"cannot read {file}: {(error.strerror or '').lower()}") from None
    found = read(content, file)
    before = opened(project=project)
    after = _merged(before, found, project=project)
    for span, loss in sorted(found.losses):
        note(f"{span}: not imported: {loss}")
    if dry_run:
        from paddlespec.cli.shared.write_files import difference

        old = "" if before.is_new else before.text
        write.text(difference(after.path, old, after.text))
        return Exit.done
    after.write()
    names = ", ".join(datacenter["name"] for datacenter in found.datacenters) or "none"
    changed = "changed" if after.text != before.text else "nothing to change"
    note(f"{after.path}: {changed}; datacenters read: {names}")
    if not project and any(
        after.position_of(datacenter["name"]) is not None for datacenter in found.datacenters
    ):
        holder = f"{after.holder}[NAME]"
        note(
            f"set the context of each datacenter: paddlespec config set '{holder}.context=CONTEXT'"
        )
    elif project and found.datacenters:
        first = found.datacenters[0]["name"]
        note(f"next: paddlespec config add {first} --context CONTEXT, for your own credentials")
    return Exit.done


def _merged(file: Edited, found: Imported, *, project: bool) -> Edited:
    """The file with what it lacks of *found*."""
    from paddlespec.diagnostic import Span

    kept: Any = ("name", "queues", "storages") if project else ("name",)
    for datacenter in found.datacenters:
        value = {key: datacenter[key] for key in kept if datacenter.get(key)}
        index = file.position_of(datacenter["name"])
        span = Span(datacenter["name"])
        if index is None:
            listed = file.data.get(file.holder)
            whole = value if listed else [value]
            file = file.put((file.holder,), whole, span, "append" if listed else "set")
            continue
        there = file.data[file.holder][index]
        for key in kept[1:]:
            for name, inner in (value.get(key) or {}).items():
                if name not in (there.get(key) or {}):
                    file = file.put((file.holder, index, key, name), inner, span)
    if found.current and not file.data.get("datacenter"):
        file = file.put(("datacenter",), found.current, Span(found.current))
    if not project:
        for datacenter in found.datacenters:
            for key in ("queues", "storages"):
                if datacenter.get(key):
                    loss = f"{key} of {datacenter['name']} belong to the project: use --project"
                    found.losses.append((Span(datacenter["place"]), loss))
    return file
