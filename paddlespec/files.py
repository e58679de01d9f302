"""Reading files once, and finding the specs of a folder."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from paddlespec import project
from paddlespec.diagnostic import Diagnostic, Span
from paddlespec.source import MOST_BYTES, Reading, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.project import Project

STDIN = "-"
_API_VERSION = b"paddlespec.io/"
# Layers of specs, and what specs are rendered to.
_NO_SPECS = ("Overlay", "Project", "Config", "Rehearsal", "Process")
_SKIPPED = frozenset((".git", ".venv", "node_modules", "__pycache__"))


class Files:
    """
    The files of one command: each is read once, its text kept for excerpts.

    A file that cannot be read is a finding like any other. *stdin* stands for standard input: a
    spec that a command makes itself.
    """

    def __init__(self, stdin: bytes | None = None) -> None:
        self._stdin = stdin
        self._readings: dict[tuple[str, str], Reading] = {}
        self._projects: dict[str, Project | None] = {}
        self.texts: dict[str, str] = {}

    def project(self, folder: str) -> Project | None:
        """The project file that governs *folder*, read once."""
        if folder not in self._projects:
            path = project.find(folder)
            self._projects[folder] = project.load(path, self) if path else None
        return self._projects[folder]

    def read(self, path: str, layer: str = "spec") -> Reading:
        """
        The documents of the file at *path*, `-` for standard input.

        What other layers share is read once; a spec is used once, and thousands need not be kept.
        """
        if layer == "spec" and path != STDIN:
            return self._read(path, layer)
        key = (path, layer)
        if key not in self._readings:
            self._readings[key] = self._read(path, layer)
        return self._readings[key]

    def excerpted(self, found: Iterable[Diagnostic]) -> dict[str, str]:
        """The texts of the files that *found* points at."""
        names = {each.span.file for each in found}
        return {name: self.texts[name] for name in names if name in self.texts}

    def _read(self, path: str, layer: str) -> Reading:
        name = "<stdin>" if path == STDIN else path
        try:
            if path == STDIN and self._stdin is not None:
                content = self._stdin
            elif path == STDIN:
                content = sys.stdin.buffer.read(MOST_BYTES + 1)
            else:
                with open(path, "rb") as file:
                    content = file.read(MOST_BYTES + 1)
        except OSError as error:
            return Reading([], [_unreadable(name, error)])
        except ValueError:
            return Reading(
                [], [Diagnostic("file", "the name of the file is not usable", Span(name))]
            )
        reading = read(content, name, layer)
        if reading.diagnostics:
            self.texts[name] = content.decode("utf-8-sig", "replace")
        for document in reading.documents[:1]:
            self.texts[name] = document.place.origin.text
        return reading

    def specs(self, paths: Iterable[str]) -> tuple[list[str], list[Diagnostic]]:
        """The files that *paths* name, folders walked; in order, once each."""
        found: dict[str, None] = {}
        faults = []
        for path in paths:
            if path != STDIN and os.path.isdir(path):
                inside, closed = _walk(path)
                faults += closed
                if not inside and not closed:
                    hint = "a spec is called paddlejob.yaml, or names our apiVersion"
                    faults.append(Diagnostic("file", "holds no spec", Span(path), (), hint))
                found.update(dict.fromkeys(inside))
            else:
                found[path] = None
        return list(found), faults


def _unreadable(name: str, error: OSError) -> Diagnostic:
    return Diagnostic(
        "file", f"cannot be read: {(error.strerror or str(error)).lower()}", Span(name)
    )


def _walk(folder: str) -> tuple[list[str], list[Diagnostic]]:
    """The specs below *folder* in order, and the folders that nobody may look into."""
    found: list[str] = []
    closed: list[Diagnostic] = []

    def unreadable(error: OSError) -> None:
        closed.append(_unreadable(str(error.filename), error))

    for where, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = set(folders) - _SKIPPED
        paths = [os.path.join(where, name) for name in names if name.endswith((".yaml", ".yml"))]
        found += [each for each in paths if not _is_special(each) and _is_spec(each)]
    return sorted(found), closed


def _is_special(path: str) -> bool:
    """Whether nothing but an open end is to be read there: pipes, sockets, devices."""
    return os.path.exists(path) and not os.path.isfile(path)


def _is_spec(path: str) -> bool:
    """Whether a YAML file is called as specs are, or says that it is one."""
    if os.path.basename(path).startswith("paddlejob"):
        return True
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES)
    except OSError as error:
        return isinstance(error, PermissionError)  # reading it again tells that
    if _API_VERSION not in content:
        return False
    return any(
        isinstance(each.data, dict)
        and str(each.data.get("apiVersion", "")).startswith("paddlespec.io/")
        and each.data.get("kind") not in _NO_SPECS
        for each in read(content, path).documents
    )
