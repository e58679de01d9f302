"""The histories of jobs on this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paddlespec.backends.local.store.job_folder import jobs, known_job
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.history import Recorded

if TYPE_CHECKING:
    from collections.abc import Mapping

    Unread = tuple[str, OperationFailed]


def record(namespace: str, name: str, environment: Mapping[str, str] = os.environ) -> Recorded:
    """Return the history of one job; raise `NotFound`."""
    return Recorded(namespace, name, known_job(namespace, name, environment).history())


def records(
    namespace: str, environment: Mapping[str, str] = os.environ, *, everywhere: bool
) -> tuple[list[Recorded], list[Unread]]:
    """Return the histories of one namespace or of all, and those that cannot be read."""
    histories, failures = [], []
    for folder in jobs(environment):
        if everywhere or folder.namespace == namespace:
            try:
                histories.append(Recorded(folder.namespace, folder.name, folder.history()))
            except OperationFailed as error:
                failures.append((folder.name, error))
    return histories, failures
