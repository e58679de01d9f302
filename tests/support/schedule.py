"""Which tests stay together in one worker of xdist; all others are distributed freely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

# Each worker would have to create, or wait for, what these share.
TOGETHER = {
    "tests/cluster/exclusive/extensions/": "a control plane with kinds of others",
    "tests/cluster/exclusive/": "a control plane of their own",
    "tests/cluster/test_logs_cluster.py": "what containers write",
    "tests/cluster/test_forward.py": "what pods serve",
    "tests/cluster/test_rights.py": "what every command asks for",
    "tests/process/test_rehearsal_paddle.py": "rehearsed trainings",
}


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # a library without types
    """Distribute single tests, and groups that stay together; the largest groups come first."""

    def _split_scope(self, nodeid: str) -> str:
        return next((path for path in TOGETHER if nodeid.startswith(path)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Replace `--dist loadscope`."""
    return Scheduling(config, log) if config.getvalue("dist") == "loadscope" else None
