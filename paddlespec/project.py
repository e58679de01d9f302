"""The project file: found from the spec's folder upward, and the layers that it supplies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import gate
from paddlespec.diagnostic import Diagnostic, Span, did_you_mean
from paddlespec.document import Document, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.files import Files

FILE_NAME = ".paddlespec.yaml"


class Project(NamedTuple):
    """A project file that was read: what is valid of it, and what was found."""

    path: str
    document: Document
    diagnostics: list[Diagnostic]

    @property
    def name(self) -> str | None:
        """The name that groups jobs in the cluster."""
        name = self.document.at(("project",))
        return name if isinstance(name, str) else None

    @property
    def datacenters(self) -> dict[str, Any]:
        """The datacenters by name, as plain data."""
        return {each["name"]: each for _, each in _named(self.document)}

    def chosen(self, datacenter: str | None) -> str | None:
        """The name of the datacenter to use: the one asked for, else the file's own choice."""
        own = self.document.at(("datacenter",))
        return datacenter or (own if isinstance(own, str) else None)

    def local_claims(self, datacenter: str | None) -> dict[str, str]:
        """The claims of *datacenter* that folders of one's own machine stand in for, and which."""
        storages = self.datacenters.get(datacenter or "", {}).get("storages") or {}
        folder = os.path.dirname(os.path.abspath(self.path))
        return {
            each["claim"]: os.path.normpath(os.path.join(folder, os.path.expanduser(each["local"])))
            for each in storages.values()
            if isinstance(each, dict) and each.get("claim") and each.get("local")
        }

    def layers(self, datacenter: str | None) -> list[Document]:
        """The defaults and the datacenter's values, lowest first, as layers of a whole spec."""
        found = []
        if defaults := self.document.part("defaults"):
            found.append(defaults.under("spec").labelled("project defaults"))
        for index, each in _named(self.document):
            label = f"datacenter {each['name']}"
            if each["name"] != datacenter:
                continue
            if spec := self.document.part("datacenters", index, "spec"):
                found.append(spec.under("spec").labelled(label))
            if namespace := self.document.part("datacenters", index, "namespace"):
                found.append(namespace.under("metadata", "namespace").labelled(label))
        return found


def find(folder: str) -> str | None:
    """The path of the project file that governs *folder*; the search ends at a repository's root."""
    folder = os.path.abspath(folder)
    while True:
        path = os.path.join(folder, FILE_NAME)
        if os.path.isfile(path):
            return os.path.relpath(path)
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = parent


def load(path: str, files: Files) -> Project:
    """Read the project file at *path*; what is wrong with it is no reason to stop."""
    reading = files.read(path, "project")
    found = list(reading.diagnostics)
    if not reading.documents:
        return Project(path, Document({}, _nowhere(path)), found)
    document = reading.documents[0]
    refusal = gate.check(document, gate.PROJECT)
    found += refusal.diagnostics
    found += _repeated(document)
    usable = remove(document.data, refusal.spoiled | refusal.unknown)
    return Project(
        path, Document(usable if isinstance(usable, dict) else {}, document.place), found
    )


def _named(document: Document) -> Iterator[tuple[int, dict[str, Any]]]:
    """The datacenters that can be chosen, each with its place in the list."""
    listed = document.at(("datacenters",))
    for index, each in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            yield index, each


def _repeated(document: Document) -> Iterator[Diagnostic]:
    """Datacenters are told apart by their names."""
    seen: dict[str, Span] = {}
    for index, each in _named(document):
        path = ("datacenters", index, "name")
        span, name = document.locate(path), each["name"]
        if name in seen:
            first = seen[name]
            where = f"line {first.line}, column {first.column}"
            message = f'the datacenter "{name}" is already at {where}'
            yield Diagnostic("duplicate-key", message, span, path)
        seen.setdefault(name, span)


def unknown_datacenter(name: str, known: list[str], span: Span) -> Diagnostic:
    """The finding for a datacenter that the project file does not list."""
    hint = did_you_mean(name, known)
    hint = hint or (f"there is {', '.join(known)}" if known else "the project file lists none")
    return Diagnostic("unknown-datacenter", f'no datacenter is called "{name}"', span, (), hint)


def _nowhere(path: str) -> Any:
    from paddlespec.document import Origin, Place

    return Place(Origin("project", path), (0, 0), (0, 0), {}, {})
