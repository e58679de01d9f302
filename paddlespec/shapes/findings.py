"""The output of `validate`, `explain` and `logs`."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from paddlespec.diagnostic import Severity
from paddlespec.shapes.base import (
    Count,
    Shape,
    Time,
    one_of,
)

_Severity = Annotated[
    str,
    one_of(
        Severity,
        error="The spec is invalid.",
        warning="The spec is valid, but probably not what was intended.",
    ),
]


class Finding(Shape):
    """One finding; without a line it is about an option or a file as a whole."""

    code: str
    """The stable code of the finding, a heading of docs/diagnostics.md."""
    severity: _Severity
    """The severity."""
    message: str
    """What is wrong, for people."""
    file: str
    """The file, or the option."""
    line: int | None
    """The line, starting at 1."""
    column: int | None
    """The first column, starting at 1, in code points."""
    endColumn: int | None
    """The column after the last one."""
    path: str | None
    """The path of the value in the spec, such as `spec.volumes[0].mountPath`."""
    hint: str | None
    """How to fix it, for people."""


class Findings(Shape):
    """The output of `validate`."""

    diagnostics: list[Finding]
    """The findings, sorted by file and position."""
    errors: Count
    """The number of errors."""
    warnings: Count
    """The number of warnings."""


class Choice(Shape):
    """One allowed value of a field."""

    value: str
    """The value."""
    description: str
    """The meaning of the value."""


class Field(Shape):
    """The output of `explain`: a field of a spec."""

    path: str
    """The path, such as `spec.trainers.resources`; empty for the whole spec."""
    types: list[str]
    """The allowed JSON types; any type if the list is empty."""
    required: bool
    """Whether the field is required once all layers are merged."""
    description: str
    """The meaning of the field."""
    default: NotRequired[Any]
    """The default; absent if there is none."""
    expected: NotRequired[str]
    """What is expected beyond the type, for people."""
    values: NotRequired[list[Choice]]
    """The allowed values, if they are a closed set."""
    examples: list[Any]
    """Example values."""
    fields: NotRequired[list[Field]]
    """The child fields; without --recursive, only those of the requested field."""


class Line(Shape):
    """The output of `logs`: one object per line."""

    time: Time | None
    """When the first byte of the line was written, in UTC."""
    role: str
    """The role of the replica: `trainers` or `pservers`."""
    index: int
    """The index of the replica within its role, starting at 0."""
    name: str
    """The name of the pod or the process."""
    text: str
    """The line without its line break; invalid UTF-8 is replaced."""
    partial: NotRequired[bool]
    """True for an incomplete line; absent otherwise."""
