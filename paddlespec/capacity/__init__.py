"""Compute what a cluster has free and whether a job fits: pure functions of values read elsewhere."""
