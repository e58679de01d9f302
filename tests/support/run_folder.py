"""The folder of a test run, which the process that began the run owns and its workers share."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from control_plane.run import owned

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

RUN = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Use the folder of the run, or create it."""
    given = getattr(config, "workerinput", None)
    if given is not None:
        config.stash[RUN] = Path(given["run"])
        return
    stack = ExitStack()
    config.stash[RUN] = stack.enter_context(owned())
    config.add_cleanup(stack.close)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Pass the folder to a worker of xdist."""
    node.workerinput["run"] = str(node.config.stash[RUN])
