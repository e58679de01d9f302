"""Values of options that are more than text: one of several words, a duration."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROLE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")
_DURATION = re.compile(r"([0-9]+[dhms])+\Z")


def one_of(option: str, value: str, known: Iterable[str]) -> str:
    """Return *value* if it is one of *known*; raises `Stop`."""
    words = list(known)
    if value not in words:
        raise invalid(option, value, f"expected one of {', '.join(words)}")
    return value


def seconds_of(option: str, text: str) -> int:
    """Return a duration such as 1h30m in seconds; raises `Stop`."""
    from paddlespec.quantity import seconds

    if not _DURATION.match(text):
        raise invalid(option, text, "expected a duration such as 90s or 1h30m")
    return seconds(text)


def deadline_of(timeout: str | None) -> float | None:
    """Return when --timeout is over, as a time of the monotonic clock."""
    return None if timeout is None else time.monotonic() + seconds_of("--timeout", timeout)


def role_of(role: str | None, default: str | None = None) -> str | None:
    """Return the role that --role names; `trainers` and `pservers` may be in the singular."""
    from paddlespec.render.roles import plural

    if role is None:
        return default
    if not _ROLE.match(role):
        raise invalid("--role", role, "expected the name of a role, such as trainers")
    return plural(role)


def invalid(option: str, value: str, why: str) -> Stop:
    """The failure for a value that an option does not take."""
    return Stop(Exit.usage, f'invalid value "{value}" for {option}: {why}')
