"""Compare, decide and plan changes: pure functions."""
