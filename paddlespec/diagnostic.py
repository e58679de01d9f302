"""Diagnostics: one type for every problem in a spec, each with its exact position."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Path = tuple["str | int", ...]
"""The location of a value in a document: `("spec", "volumes", 0, "mountPath")`."""


class Severity(str, Enum):
    """How serious a diagnostic is; only an error makes a spec invalid."""

    error = "error"
    warning = "warning"


class Span(NamedTuple):
    """
    A range of characters within one line of a source.

    Lines and columns count from 1, columns in code points; `end_column` is the first one after
    the range. Line 0 means the whole source: a file that cannot be read, or an option.
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class Diagnostic(NamedTuple):
    """
    One error or warning.

    `code` is a stable kebab-case word with a heading in `docs/diagnostics.md`; `path` locates the
    value in the effective document; `hint` is the likely fix.
    """

    code: str
    message: str
    span: Span
    path: Path = ()
    hint: str | None = None
    severity: Severity = Severity.error

    def __str__(self) -> str:
        return f"{self.span}: {self.severity.value}: {self.message} [{self.code}]"

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.error


class InvalidSpec(Exception):
    """Raised for a spec that cannot be used; holds all diagnostics, sorted."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = in_order(diagnostics)
        super().__init__("\n".join(map(str, self.diagnostics)))


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """
    Sort by position and remove duplicates.

    An overlay is validated alone and again as part of the merged document, so one fault may be
    reported twice. The messages then differ only in the path they name, and the last part of the
    path distinguishes several keys that are missing from one mapping. A number that cannot be read
    is kept as text; errors about that text are dropped.
    """
    diagnostics = list(diagnostics)
    unread = {diagnostic.span for diagnostic in diagnostics if diagnostic.code == "number"}
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in diagnostics:
        span, code, message = diagnostic.span, diagnostic.code, diagnostic.message
        if span in unread and code in ("type", "format", "range", "choice"):
            continue
        path = diagnostic.path[-1:] if span.line else diagnostic.path
        message = message.replace(dotted(diagnostic.path), "", 1)
        if code in ("missing-key", "choice"):  # a layer allows other values than the whole document
            message = ""
        unique.setdefault((span, code, path, message), diagnostic)
    return sorted(unique.values(), key=_position)


def _position(diagnostic: Diagnostic) -> tuple[Span, str, str]:
    return diagnostic.span, diagnostic.code, diagnostic.message


def has_errors(diagnostics: Sequence[Diagnostic]) -> bool:
    """Whether any of *diagnostics* makes the spec invalid."""
    return any(diagnostic.is_error for diagnostic in diagnostics)


def dotted(path: Path) -> str:
    """Format *path* for people: `spec.volumes[0].mountPath`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            part = f'"{part}"' if "." in part or "/" in part else part
            text += f".{part}" if text else part
    return text


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most similar to *word*, or None if none is similar enough."""
    from difflib import get_close_matches

    known = list(known)
    by_folded = {_folded(candidate): candidate for candidate in known}
    same = by_folded.get(_folded(word))
    matches = [same] if same else get_close_matches(word, known, n=1, cutoff=0.6)
    return matches[0] if matches else None


def _folded(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the hint for a misspelled *word*."""
    match = nearest(word, known)
    return f'did you mean "{match}"?' if match else None
