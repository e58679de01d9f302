"""Applying a job on this machine."""
