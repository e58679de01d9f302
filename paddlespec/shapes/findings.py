"""`validate`, `explain` and `logs`: what is wrong, what may be said, what was written."""

from __future__ import annotations

from typing import Annotated, Any

from typing_extensions import NotRequired

from paddlespec.diagnostic import Severity
from paddlespec.shapes.base import Count, Shape, Time, one_of

_Severity = Annotated[
    str,
    one_of(
        Severity,
        error="The spec is not valid.",
        warning="The spec is valid, and likely not meant so.",
    ),
]


class Finding(Shape):
    """One finding; without a line it is about an option or a file as a whole."""

    code: str
    """What kind of finding it is: a stable word, a heading of docs/diagnostics.md."""
    severity: _Severity
    """How bad it is."""
    message: str
    """What was found and what was expected, for people."""
    file: str
    """The file, or the option."""
    line: int | None
    """The line, from 1 on."""
    column: int | None
    """The first column, from 1 on, in code points."""
    endColumn: int | None
    """The first column after the stretch."""
    path: str | None
    """Where the value stands in the spec, as in `spec.volumes[0].mountPath`."""
    hint: str | None
    """The likely repair, for people."""


class Findings(Shape):
    """What `validate` shows."""

    diagnostics: list[Finding]
    """The findings, by file and place."""
    errors: Count
    """How many make a spec invalid."""
    warnings: Count
    """How many do not."""


class Choice(Shape):
    """One value that a field may have."""

    value: str
    """The value."""
    description: str
    """What it means."""


class Field(Shape):
    """What `explain` shows: a field of a spec."""

    path: str
    """Where it stands, as in `spec.trainers.resources`; empty for the whole spec."""
    types: list[str]
    """The JSON types that it takes, as in a schema; any if the list is empty."""
    required: bool
    """Whether it has to be there once all layers are merged."""
    description: str
    """What it means."""
    default: NotRequired[Any]
    """What it is when nobody says; the key is absent if there is no default."""
    expected: NotRequired[str]
    """What is expected beyond the type, for people."""
    values: NotRequired[list[Choice]]
    """All values that it may have, where these are known."""
    examples: list[Any]
    """Values as somebody might write them."""
    fields: NotRequired[list[Field]]
    """The fields inside of it; without --recursive only those of the field that was asked for."""


class Line(Shape):
    """What `logs` shows: one object for each line, one on each line of the output."""

    time: Time | None
    """When its first byte was written, in UTC."""
    role: str
    """The role of the replica: `trainers` or `pservers`."""
    index: int
    """The number of the replica within its role, from 0 on."""
    name: str
    """The name of the pod or the process."""
    text: str
    """The line without its end; what is no UTF-8 is replaced."""
    partial: NotRequired[bool]
    """True for a line that has no end yet; the key is absent otherwise."""
