"""Every check, in the order of the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import topology

if TYPE_CHECKING:
    from paddlespec.checks import Check, RoleCheck

CHECKS: tuple[Check, ...] = (topology.mode_and_pservers,)

ROLE_CHECKS: tuple[RoleCheck, ...] = ()
