"""Building the manifests of several jobs, in processes side by side when there are many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.cli.exits import Exit, Stop
from paddlespec.pipeline import Built, build
from paddlespec.template import TemplateFault, Templates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.pipeline import Loaded


def build_all(jobs: Sequence[Loaded], templates: str | None) -> list[Built]:
    """The manifests of every job; a fault of a template ends the command."""
    bundled = Templates(templates)
    try:
        return [build(each, bundled) for each in jobs]
    except TemplateFault as error:
        raise Stop(Exit.usage, f"template {error}") from None
