"""Observe runs on this machine."""
