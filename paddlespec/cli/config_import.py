"""`config import`: what older clients had written down."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli.config_file import Edited, InProject, opened
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.earlier import Found


def import_file(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="~/.paddle/config, or OpenPAI's clusters.yaml."),
    ],
    project: InProject = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be written and write nothing.")
    ] = False,
) -> int:
    """
    Take over the datacenters of an earlier client.

    What is there already stays as it is. What could not be carried over is told on stderr, each
    at its line. Passwords and tokens are neither written nor shown.

    \b
    paddlespec config import ~/.paddle/config
    paddlespec config import ~/.openpai/clusters.yaml --project
    """
    from paddlespec.cli.tell import note
    from paddlespec.earlier import read

    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise Stop(Exit.usage, f"{file} cannot be read: {(error.strerror or '').lower()}") from None
    found = read(content, file)
    before = opened(project=project)
    after = _merged(before, found, project=project)
    for span, told in sorted(found.losses):
        note(f"{span}: not carried over: {told}")
    if dry_run:
        from paddlespec.cli.write import difference

        old = "" if before.is_new else before.text
        sys.stdout.write(difference(after.path, old, after.text))
        return Exit.done
    after.write()
    names = ", ".join(each["name"] for each in found.datacenters) or "none"
    changed = "changed" if after.text != before.text else "nothing to change"
    note(f"{after.path}: {changed}; datacenters read: {names}")
    if not project and any(
        after.position_of(each["name"]) is not None for each in found.datacenters
    ):
        holder = f"{after.holder}[NAME]"
        note(f"name the context of each: paddlespec config set '{holder}.context=CONTEXT'")
    return Exit.done


def _merged(file: Edited, found: Found, *, project: bool) -> Edited:
    """The file with what it lacked of *found*."""
    from paddlespec.diagnostic import Span

    kept: Any = ("name", "queues", "storages") if project else ("name",)
    for each in found.datacenters:
        value = {key: each[key] for key in kept if each.get(key)}
        index = file.position_of(each["name"])
        span = Span(each["name"])
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
        for each in found.datacenters:
            for key in ("queues", "storages"):
                if each.get(key):
                    told = f"{key} of {each['name']}: they belong to the project, see --project"
                    found.losses.append((Span(each["place"]), told))
    return file
