"""The two files that `config` edits: a person's own, and the project's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.diagnostic import Diagnostic, Path, Span
    from paddlespec.edit import Source
    from paddlespec.edit.splice import Action
    from paddlespec.project import Project

InProject = Annotated[
    bool, typer.Option("--project", help="In the project file, for everybody; not in one's own.")
]


class Edited(NamedTuple):
    """A file that is being edited: what it was, and its text by now."""

    path: str
    schema: str
    source: Source
    text: str
    is_new: bool = False

    def put(self, path: Path, value: Any, span: Span, action: Action = "set") -> Edited:
        """The file with one value more, less or changed."""
        from paddlespec.edit import with_value

        text = with_value(self.text, self.path, path, value, self.schema, span, action)
        return self._replace(text=text)

    @property
    def data(self) -> dict[str, Any]:
        """What the file says by now."""
        from paddlespec.source import read

        (document,) = read(self.text, self.path).documents
        return document.data if isinstance(document.data, dict) else {}

    @property
    def holder(self) -> str:
        """The key of its list of datacenters."""
        return "connections" if self.schema == "paddlespec.config.v1.json" else "datacenters"

    def position_of(self, name: str) -> int | None:
        """Where a datacenter stands in its list."""
        listed = self.data.get(self.holder) or []
        return next((i for i, each in enumerate(listed) if each.get("name") == name), None)

    @property
    def is_changed(self) -> bool:
        return self.is_new or self.text != self.source.text

    def write(self) -> None:
        """Write the file, if there is something to write."""
        from paddlespec.cli.write import write_all

        if not self.is_changed:
            return
        folder = os.path.dirname(self.path)
        if folder:
            try:
                os.makedirs(folder, mode=0o700, exist_ok=True)
            except OSError as error:
                raise Stop(Exit.refused, f"cannot write {folder}: {error.strerror}") from None
        write_all({self.path: self.source.with_text(self.text)})


def opened(*, project: bool) -> Edited:
    """One of the two files as it is; one's own begins empty. Raises `InvalidSpec`."""
    from paddlespec import gate
    from paddlespec.edit import Source

    if project:
        path = the_project().path
        return _read(path, gate.PROJECT)
    from paddlespec.settings import EMPTY, load

    path = load().path
    if os.path.exists(path):
        return _read(path, gate.CONFIG)
    source = Source.of(EMPTY.encode(), path)
    return Edited(path, gate.CONFIG, source, source.text, is_new=True)


def _read(path: str, schema: str) -> Edited:
    from paddlespec.edit import Source

    with open(path, "rb") as file:
        source = Source.of(file.read(), path)
    return Edited(path, schema, source, source.text)


def the_project() -> Project:
    """The project file of the current folder, which must be valid."""
    from paddlespec.cli import connect
    from paddlespec.diagnostic import InvalidSpec, has_errors

    found = connect.here()
    if found is None:
        raise Stop(
            Exit.usage,
            "there is no project file here or above",
            "write .paddlespec.yaml: apiVersion: paddlespec.io/v1, kind: Project, project: NAME",
        )
    if has_errors(found.diagnostics):
        raise InvalidSpec(found.diagnostics)
    return found


def faults(text: str, path: str, schema: str) -> list[Diagnostic]:
    """Everything that is wrong with one of the two files."""
    from paddlespec import gate
    from paddlespec.settings import checked
    from paddlespec.source import read

    if schema == gate.CONFIG:
        return checked(text, path)[1]
    reading = read(text, path, "project")
    found = list(reading.diagnostics)
    for each in reading.documents[:1]:
        found += gate.check(each, gate.PROJECT).diagnostics
    return found
