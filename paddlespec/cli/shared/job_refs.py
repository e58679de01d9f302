"""The jobs a command is about, given by name or by spec."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.shared import datacenters
from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.backends.protocols import Backend
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.options import Job, JobPlace
    from paddlespec.pipeline import Choices, Loaded
    from paddlespec.runs.state import Stage


class JobRef(NamedTuple):
    """A job, and where it is as far as that was said."""

    name: str
    namespace: str | None = None
    context: str | None = None
    target: str | None = None


def job_refs(
    names: Sequence[str] | None,
    file: Sequence[str] | None,
    chosen: Choices,
    namespace: str | None,
) -> list[JobRef]:
    """The jobs that are given; a spec need not be valid to identify its job."""
    refs = [_named(name, chosen) for name in names or () if not is_path(name)]
    paths = [*(name for name in names or () if is_path(name)), *(file or ())]
    refs += _of_specs(paths, chosen, namespace)
    if not refs:
        raise Stop(Exit.usage, "no job given", "name a job, or give the path of its spec")
    return list(dict.fromkeys(refs))


def one_job(given: Job, chosen: Choices, namespace: str | None, engines: Engines) -> JobRef:
    """The only job that *given* stands for, or the usual one; raises `Stop` for several."""
    from paddlespec.cli.shared import implied_job

    if given.name is not None and given.file is not None:
        raise Stop(Exit.usage, f"-f {given.file} names the job: remove {given.name}, or remove -f")
    if given.name is None and given.file is None:
        if not implied_job.has_spec():
            return _named(implied_job.only_job(chosen, engines), chosen)
        given = given._replace(file=implied_job.SPEC)
    names, files = ([one] if one is not None else [] for one in given)
    job, *others = job_refs(names, files, chosen, namespace)
    if others:
        text = given.name or given.file
        raise Stop(Exit.usage, f"{text} holds {len(others) + 1} jobs", "name one of them")
    return job


def job_at(given: Job, place: JobPlace, namespace: str | None, engines: Engines) -> JobRef:
    """The job of a command that takes one."""
    from paddlespec.pipeline import Choices

    chosen = Choices(target=place.target, datacenter=place.datacenter)
    return one_job(given, chosen, namespace, engines)


def backend_of(target: str) -> Backend:
    """The backend of a target on the command line; raises `Stop` for an unknown one."""
    from paddlespec import backends
    from paddlespec.diagnostic import did_you_mean
    from paddlespec.targets import UnknownTarget

    try:
        return backends.of_target(target)
    except UnknownTarget as error:
        similar = did_you_mean(target, error.known)
        hint = f"{f'{similar} ' if similar else ''}use one of {', '.join(error.known)}"
        raise Stop(Exit.usage, f'unknown target "{target}"', hint) from None


def is_path(text: str) -> bool:
    """Whether *text* names a spec and not a job."""
    return (
        text in ("-", ".", "..")
        or "/" in text
        or os.sep in text
        or text.endswith((".yaml", ".yml"))
    )


def refuse_namesakes(jobs: Sequence[Loaded], namespace: str | None) -> None:
    """Refuse a job in another namespace than its spec says, and two of one name in one place."""
    seen: dict[tuple[str, str | None, str | None, str], str] = {}
    for job in jobs:
        metadata, backend = job.job.metadata, backend_of(job.target)
        own = getattr(metadata, "namespace", None)
        if own and namespace and own != namespace:
            raise Stop(
                Exit.usage,
                f"{job.file}: job {metadata.name} belongs to namespace {own}, not {namespace}",
                f"remove -n, or move the job: -u metadata.namespace={namespace}",
            )
        context = datacenters.place_of(job, backend).context
        key = (backend.name, context, own or namespace, metadata.name)
        if key in seen:
            raise Stop(
                Exit.usage,
                f"{seen[key]} and {job.file} both call their job {metadata.name}",
                "give the jobs different names",
            )
        seen[key] = job.file


def exit_code(stage: Stage) -> Exit:
    """What the state of a job means to a script."""
    from paddlespec.runs.state import Stage

    if stage.is_failure:
        return Exit.job_failed
    gone = stage in (Stage.killed, Stage.replaced, Stage.lost)
    return Exit.refused if gone else Exit.done


def _named(name: str, chosen: Choices) -> JobRef:
    """A job without its spec: --datacenter says where it is."""
    is_elsewhere = chosen.target is not None and not backend_of(chosen.target).has_datacenters
    if chosen.datacenter is None or is_elsewhere:
        return JobRef(name, target=chosen.target)
    found = datacenters.connection(chosen.datacenter, datacenters.project())
    return JobRef(name, found.namespace.value, found.context.value, chosen.target)


def _of_specs(paths: list[str], chosen: Choices, namespace: str | None) -> Iterator[JobRef]:
    from paddlespec.pipeline import load

    files = chosen.files()
    names, faults = files.specs(paths)
    for path in names:
        jobs, wrong = load(path, files, chosen)
        faults += wrong
        for job in jobs:
            # Without its project file, a job would be looked for in another place.
            found = job.project.diagnostics if job.project else ()
            faults += [fault for fault in found if fault.code in ("file", "outside")]
            name = getattr(job.job.metadata, "name", None)
            if not isinstance(name, str):
                raise Stop(Exit.usage, f"{path}: metadata.name is missing", "set it in the spec")
            refuse_namesakes([job], namespace)
            place = datacenters.place_of(job, backend_of(job.target))
            yield JobRef(name, place.namespace, place.context, job.target)
    if faults:
        raise Stop(Exit.usage, str(faults[0]), faults[0].hint)
