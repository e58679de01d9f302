"""
The pipeline from files to manifests.

Every stage adds its diagnostics and passes on the valid parts, so one error never hides another.
Only rendering requires a spec without errors.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from paddlespec import checks, targets
from paddlespec.boundary import HINT as OUTSIDE_HINT
from paddlespec.checks import script
from paddlespec.diagnostic import (
    Diagnostic,
    InvalidSpec,
    Path,
    Span,
    did_you_mean,
    has_errors,
)
from paddlespec.render import runtime
from paddlespec.spec import datacenter as names
from paddlespec.spec import (
    foreign,
    gate,
    interpolate,
    layer,
    project,
    update,
)
from paddlespec.spec.document import Document, remove
from paddlespec.spec.files import STDIN, Files
from paddlespec.spec.frozen import job_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.boundary import Boundary
    from paddlespec.model import Job
    from paddlespec.package.collect import Collection
    from paddlespec.render.manifest import Manifest
    from paddlespec.render.template import Templates


class Choices(NamedTuple):
    """Options of the command line that select or override values; the highest layers."""

    overlays: tuple[str, ...] = ()
    profile: str | None = None
    updates: tuple[str, ...] = ()
    target: str | None = None
    datacenter: str | None = None
    allowed: tuple[str, ...] = ()

    def files(self) -> Files:
        """Return a reader of files that may read the folders *allowed*, too."""
        return Files(allowed=self.allowed)


class Loaded(NamedTuple):
    """One job with its diagnostics; `job` is complete only if there are no errors."""

    file: str
    document: Document
    job: Job
    diagnostics: list[Diagnostic]
    target: str
    datacenter: str | None = None
    project: project.Project | None = None
    code: Collection | None = None

    @property
    def is_valid(self) -> bool:
        return not has_errors(self.diagnostics)


class Built(NamedTuple):
    """One job and its manifests."""

    loaded: Loaded
    manifests: list[Manifest]


def load(file: str, files: Files, choices: Choices) -> tuple[list[Loaded], list[Diagnostic]]:
    """Load the jobs of *file*; also returns the diagnostics of the file as a whole."""
    reading = files.read(file)
    documents, faults = foreign.own(reading.documents)
    jobs = [_load(file, document, files, choices) for document in documents]
    return jobs, [*reading.diagnostics, *faults]


def build(loaded: Loaded, templates: Templates) -> Built:
    """Render the manifests of a job; raises `InvalidSpec` if it has errors."""
    if not loaded.is_valid:
        raise InvalidSpec(loaded.diagnostics)
    manifests, diagnostics = _patched(loaded, templates)
    if has_errors(diagnostics):
        raise InvalidSpec(diagnostics)
    return Built(loaded, manifests)


def patch_faults(loaded: Loaded, templates: Templates) -> list[Diagnostic]:
    """Render a valid job and return the errors of its patches."""
    return _patched(loaded, templates)[1]


def _patched(loaded: Loaded, templates: Templates) -> tuple[list[Manifest], list[Diagnostic]]:
    target = targets.load(loaded.target)
    manifests = target.render(loaded.job, context(loaded), templates)
    if not loaded.job.spec.patches:
        return manifests, []
    from paddlespec.render.patch import apply_patches

    return apply_patches(manifests, loaded.job, loaded.document, loaded.target)


def context(loaded: Loaded) -> runtime.Context:
    """Return the rendering input of *loaded* apart from its job."""
    code = None
    package = loaded.job.spec.package
    if loaded.code is not None and loaded.code.files and package:
        from paddlespec.package.archive import archive, digest
        from paddlespec.package.collect import requirements

        content = archive(loaded.code, package.into)
        file_name = requirements(package, loaded.code)
        code = runtime.Archive(content, digest(content), file_name)
    name = loaded.project.name if loaded.project else None
    return runtime.Context(loaded.datacenter, name, code)


def _load(file: str, document: Document, files: Files, choices: Choices) -> Loaded:
    diagnostics = list(gate.check(document, gate.SOURCE).diagnostics)
    folder = os.path.dirname(file) if file != STDIN else ""
    project_file = files.project(folder)
    datacenter = project_file.chosen(choices.datacenter) if project_file else choices.datacenter
    diagnostics += _datacenter_faults(project_file, datacenter, choices)

    layers = project_file.layers(datacenter) if project_file else []
    layers.append(document)
    for path in choices.overlays:
        layers += _overlay(path, files, diagnostics)
    merged = _merge(layers)
    if choices.profile is not None:
        merged = _with_profile(merged, choices.profile, diagnostics)
    for text in choices.updates:
        try:
            merged = update.apply(merged, update.parse(text, allowed=choices.allowed))
        except InvalidSpec as error:
            diagnostics += error.diagnostics
    merged = _without_keys(layer.settle(merged), "profiles")
    return _finish(file, merged, diagnostics, choices, project_file, datacenter, files)


def _finish(
    file: str,
    merged: Document,
    diagnostics: list[Diagnostic],
    choices: Choices,
    project_file: project.Project | None,
    datacenter: str | None,
    files: Files,
) -> Loaded:
    """Interpolate, validate and check a merged document."""
    whole, faults, unresolved, used = interpolate.interpolate(merged, datacenter)
    diagnostics += faults
    entry = project_file.entry(datacenter) if project_file else None
    whole, unknown_names = names.resolve(whole, entry)
    if not (project_file and has_errors(project_file.diagnostics)):
        diagnostics += unknown_names
    refusal = gate.check(whole, gate.EFFECTIVE)
    unreadable = refusal.unreadable | unresolved
    diagnostics += [fault for fault in refusal.diagnostics if fault.path not in unresolved]
    job = job_of(_with_required_parts(remove(whole.data, unreadable | refusal.unknown)))
    target = choices.target or job.spec.target
    facts = checks.Facts(job, whole, target, used, os.path.dirname(file), _naming(target))
    diagnostics += checks.run(facts, unreadable)
    if checks.readable(unreadable, "spec.target", "spec.mode", "spec.scheduling", "spec.pservers"):
        diagnostics += _target_faults(facts, choices.target)
    if job.spec.patches and checks.readable(unreadable, "spec.patches"):
        diagnostics += _condition_faults(facts)
    code = None
    if checks.readable(unreadable, "spec.package"):
        code = _collect(file, facts, diagnostics, files.boundary(file))
    if checks.readable(unreadable, *script.READS):
        diagnostics += script.scripts(facts, code)
    return Loaded(file, whole, job, diagnostics, target, datacenter, project_file, code)


def _with_required_parts(data: object) -> dict[str, object]:
    """Add empty parts that a job requires; the gate has reported them as missing."""
    data = data if isinstance(data, dict) else {}
    return {"metadata": {}, "spec": {}, **{key: value for key, value in data.items() if value}}


def _datacenter_faults(
    project_file: project.Project | None, datacenter: str | None, choices: Choices
) -> Iterator[Diagnostic]:
    yield from project_file.diagnostics if project_file else ()
    known = list(project_file.datacenters) if project_file else []
    if datacenter is not None and datacenter not in known:
        span = Span(f"--datacenter {datacenter}")
        if project_file and not choices.datacenter:
            span = project_file.document.locate(("datacenter",))
        yield project.unknown_datacenter(datacenter, known, span)


def _overlay(path: str, files: Files, diagnostics: list[Diagnostic]) -> Iterator[Document]:
    reading = files.read(path, f"overlay {path}")
    documents, faults = foreign.own(reading.documents)
    diagnostics += [*reading.diagnostics, *faults]
    for document in documents:
        diagnostics += gate.check(document, gate.SOURCE).diagnostics
        if isinstance(document.data, dict):
            yield _without_keys(document, "apiVersion", "kind")


def _merge(layers: list[Document]) -> Document:
    usable = [document for document in layers if isinstance(document.data, dict)]
    return layer.merge(usable) if usable else layers[-1]


def _with_profile(merged: Document, name: str, diagnostics: list[Diagnostic]) -> Document:
    profile = merged.part("profiles", name)
    if profile is not None and isinstance(profile.data, dict):
        return layer.merge([merged, profile.under("spec").labelled(f"profile {name}")])
    known = list(merged.at(("profiles",)) or {})
    hint = did_you_mean(name, known)
    hint = hint or (f"use one of {', '.join(known)}" if known else "add `profiles` to the spec")
    message = f'unknown profile "{name}"'
    diagnostics.append(Diagnostic("unknown-profile", message, Span(f"--profile {name}"), (), hint))
    return merged


def _without_keys(document: Document, *keys: str) -> Document:
    if not isinstance(document.data, dict) or document.data.keys().isdisjoint(keys):
        return document
    kept = {key: value for key, value in document.data.items() if key not in keys}
    return Document(kept, document.place)


def _naming(target: str) -> runtime.Naming:
    try:
        return targets.load(target).naming
    except targets.UnknownTarget:
        return runtime.PER_ROLE


def _target_faults(facts: checks.Facts, requested: str | None) -> list[Diagnostic]:
    try:
        return list(targets.load(facts.target).check(facts))
    except targets.UnknownTarget as error:
        path: Path = ("spec", "target")
        span = Span(f"--target {requested}") if requested else facts.document.locate(path)
        return [_unknown_target(error, span, path)]


def _condition_faults(facts: checks.Facts) -> Iterator[Diagnostic]:
    """Report patches for unknown targets, which would never apply."""
    for index, patch in enumerate(facts.job.spec.patches):
        try:
            if patch.when.target is not None:
                targets.must_exist(patch.when.target)
        except targets.UnknownTarget as error:
            path: Path = ("spec", "patches", index, "when", "target")
            yield _unknown_target(error, facts.document.locate(path), path)


def _unknown_target(error: targets.UnknownTarget, span: Span, path: Path) -> Diagnostic:
    similar = did_you_mean(error.name, error.known)
    hint = f"{f'{similar} ' if similar else ''}use one of {', '.join(error.known)}"
    return Diagnostic("unknown-target", str(error), span, path, hint)


def _collect(
    file: str, facts: checks.Facts, diagnostics: list[Diagnostic], limit: Boundary
) -> Collection | None:
    """Collect the user's code if it is delivered, and report its problems."""
    package = facts.job.spec.package
    if package is None:
        return None
    from paddlespec.package.collect import collect
    from paddlespec.package.credentials import credentials
    from paddlespec.package.delivery import delivery
    from paddlespec.package.walk import shown

    path: Path = ("spec", "package", "path")
    is_delivered = not package.path.startswith("/")
    if is_delivered and not limit.holds(os.path.join(facts.folder, package.path)):
        message = f'folder "{shown(package.path)}" is outside {limit}'
        diagnostics.append(facts.error("outside", message, path, OUTSIDE_HINT))
        return None
    collection = collect(package, facts.folder, file, limit) if is_delivered else None
    delivered = delivery(package, collection, is_rehearsed=facts.target == "local")
    for fault in (*(collection.faults if collection else ()), *delivered.faults):
        at: Path = ("spec", "package", fault.at)
        where = facts.document.locate(at)
        diagnostics.append(
            Diagnostic("package", fault.message, where, at, fault.hint, fault.severity)
        )
    for fault in credentials(collection) if collection else ():
        diagnostics.append(facts.warning("packaged-credentials", fault.message, path, fault.hint))
    return collection
