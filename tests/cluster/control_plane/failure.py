"""Failures of the test environment rather than of the test or the product."""


class StageError(Exception):
    """A failure of the test environment; the test is retried."""
