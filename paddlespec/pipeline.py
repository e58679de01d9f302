"""
From files to manifests: the order of things, and nothing else.

Every stage adds what it finds and hands on what can still be used, so that one fault never hides
another; only manifests need a spec without errors.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from paddlespec import checks, contract, gate, interpolate, layer, project, targets, update
from paddlespec.diagnostic import Diagnostic, InvalidSpec, Path, Span, did_you_mean, has_errors
from paddlespec.document import Document, remove
from paddlespec.files import STDIN, Files
from paddlespec.record import job_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.manifest import Manifest
    from paddlespec.model import Job
    from paddlespec.package.collect import Collection
    from paddlespec.template import Templates


class Choices(NamedTuple):
    """What the command line adds to the files; the outermost layers."""

    overlays: tuple[str, ...] = ()
    profile: str | None = None
    updates: tuple[str, ...] = ()
    target: str | None = None
    datacenter: str | None = None


class Loaded(NamedTuple):
    """One job as far as it could be read; `job` is to be used only when nothing is wrong."""

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
    """One job and the objects that it is."""

    loaded: Loaded
    manifests: list[Manifest]


def load(file: str, files: Files, choices: Choices) -> tuple[list[Loaded], list[Diagnostic]]:
    """Every job of *file* with what was found in it, and what was found in the file itself."""
    reading = files.read(file)
    jobs = [_load(file, document, files, choices) for document in reading.documents]
    return jobs, list(reading.diagnostics)


def build(loaded: Loaded, templates: Templates) -> Built:
    """The manifests of a job; raises `InvalidSpec` when there are errors."""
    if not loaded.is_valid:
        raise InvalidSpec(loaded.diagnostics)
    manifests, found = _patched(loaded, templates)
    if has_errors(found):
        raise InvalidSpec(found)
    return Built(loaded, manifests)


def patch_faults(loaded: Loaded, templates: Templates) -> list[Diagnostic]:
    """What is wrong with the patches of a job that is valid itself; it takes rendering to know."""
    return _patched(loaded, templates)[1]


def _patched(loaded: Loaded, templates: Templates) -> tuple[list[Manifest], list[Diagnostic]]:
    target = targets.load(loaded.target)
    manifests = target.render(loaded.job, context(loaded), templates)
    if not loaded.job.spec.patches:
        return manifests, []
    from paddlespec.patch import apply_patches

    return apply_patches(manifests, loaded.job, loaded.document, loaded.target)


def context(loaded: Loaded) -> contract.Context:
    """What the plan of *loaded* depends on besides its job."""
    code = None
    package = loaded.job.spec.package
    if loaded.code is not None and loaded.code.files and package:
        from paddlespec.package.archive import archive, digest
        from paddlespec.package.collect import requirements

        content = archive(loaded.code, package.into)
        wanted = requirements(package, loaded.code)
        code = contract.Archive(content, digest(content), wanted)
    name = loaded.project.name if loaded.project else None
    return contract.Context(loaded.datacenter, name, code)


def _load(file: str, document: Document, files: Files, choices: Choices) -> Loaded:
    found = list(gate.check(document, gate.SOURCE).diagnostics)
    folder = os.path.dirname(file) if file != STDIN else ""
    governing = files.project(folder)
    datacenter = governing.chosen(choices.datacenter) if governing else choices.datacenter
    found += _datacenter_faults(governing, datacenter, choices)

    layers = governing.layers(datacenter) if governing else []
    layers.append(document)
    for path in choices.overlays:
        layers += _overlay(path, files, found)
    merged = _merge(layers)
    if choices.profile is not None:
        merged = _with_profile(merged, choices.profile, found)
    for text in choices.updates:
        try:
            merged = update.apply(merged, update.parse(text))
        except InvalidSpec as error:
            found += error.diagnostics
    merged = _without_keys(layer.settle(merged), "profiles")
    return _finish(file, merged, found, choices, governing, datacenter)


def _finish(
    file: str,
    merged: Document,
    found: list[Diagnostic],
    choices: Choices,
    governing: project.Project | None,
    datacenter: str | None,
) -> Loaded:
    """Interpolate, gate and check a document whose layers are merged."""
    whole, faults, unresolved, used = interpolate.interpolate(merged, datacenter)
    found += faults
    refusal = gate.check(whole, gate.EFFECTIVE)
    spoiled = refusal.spoiled | unresolved
    found += [each for each in refusal.diagnostics if each.path not in unresolved]
    usable = _whole_enough(remove(whole.data, spoiled | refusal.unknown))
    job = job_of(usable)
    target = choices.target or job.spec.target
    facts = checks.Facts(job, whole, target, used, os.path.dirname(file))
    found += checks.run(facts, spoiled)
    if checks.readable(spoiled, "spec.target", "spec.mode", "spec.scheduling", "spec.pservers"):
        found += _target_faults(facts, choices.target)
    if job.spec.patches and checks.readable(spoiled, "spec.patches"):
        found += _condition_faults(facts)
    code = _collect(file, facts, found) if checks.readable(spoiled, "spec.package") else None
    return Loaded(file, whole, job, found, target, datacenter, governing, code)


def _whole_enough(data: object) -> dict[str, object]:
    """A mapping that a job can be made of: its missing parts are told by the gate."""
    data = data if isinstance(data, dict) else {}
    return {"metadata": {}, "spec": {}, **{key: each for key, each in data.items() if each}}


def _datacenter_faults(
    governing: project.Project | None, datacenter: str | None, choices: Choices
) -> Iterator[Diagnostic]:
    yield from governing.diagnostics if governing else ()
    known = list(governing.datacenters) if governing else []
    if datacenter is not None and datacenter not in known:
        span = Span(f"--datacenter {datacenter}")
        if governing and not choices.datacenter:
            span = governing.document.locate(("datacenter",))
        yield project.unknown_datacenter(datacenter, known, span)


def _overlay(path: str, files: Files, found: list[Diagnostic]) -> Iterator[Document]:
    reading = files.read(path, f"overlay {path}")
    found += reading.diagnostics
    for document in reading.documents:
        found += gate.check(document, gate.SOURCE).diagnostics
        if isinstance(document.data, dict):
            yield _without_keys(document, "apiVersion", "kind")


def _merge(layers: list[Document]) -> Document:
    usable = [each for each in layers if isinstance(each.data, dict)]
    return layer.merge(usable) if usable else layers[-1]


def _with_profile(merged: Document, name: str, found: list[Diagnostic]) -> Document:
    profile = merged.part("profiles", name)
    if profile is not None and isinstance(profile.data, dict):
        return layer.merge([merged, profile.under("spec").labelled(f"profile {name}")])
    known = list(merged.at(("profiles",)) or {})
    hint = did_you_mean(name, known)
    hint = hint or (f"there is {', '.join(known)}" if known else "the spec has no profiles")
    message = f'no profile is called "{name}"'
    found.append(Diagnostic("unknown-profile", message, Span(f"--profile {name}"), (), hint))
    return merged


def _without_keys(document: Document, *keys: str) -> Document:
    if not isinstance(document.data, dict) or document.data.keys().isdisjoint(keys):
        return document
    kept = {key: value for key, value in document.data.items() if key not in keys}
    return Document(kept, document.place)


def _target_faults(facts: checks.Facts, asked: str | None) -> list[Diagnostic]:
    try:
        return list(targets.load(facts.target).check(facts))
    except targets.UnknownTarget as error:
        path: Path = ("spec", "target")
        span = Span(f"--target {asked}") if asked else facts.document.locate(path)
        return [_unknown_target(error, span, path)]


def _condition_faults(facts: checks.Facts) -> Iterator[Diagnostic]:
    """A patch for a target that does not exist would never apply."""
    for index, patch in enumerate(facts.job.spec.patches):
        try:
            if patch.when.target is not None:
                targets.must_exist(patch.when.target)
        except targets.UnknownTarget as error:
            path: Path = ("spec", "patches", index, "when", "target")
            yield _unknown_target(error, facts.document.locate(path), path)


def _unknown_target(error: targets.UnknownTarget, span: Span, path: Path) -> Diagnostic:
    hint = did_you_mean(error.name, error.known) or f"there is {', '.join(error.known)}"
    return Diagnostic("unknown-target", str(error), span, path, hint)


def _collect(file: str, facts: checks.Facts, found: list[Diagnostic]) -> Collection | None:
    """The user's code, where it travels; what is wrong with it is found at its path."""
    package = facts.job.spec.package
    if package is None:
        return None
    from paddlespec.package.collect import collect
    from paddlespec.package.delivery import delivery

    travels = not package.path.startswith("/")
    collection = collect(package, facts.folder, file) if travels else None
    delivered = delivery(package, collection)
    path: Path = ("spec", "package", "path")
    for fault in (*(collection.faults if collection else ()), *delivered.faults):
        span = facts.document.locate(path)
        found.append(Diagnostic("package", fault.message, span, path, fault.hint, fault.severity))
    return collection
