"""
A second try for tests whose environment failed, for example an unresponsive control plane.

A failure of the product or of a test is never retried. Second tries are counted, and a run that
needs too many of them fails, because its environment is not reliable.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol
from control_plane.failure import StageError

# The share of tests that may need a second try; one is always allowed.
TOLERATED = 0.005
PROPERTY = "second try"
REASON = pytest.StashKey[str]()


class SecondTries:
    """Count the second tries of a run, in the process that reports."""

    def __init__(self) -> None:
        self._tests = 0
        self.reasons: dict[str, str] = {}

    @property
    def are_too_many(self) -> bool:
        return len(self.reasons) > max(1, TOLERATED * self._tests)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._tests += report.when == "teardown"
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.reasons[report.nodeid] = str(value)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.are_too_many and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.reasons:
            return
        verdict = "too many" if self.are_too_many else "tolerated"
        terminalreporter.section(
            f"{len(self.reasons)} second tries: {verdict}", red=self.are_too_many, bold=True
        )
        for name, reason in self.reasons.items():
            terminalreporter.line(f"{name}: {reason}")


def pytest_configure(config: pytest.Config) -> None:
    """Count in the process that reports; workers only retry."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SecondTries(), "second-tries")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test, and again if its environment failed; only the last try is reported."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    reason = item.stash.get(REASON, None)
    if reason is not None:
        item.user_properties.clear()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        for report in reports:
            report.user_properties.append((PROPERTY, reason))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Note that the environment of a test failed."""
    if call.excinfo is not None and call.excinfo.errisinstance(StageError):
        item.stash[REASON] = str(call.excinfo.value)
