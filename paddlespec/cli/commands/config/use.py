"""`config use`: choose the current datacenter."""

from __future__ import annotations

from paddlespec.cli.shared import config_file, datacenters
from paddlespec.cli.shared.exits import Exit


def use(name: config_file.Name) -> int:
    """
    Choose the datacenter that commands connect to.

    Changes your own configuration. What is rendered does not change: that depends on the project
    file and on --datacenter. A job rendered for another datacenter is neither compared nor
    applied.

    \b
    paddlespec config use dc1
    """
    from paddlespec.cli.shared.output import note
    from paddlespec.diagnostic import Span

    settings, project = datacenters.settings(), datacenters.valid_project()
    known = datacenters.names()
    if name not in known:
        raise config_file.unknown_datacenter(name, known)
    file = config_file.opened(project=False).put(("datacenter",), name, Span(name))
    file.write()
    note(f"{settings.path}: the current datacenter is {name}")
    rendered = project.chosen(None) if project else None
    if project and rendered not in (None, name):
        more = f"; --datacenter {name} renders for it" if name in project.datacenters else ""
        note(f"specs below {project.path} are rendered for {rendered}{more}")
    return Exit.done
