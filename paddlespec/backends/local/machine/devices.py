"""The GPUs of this machine."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VISIBLE = "CUDA_VISIBLE_DEVICES"


def present(shell: Mapping[str, str]) -> list[str]:
    """Return the GPUs that *shell* allows, by default all."""
    try:
        names = os.listdir("/dev")
    except OSError:
        names = []
    devices = sorted(
        (match[1] for name in names if (match := re.fullmatch(r"nvidia([0-9]+)", name))), key=int
    )
    if VISIBLE not in shell:
        return devices
    chosen = [device.strip() for device in shell[VISIBLE].split(",") if device.strip()]
    return chosen if devices else []
