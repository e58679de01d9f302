"""Findings: one type for everything that can be wrong with a spec, each at its word."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Path = tuple["str | int", ...]
"""Where a value stands in a document: `("spec", "volumes", 0, "mountPath")`."""


class Severity(str, Enum):
    """How bad a finding is; only an error makes a spec invalid."""

    error = "error"
    warning = "warning"


class Span(NamedTuple):
    """
    A stretch of one line of a source.

    Lines and columns count from 1, columns in code points; `end_column` is the first one after
    the stretch. Line 0 means the source as a whole: a file that cannot be read, an option.
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class Diagnostic(NamedTuple):
    """
    One finding.

    `code` is a stable kebab-case word with a heading in `docs/diagnostics.md`; `path` is where the
    value stands in the effective document; `hint` is the likely repair.
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
    """A spec cannot be used; carries every finding, in order."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = in_order(diagnostics)
        super().__init__("\n".join(map(str, self.diagnostics)))


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """
    Sort by place and drop repeats.

    Two gates may find one fault (an overlay alone, and again in the merged document), so findings
    that say the same of the same place are one. The last part of the path tells apart what is
    missing from one mapping; the rest of it, which may begin the message, differs between a layer
    and the whole. A number that cannot be read is kept as text, and that it is text is no news.
    """
    diagnostics = list(diagnostics)
    unread = {each.span for each in diagnostics if each.code == "number"}
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for each in diagnostics:
        if each.span in unread and each.code in ("type", "format", "range", "choice"):
            continue
        path = each.path[-1:] if each.span.line else each.path
        said = each.message.removeprefix(f"{dotted(each.path)}: ")
        if each.code in ("missing-key", "choice"):  # what is asked for differs, the fault does not
            said = ""
        unique.setdefault((each.span, each.code, path, said), each)
    return sorted(unique.values(), key=lambda each: (each.span, each.code, each.message))


def has_errors(diagnostics: Sequence[Diagnostic]) -> bool:
    """Whether any of *diagnostics* makes the spec invalid."""
    return any(each.is_error for each in diagnostics)


def dotted(path: Path) -> str:
    """*path* as people write it: `spec.volumes[0].mountPath`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            part = f'"{part}"' if "." in part or "/" in part else part
            text += f".{part}" if text else part
    return text


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that *word* was most likely meant to be, or nothing when none is close."""
    from difflib import get_close_matches

    known = list(known)
    folded = {each.lower().replace("-", "").replace("_", ""): each for each in known}
    same = folded.get(word.lower().replace("-", "").replace("_", ""))
    close = [same] if same else get_close_matches(word, known, n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """The hint for a misspelt *word*."""
    close = nearest(word, known)
    return f'did you mean "{close}"?' if close else None
