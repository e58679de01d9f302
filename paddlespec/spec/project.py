"""Find the project file in the folder of a spec or above, and provide its layers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.boundary import is_foreign
from paddlespec.diagnostic import Diagnostic, Span, did_you_mean
from paddlespec.spec import gate
from paddlespec.spec.document import Document, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.spec.files import Files

FILE_NAME = ".paddlespec.yaml"


class Project(NamedTuple):
    """A project file: its valid parts, and its diagnostics."""

    path: str
    document: Document
    diagnostics: list[Diagnostic]

    @property
    def name(self) -> str | None:
        """The name that groups jobs in a cluster."""
        name = self.document.at(("project",))
        return name if isinstance(name, str) else None

    @property
    def datacenters(self) -> dict[str, Any]:
        """The datacenters by name, as plain data."""
        return {datacenter["name"]: datacenter for _, datacenter in _named(self.document)}

    def chosen(self, datacenter: str | None) -> str | None:
        """Return the requested datacenter, or the default of the project."""
        default = self.document.at(("datacenter",))
        return datacenter or (default if isinstance(default, str) else None)

    def entry(self, datacenter: str | None) -> Document | None:
        """Return the entry of *datacenter*, or None if the project does not list it."""
        for index, entry in _named(self.document):
            if entry["name"] == datacenter:
                part = self.document.part("datacenters", index)
                return part.labelled(f"datacenter {datacenter}") if part else None
        return None

    def local_claims(self, datacenter: str | None) -> dict[str, str]:
        """Return the local folder of every claim of *datacenter* that has one."""
        storages = self.datacenters.get(datacenter or "", {}).get("storages") or {}
        folder = os.path.dirname(os.path.abspath(self.path))
        return {
            storage["claim"]: os.path.normpath(
                os.path.join(folder, os.path.expanduser(storage["local"]))
            )
            for storage in storages.values()
            if isinstance(storage, dict) and storage.get("claim") and storage.get("local")
        }

    def layers(self, datacenter: str | None) -> list[Document]:
        """Return the project defaults and the fields of the datacenter, lowest layer first."""
        layers = []
        if defaults := self.document.part("defaults"):
            layers.append(defaults.under("spec").labelled("project defaults"))
        for index, entry in _named(self.document):
            label = f"datacenter {entry['name']}"
            if entry["name"] != datacenter:
                continue
            if spec := self.document.part("datacenters", index, "spec"):
                layers.append(spec.under("spec").labelled(label))
            if namespace := self.document.part("datacenters", index, "namespace"):
                layers.append(namespace.under("metadata", "namespace").labelled(label))
        return layers


def find(folder: str) -> str | None:
    """Find the project file in *folder* or above, up to the root of the git repository."""
    folder = os.path.abspath(folder)
    while True:
        path = os.path.join(folder, FILE_NAME)
        if os.path.isfile(path):
            return os.path.relpath(path)
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = parent


def load(path: str, files: Files, folder: str) -> Project:
    """
    Read the project file at *path* for specs in *folder*; invalid parts are removed and reported.

    A file of another user is refused: anyone may write to /tmp.
    """
    if is_foreign(path, folder) and not files.boundary(path).allows(path):
        hint = "take ownership of it, delete it, or allow its folder: --allow-outside DIR"
        fault = Diagnostic("file", "belongs to another user", Span(path), (), hint)
        return Project(path, Document({}, _nowhere(path)), [fault])
    reading = files.read(path, "project")
    diagnostics = list(reading.diagnostics)
    if not reading.documents:
        return Project(path, Document({}, _nowhere(path)), diagnostics)
    document = reading.documents[0]
    refusal = gate.check(document, gate.PROJECT)
    diagnostics += refusal.diagnostics
    diagnostics += _duplicates(document)
    data = remove(document.data, refusal.unreadable | refusal.unknown)
    valid = Document(data if isinstance(data, dict) else {}, document.place)
    return Project(path, valid, diagnostics)


def _named(document: Document) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the datacenters that have a name, with their index."""
    datacenters = document.at(("datacenters",))
    for index, entry in enumerate(datacenters if isinstance(datacenters, list) else ()):
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield index, entry


def _duplicates(document: Document) -> Iterator[Diagnostic]:
    """Report datacenters with the same name."""
    seen: dict[str, Span] = {}
    for index, entry in _named(document):
        path = ("datacenters", index, "name")
        span, name = document.locate(path), entry["name"]
        if name in seen:
            first = seen[name]
            where = f"line {first.line}, column {first.column}"
            message = f'duplicate datacenter "{name}": first set at {where}'
            yield Diagnostic("duplicate-key", message, span, path)
        seen.setdefault(name, span)


def unknown_datacenter(name: str, known: list[str], span: Span) -> Diagnostic:
    """Report a datacenter that the project file does not list."""
    hint = did_you_mean(name, known)
    hint = hint or (f"use one of {', '.join(known)}" if known else f"add it to {FILE_NAME}")
    return Diagnostic("unknown-datacenter", f'unknown datacenter "{name}"', span, (), hint)


def _nowhere(path: str) -> Any:
    from paddlespec.spec.document import Origin, Place

    return Place(Origin("project", path), (0, 0), (0, 0), {}, {})
