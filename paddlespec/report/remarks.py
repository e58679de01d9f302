"""The title of a compared job, and what is reported about it besides its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddlespec.change.diff import Comparison


def is_reported(comparison: Comparison) -> bool:
    """Report whether a job is shown: it differs, or there is a problem or a remark."""
    return comparison.differs or bool(comparison.problems or remarks(comparison))


def remarks(comparison: Comparison) -> list[str]:
    """List the remarks about a job that concern no single object."""
    refusal = [f"apply would refuse this: {comparison.refusal}"] if comparison.refusal else []
    return [*comparison.notes, *refusal]


def title(comparison: Comparison) -> str:
    """Name a job with its namespace."""
    return f"{comparison.namespace}/{comparison.job}" if comparison.namespace else comparison.job
