"""The histories that this machine keeps."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paddlespec.backend import OperationFailed
from paddlespec.history import Recorded
from paddlespec.local.folder import jobs, known_job

if TYPE_CHECKING:
    from collections.abc import Mapping

    Unread = tuple[str, OperationFailed]


def record(namespace: str, name: str, environment: Mapping[str, str] = os.environ) -> Recorded:
    """The history of one job; raises `NotFound`."""
    return Recorded(namespace, name, known_job(namespace, name, environment).history())


def records(
    namespace: str, environment: Mapping[str, str] = os.environ, *, everywhere: bool
) -> tuple[list[Recorded], list[Unread]]:
    """The histories of all jobs, of every namespace or of one, and what cannot be read of them."""
    found, failures = [], []
    for each in jobs(environment):
        if everywhere or each.namespace == namespace:
            try:
                found.append(Recorded(each.namespace, each.name, each.history()))
            except OperationFailed as error:
                failures.append((each.name, error))
    return found, failures
