"""Building manifests; a fault of a template ends the command with the template's name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paddlespec.cli.exits import Exit, Stop
from paddlespec.pipeline import Built, build
from paddlespec.template import TemplateFault, Templates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.backend import Work
    from paddlespec.manifest import Manifest
    from paddlespec.pipeline import Loaded


def build_all(jobs: Sequence[Loaded], templates: str | None) -> list[Built]:
    """Every job with its manifests; *templates* is a team's own folder."""
    manifests = builder(templates)
    return [Built(each, manifests(each)) for each in jobs]


def builder(templates: str | None) -> Callable[[Loaded], list[Manifest]]:
    """What makes the manifests of one job after another with the same templates."""
    if templates is not None and not os.path.isdir(templates):
        raise Stop(Exit.usage, f"--templates {templates}: there is no such folder")
    shared = Templates(templates)

    def manifests(job: Loaded) -> list[Manifest]:
        try:
            return build(job, shared).manifests
        except TemplateFault as error:
            raise Stop(Exit.usage, f"template {error}") from None

    return manifests


def work_of(built: Built) -> Work:
    """What a backend is to make of a job."""
    from paddlespec.backend import Work
    from paddlespec.fingerprint import fingerprint
    from paddlespec.pipeline import context

    loaded = built.loaded
    found = fingerprint(loaded.job, context(loaded), loaded.target)
    return Work(loaded.job.metadata.name, built.manifests, found)


def recorded(work: Work, loaded: Loaded) -> Work:
    """*work* with what its run is recorded by: where it comes from, and its spec without secrets."""
    from paddlespec.provenance import provenance
    from paddlespec.report.mask import effective_spec

    return work._replace(
        provenance=provenance(loaded.file),
        spec=effective_spec(loaded),
        project=loaded.project.name if loaded.project else None,
        source=_source(loaded),
    )


def _source(loaded: Loaded) -> str | None:
    """Where a spec is below its project file; nothing where it is not the spec that names the job."""
    from pathlib import PurePath

    named = loaded.document.locate(("metadata", "name")).file
    if loaded.project is None or not loaded.project.name or named != loaded.file:
        return None
    home = os.path.dirname(os.path.abspath(loaded.project.path))
    path = os.path.abspath(loaded.file)
    return PurePath(os.path.relpath(path, home)).as_posix() if os.path.isfile(path) else None
