"""How long the property tests look, and which tests get another chance."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
# What waits for other processes may come to its limit on a machine that is busy with something else.
WITH_OTHERS = (HERE / "cluster", HERE / "process")

settings.register_profile(
    "quick",
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz", max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("PADDLESPEC_HYPOTHESIS", "quick"))


# What starts the tests in the background may have these ignored, and commands would inherit that.
if threading.current_thread() is threading.main_thread():
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Try what waits for other processes again before it counts as failed; it is told as rerun.

    Whoever asks for all faults looks for what goes wrong once.
    """
    if os.environ.get("PADDLESPEC_FAULTS"):
        return
    for item in items:
        if any(each in item.path.parents for each in WITH_OTHERS):
            item.add_marker(pytest.mark.flaky(reruns=2))
