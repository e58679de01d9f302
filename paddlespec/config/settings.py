"""
The user configuration: the current datacenter, and the connections to datacenters.

It selects connections and never affects rendering.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import (
    Diagnostic,
    InvalidSpec,
    Span,
    has_errors,
)
from paddlespec.spec import gate
from paddlespec.spec.source import read
from paddlespec.user_dirs import user_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.spec.document import Document
    from paddlespec.spec.project import Project

EMPTY = "apiVersion: paddlespec.io/v1\nkind: Config\n"


class Settings(NamedTuple):
    """The valid configuration at *path*, or none if the file does not exist."""

    path: str
    document: Document | None = None

    @property
    def data(self) -> dict[str, Any]:
        data = self.document.data if self.document else None
        return data if isinstance(data, dict) else {}

    @property
    def datacenter(self) -> str | None:
        """The current datacenter."""
        name: str | None = self.data.get("datacenter")
        return name

    @property
    def connections(self) -> dict[str, dict[str, Any]]:
        """The connections by name."""
        return {connection["name"]: connection for connection in self.data.get("connections") or ()}


class Value(NamedTuple):
    """A value and its origin."""

    value: str | None
    origin: str


class Place(NamedTuple):
    """The datacenter, context and namespace of a command without options."""

    datacenter: Value
    context: Value
    namespace: Value


def path_of(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of the user configuration, which may not exist."""
    return os.path.join(user_dir("config", environment), "config.yaml")


def load(path: str | None = None) -> Settings:
    """Read the configuration; raises `InvalidSpec` with all its errors."""
    path = path or path_of()
    try:
        with open(path, "rb") as file:
            content = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return Settings(path)
    except OSError as error:
        message = f"cannot read file: {(error.strerror or str(error)).lower()}"
        raise InvalidSpec([Diagnostic("file", message, Span(path))]) from None
    document, diagnostics = checked(content, path)
    if has_errors(diagnostics) or document is None:
        raise InvalidSpec(diagnostics)
    return Settings(path, document)


def checked(content: bytes | str, path: str) -> tuple[Document | None, list[Diagnostic]]:
    """Parse and validate a configuration."""
    reading = read(content, path, "configuration")
    diagnostics = list(reading.diagnostics)
    if not reading.documents:
        hint = "delete the file, or add settings"
        empty = Diagnostic("empty", "the file is empty", Span(path), (), hint)
        return None, diagnostics or [empty]
    document = reading.documents[0]
    diagnostics += gate.check(document, gate.CONFIG).diagnostics
    if not diagnostics:
        diagnostics += _duplicates(document)
    return document, diagnostics


def _duplicates(document: Document) -> list[Diagnostic]:
    """Report connections with the same name."""
    seen: set[str] = set()
    diagnostics = []
    for index, entry in enumerate(document.at(("connections",)) or ()):
        path = ("connections", index, "name")
        if entry["name"] in seen:
            message = f'duplicate connection "{entry["name"]}"'
            span = document.locate(path)
            diagnostics.append(Diagnostic("duplicate-key", message, span, path))
        seen.add(entry["name"])
    return diagnostics


def place(settings: Settings, project: Project | None, datacenter: str | None = None) -> Place:
    """
    Return the place of a command without options, in *datacenter* or the current one.

    The context of the user takes precedence over that of the project. The namespace of the project
    takes precedence, because it is part of rendering. Defaults come last.
    """
    chosen = _chosen(settings, project, datacenter)
    connection = settings.connections.get(chosen.value or "", {})
    shared = (project.datacenters if project else {}).get(chosen.value or "", {})
    defaults = settings.data.get("defaults") or {}

    def first(key: str, otherwise: str) -> Value:
        sources: list[tuple[Any, str]] = [
            (connection.get(key), f"{settings.path}, connection {chosen.value}"),
            (shared.get(key), f"{project.path if project else ''}, datacenter {chosen.value}"),
            (defaults.get(key), f"{settings.path}, defaults"),
        ]
        if key == "namespace":
            sources[:2] = sources[1::-1]
        value = next((Value(*source) for source in sources if isinstance(source[0], str)), None)
        return value or Value(None, otherwise)

    return Place(
        chosen,
        first("context", "the current context of the kubeconfig"),
        first("namespace", "the namespace of the context"),
    )


def _chosen(settings: Settings, project: Project | None, requested: str | None) -> Value:
    if requested is not None:
        return Value(requested, "command line")
    if settings.datacenter is not None:
        return Value(settings.datacenter, settings.path)
    shared = project.chosen(None) if project else None
    if project and shared is not None:
        return Value(shared, project.path)
    return Value(None, "not set")


def disagreement(
    settings: Settings, project: Project | None, rendered: str | None
) -> tuple[str, str] | None:
    """
    Return why a rendered job must not be applied in the current datacenter, and a hint.

    A job must never be applied in another datacenter than the one it was rendered for.
    """
    current = settings.datacenter
    if current is None or current == rendered:
        return None
    if rendered is None:
        if project is None or current not in project.datacenters:
            return None
        reason = f"rendered without a datacenter, but the current datacenter is {current}"
        return reason, f"add --datacenter {current}, or run: paddlespec config unset datacenter"
    reason = f"rendered for datacenter {rendered}, but the current datacenter is {current}"
    hint = f"run: paddlespec config use {rendered}"
    if project is not None and current in project.datacenters:
        hint += f"; or add --datacenter {current}"
    return reason, hint
