"""Read the index of a replica, and one-word reasons, from what the API server stores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddlespec.render.manifest import Manifest

_INDEX_LABELS = ("batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index")
_WORD = re.compile(r"[A-Za-z0-9]{1,60}\Z")


def rank(pod: Manifest) -> int | None:
    """Return the index of a pod within its role; the only pod of a Job has index 0."""
    metadata = pod["metadata"]
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    index = next((marks[label] for label in _INDEX_LABELS if label in marks), "0")
    return int(index) if index.isdecimal() else None


def one_word(text: object) -> str | None:
    """Return a controller's reason such as `BackoffLimitExceeded`; None unless it is one word."""
    word = str(text or "")
    return word if _WORD.match(word) else None
