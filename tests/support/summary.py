"""A summary of a run, for what is easily missed among thousands of dots."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

HOW_TO_GET_BINARIES = "install Go 1.26 or later and run: make cluster-bin"
FAULTS = "faults"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report which cluster tests did not run, and how many faults were survived."""
    skipped = [
        report.longrepr[2]
        for report in terminalreporter.getreports("skipped")
        if isinstance(report.longrepr, tuple) and HOW_TO_GET_BINARIES in report.longrepr[2]
    ]
    if skipped:
        terminalreporter.section(f"{len(skipped)} cluster tests SKIPPED", red=True, bold=True)
        terminalreporter.line(skipped[0])
    counts = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for name, value in report.user_properties
        if name == FAULTS
    ]
    if counts:
        tried, survived = map(sum, zip(*counts, strict=True))
        terminalreporter.section("faults")
        terminalreporter.line(f"{tried} cases tried, {survived} survived")
