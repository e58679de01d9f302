"""Signals that arrive inside a finalizer or a callback, where Python drops what they raise."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_AGAIN_SECONDS = 0.01


def raise_again() -> None:
    """From now on, deliver a signal again a moment after its exception was dropped."""
    report = sys.unraisablehook

    def dropped(lost: sys.UnraisableHookArgs) -> None:
        if isinstance(lost.exc_value, KeyboardInterrupt):
            _deliver(signal.SIGINT)
        elif isinstance(lost.exc_value, SystemExit):
            _deliver(signal.SIGTERM)
        else:
            report(lost)

    sys.unraisablehook = dropped


def _deliver(number: signal.Signals) -> None:
    def deliver(_: int, __: FrameType | None) -> None:
        signal.raise_signal(number)

    signal.signal(signal.SIGALRM, deliver)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)
