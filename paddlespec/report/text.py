"""Print findings as text: a line each with its hint, and on a terminal the line of the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.report.mask import redacted
from paddlespec.report.width import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.diagnostic import Diagnostic
    from paddlespec.report.excerpt import Excerpts

_BOLD, _DIM, _CYAN, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"
_COLORS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m"}


def diagnostics(
    findings: Sequence[Diagnostic],
    texts: Mapping[str, str],
    *,
    color: bool,
    excerpts: bool | None = None,
) -> str:
    """
    Print *findings* as text: one line per finding, and an indented one for its hint.

    *texts* maps names of sources to their text. *excerpts* adds the lines of the sources; it
    defaults to *color*.
    """
    sources: Excerpts | None = None
    if color if excerpts is None else excerpts:
        from paddlespec.report.excerpt import Excerpts

        sources = Excerpts(texts, findings)
    blocks = [_block(redacted(finding), sources, color=color) for finding in findings]
    return "".join(f"{line}\n" for block in blocks for line in block)


def verdict(jobs: int, findings: Sequence[Diagnostic]) -> str:
    """Print the last line of `validate`: "3 specs, 2 errors, 1 warning", "1 spec is valid"."""
    errors = sum(finding.is_error for finding in findings)
    warnings = len(findings) - errors
    parts = [_count(jobs, "spec")]
    if not errors and jobs:
        parts[0] += " is valid" if jobs == 1 else " are valid"
    parts += [_count(errors, "error")] if errors else []
    parts += [_count(warnings, "warning")] if warnings else []
    return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _block(diagnostic: Diagnostic, sources: Excerpts | None, *, color: bool) -> list[str]:
    lines = [_colored(diagnostic) if color else visible(str(diagnostic))]
    if sources:
        gutter, line, marker = sources.of(diagnostic) or ("", "", "")
        if line:
            blank = " " * len(gutter)
            dim, red, off = (_DIM, _COLORS[diagnostic.severity.value], _OFF) if color else ("",) * 3
            lines.append(f"{dim}{gutter} |{off} {line}".rstrip())
            lines.append(f"{dim}{blank} |{off} {red}{marker}{off}")
    if diagnostic.hint:
        label = f"{_CYAN}hint:{_OFF}" if color else "hint:"
        lines.append(f"  {label} {visible(diagnostic.hint)}")
    return lines


def _colored(diagnostic: Diagnostic) -> str:
    severity = diagnostic.severity.value
    return (
        f"{_BOLD}{visible(str(diagnostic.span))}:{_OFF} {_COLORS[severity]}{severity}:{_OFF} "
        f"{_BOLD}{visible(diagnostic.message)}{_OFF} {_DIM}[{diagnostic.code}]{_OFF}"
    )
