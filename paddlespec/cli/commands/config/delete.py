"""`config delete`: forget a datacenter."""

from __future__ import annotations

from paddlespec.cli.shared import config_file
from paddlespec.cli.shared.exits import Exit


def delete(name: config_file.Name, *, project: config_file.InProject = False) -> int:
    """
    Remove a datacenter from your configuration or the project.

    Changes only the file: jobs that run there are not touched.

    \b
    paddlespec config delete dc1
    """
    from paddlespec.diagnostic import Span

    file = config_file.opened(project=project)
    index = file.position_of(name)
    if index is None:
        known = [datacenter["name"] for datacenter in file.data.get(file.holder) or ()]
        raise config_file.unknown_datacenter(name, known)
    span = Span(name)
    is_last = len(file.data[file.holder]) == 1
    file = file.put((file.holder,) if is_last else (file.holder, index), None, span, "remove")
    if file.data.get("datacenter") == name:
        file = file.put(("datacenter",), None, span, "remove")
    file.write_and_note()
    return Exit.done
