"""Where this program keeps the files of a user: configuration, state and cache."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = "paddlespec"
# Debian's name for the home of a user without one: nothing is read there, nothing can be written.
_NO_HOME = "/nonexistent"


def user_dir(
    kind: Literal["config", "state", "cache"], environment: Mapping[str, str] = os.environ
) -> str:
    """
    Return the absolute path of our folder for *kind*, whether it exists or not.

    `XDG_CONFIG_HOME`, `XDG_STATE_HOME` and `XDG_CACHE_HOME` apply on every platform. A relative value is
    ignored, as the XDG specification requires. The default is the platform's own place.
    """
    base = environment.get(f"XDG_{kind.upper()}_HOME", "")
    if os.path.isabs(base):
        return os.path.join(base, _NAME)
    import platformdirs

    default: str
    try:
        default = getattr(platformdirs.PlatformDirs(_NAME, appauthor=False), f"user_{kind}_dir")
    except RuntimeError:  # neither HOME nor a password entry
        default = os.path.join(_NO_HOME, _NAME)
    return default
