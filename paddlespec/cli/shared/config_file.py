"""The two files that `config` edits: the user's own, and the project's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from paddlespec.cli.shared import datacenters
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.output import note
from paddlespec.cli.shared.write_files import write_all

if TYPE_CHECKING:
    from paddlespec.diagnostic import Diagnostic, Path, Span
    from paddlespec.spec.edit import Source
    from paddlespec.spec.edit.splice import Action
    from paddlespec.spec.project import Project

InProject = Annotated[
    bool,
    typer.Option(
        "--project", help="Edit the project file, which the team shares, not your own file."
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a datacenter.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would change; write nothing.")]


class Edited(NamedTuple):
    """A file that is being edited: its source, and its text so far."""

    path: str
    schema: str
    source: Source
    text: str
    is_new: bool = False

    def put(self, path: Path, value: Any, span: Span, action: Action = "set") -> Edited:
        """The file with one value added, removed or changed."""
        from paddlespec.spec.edit import with_value

        text = with_value(self.text, self.path, path, value, self.schema, span, action)
        return self._replace(text=text)

    @property
    def data(self) -> dict[str, Any]:
        """Its values so far."""
        from paddlespec.spec.source import read

        (document,) = read(self.text, self.path).documents
        return document.data if isinstance(document.data, dict) else {}

    @property
    def holder(self) -> str:
        """The key of its list of datacenters."""
        return "connections" if self.schema == "paddlespec.config.v1.json" else "datacenters"

    def position_of(self, name: str) -> int | None:
        """The index of a datacenter in that list."""
        listed = self.data.get(self.holder) or []
        return next((index for index, one in enumerate(listed) if one.get("name") == name), None)

    @property
    def is_changed(self) -> bool:
        """Whether there is anything to write."""
        return self.is_new or self.text != self.source.text

    def write(self) -> None:
        """Write the file if it changed; raises `Stop`."""
        if not self.is_changed:
            return
        folder = os.path.dirname(self.path)
        if folder:
            try:
                os.makedirs(folder, mode=0o700, exist_ok=True)
            except OSError as error:
                raise Stop(Exit.refused, f"cannot write {folder}: {error.strerror}") from None
        write_all({self.path: self.source.with_text(self.text)})

    def write_and_note(self) -> None:
        """Write the file, and print whether it changed."""
        self.write()
        note(f"{self.path}: {'changed' if self.is_changed else 'nothing to change'}")


def opened(*, project: bool) -> Edited:
    """One of the two files; the user's own begins empty. Raises `InvalidSpec`."""
    from paddlespec.spec import gate
    from paddlespec.spec.edit import Source

    if project:
        path = the_project().path
        return _read(path, gate.PROJECT)
    from paddlespec.config.settings import EMPTY, load

    path = load().path
    if os.path.exists(path):
        return _read(path, gate.CONFIG)
    source = Source.of(EMPTY.encode(), path)
    return Edited(path, gate.CONFIG, source, source.text, is_new=True)


def the_project() -> Project:
    """The valid project file of the current folder; raises `Stop` if there is none."""
    found = datacenters.valid_project()
    if found is None:
        raise Stop(
            Exit.usage,
            "no project file in this folder or above",
            "write .paddlespec.yaml: apiVersion: paddlespec.io/v1, kind: Project, project: NAME",
        )
    return found


def unknown_datacenter(name: str, known: list[str]) -> Stop:
    """The failure for a datacenter that neither file names."""
    from paddlespec.diagnostic import did_you_mean

    hint = did_you_mean(name, known) or (f"datacenters: {', '.join(known)}" if known else None)
    hint = hint or f"paddlespec config add {name} --context CONTEXT"
    return Stop(Exit.usage, f'unknown datacenter "{name}"', hint)


def faults(text: str, path: str, schema: str) -> list[Diagnostic]:
    """Every diagnostic of one of the two files."""
    from paddlespec.config.settings import checked
    from paddlespec.spec import gate
    from paddlespec.spec.source import read

    if schema == gate.CONFIG:
        return checked(text, path)[1]
    reading = read(text, path, "project")
    found = list(reading.diagnostics)
    for document in reading.documents[:1]:
        found += gate.check(document, gate.PROJECT).diagnostics
    return found


def _read(path: str, schema: str) -> Edited:
    from paddlespec.spec.edit import Source

    with open(path, "rb") as file:
        source = Source.of(file.read(), path)
    return Edited(path, schema, source, source.text)
