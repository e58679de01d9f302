"""
A person's own configuration: the current datacenter, and how this person reaches datacenters.

It chooses connections. Nothing on the path from a spec to its manifests reads it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import gate
from paddlespec.diagnostic import Diagnostic, InvalidSpec, Span, has_errors
from paddlespec.source import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddlespec.document import Document
    from paddlespec.project import Project

EMPTY = "apiVersion: paddlespec.io/v1\nkind: Config\n"


class Settings(NamedTuple):
    """The file at *path*, valid or not there; its values as plain data."""

    path: str
    document: Document | None = None

    @property
    def data(self) -> dict[str, Any]:
        data = self.document.data if self.document else None
        return data if isinstance(data, dict) else {}

    @property
    def datacenter(self) -> str | None:
        """The current datacenter."""
        found: str | None = self.data.get("datacenter")
        return found

    @property
    def connections(self) -> dict[str, dict[str, Any]]:
        """The connections by name."""
        return {each["name"]: each for each in self.data.get("connections") or ()}


class Value(NamedTuple):
    """A value, and who supplied it."""

    value: str | None
    origin: str


class Place(NamedTuple):
    """Where a command goes when no option says so."""

    datacenter: Value
    context: Value
    namespace: Value


def path_of(environment: Mapping[str, str] = os.environ) -> str:
    """Where a person's own configuration is, whether it exists or not."""
    base = environment.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):  # the XDG specification has relative ones ignored
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "paddlespec", "config.yaml")


def load(path: str | None = None) -> Settings:
    """Read the configuration; raises `InvalidSpec` with all that is wrong with it."""
    path = path or path_of()
    try:
        with open(path, "rb") as file:
            content = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return Settings(path)
    except OSError as error:
        message = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise InvalidSpec([Diagnostic("file", message, Span(path))]) from None
    document, found = checked(content, path)
    if has_errors(found) or document is None:
        raise InvalidSpec(found)
    return Settings(path, document)


def checked(content: bytes | str, path: str) -> tuple[Document | None, list[Diagnostic]]:
    """What a configuration says, and everything that is wrong with it."""
    reading = read(content, path, "configuration")
    found = list(reading.diagnostics)
    if not reading.documents:
        empty = Diagnostic("empty", "must not be empty", Span(path), (), "delete it, or fill it")
        return None, found or [empty]
    document = reading.documents[0]
    found += gate.check(document, gate.CONFIG).diagnostics
    if not found:
        found += _repeated(document)
    return document, found


def _repeated(document: Document) -> list[Diagnostic]:
    """Connections are told apart by their names."""
    seen: set[str] = set()
    found = []
    for index, each in enumerate(document.at(("connections",)) or ()):
        path = ("connections", index, "name")
        if each["name"] in seen:
            message = f'the connection "{each["name"]}" stands here twice'
            found.append(Diagnostic("duplicate-key", message, document.locate(path), path))
        seen.add(each["name"])
    return found


def place(settings: Settings, project: Project | None, datacenter: str | None = None) -> Place:
    """
    Where a command goes without options, for *datacenter* or else the current one.

    One's own context goes before what the project says for everybody, one's own namespace only
    where the project names none; defaults go last.
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
        if key == "namespace":  # the project's is part of what is rendered
            sources[:2] = sources[1::-1]
        found = next((Value(*each) for each in sources if isinstance(each[0], str)), None)
        return found or Value(None, otherwise)

    return Place(
        chosen,
        first("context", "the current context of the kubeconfig"),
        first("namespace", "the namespace of the context"),
    )


def _chosen(settings: Settings, project: Project | None, asked: str | None) -> Value:
    if asked is not None:
        return Value(asked, "named")
    if settings.datacenter is not None:
        return Value(settings.datacenter, settings.path)
    shared = project.chosen(None) if project else None
    if project and shared is not None:
        return Value(shared, project.path)
    return Value(None, "no file chooses one")


def disagreement(
    settings: Settings, project: Project | None, rendered: str | None
) -> tuple[str, str] | None:
    """
    Why a job that was rendered for a datacenter, or none, must not go to the current one; a hint.

    A connection to another place than the one that was reviewed is never what is meant.
    """
    current = settings.datacenter
    if current is None or current == rendered:
        return None
    if rendered is None:
        if project is None or current not in project.datacenters:
            return None
        told = f"it is rendered for no datacenter, and the current one is {current}"
        return told, f"give --datacenter {current}, or run: paddlespec config unset datacenter"
    told = f"it is rendered for datacenter {rendered}, and the current one is {current}"
    hint = f"run: paddlespec config use {rendered}"
    if project is not None and current in project.datacenters:
        hint += f"; or give --datacenter {current}"
    return told, hint
