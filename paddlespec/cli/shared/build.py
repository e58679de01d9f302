"""Building manifests, and the work that a backend gets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.pipeline import Built, build
from paddlespec.render.template import TemplateFault, Templates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddlespec.pipeline import Loaded
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.values import Work


def build_all(
    jobs: Sequence[Loaded], templates: str | None, allowed: tuple[str, ...] = ()
) -> list[Built]:
    """Every job with its manifests; *templates* is the user's own folder."""
    manifests = builder(templates, allowed)
    return [Built(job, manifests(job)) for job in jobs]


def builder(
    templates: str | None, allowed: tuple[str, ...] = ()
) -> Callable[[Loaded], list[Manifest]]:
    """A function from jobs to manifests; it raises `Stop` for a fault of a template."""
    if templates is not None and not os.path.isdir(templates):
        raise Stop(Exit.usage, f"--templates {templates}: folder does not exist")
    shared = Templates(templates, allowed)

    def manifests(job: Loaded) -> list[Manifest]:
        try:
            return build(job, shared).manifests
        except TemplateFault as error:
            raise Stop(Exit.usage, f"template {error}") from None

    return manifests


def work_of(built: Built) -> Work:
    """A job as a backend compares it."""
    from paddlespec.pipeline import context
    from paddlespec.render.fingerprint import fingerprint
    from paddlespec.runs.values import Work

    loaded = built.loaded
    digest = fingerprint(loaded.job, context(loaded), loaded.target)
    return Work(loaded.job.metadata.name, built.manifests, digest)


def with_origin(work: Work, loaded: Loaded) -> Work:
    """*work* with what is recorded of its run: provenance, project, and the masked spec."""
    from paddlespec.git.provenance import provenance
    from paddlespec.report.mask import effective_spec

    return work._replace(
        provenance=provenance(loaded.file),
        spec=effective_spec(loaded),
        project=loaded.project.name if loaded.project else None,
        source=_source(loaded),
    )


def _source(loaded: Loaded) -> str | None:
    """A spec relative to its project file; None if another file names the job."""
    from pathlib import PurePath

    naming = loaded.document.locate(("metadata", "name")).file
    if loaded.project is None or not loaded.project.name or naming != loaded.file:
        return None
    home = os.path.dirname(os.path.abspath(loaded.project.path))
    path = os.path.abspath(loaded.file)
    return PurePath(os.path.relpath(path, home)).as_posix() if os.path.isfile(path) else None
