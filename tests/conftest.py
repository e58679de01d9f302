"""How long the property tests look, and the plugins of a run."""

from __future__ import annotations

import os
import signal
import threading

from hypothesis import HealthCheck, settings

pytest_plugins = ("pytester", "run_folder", "schedule", "second_try", "summary")

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
