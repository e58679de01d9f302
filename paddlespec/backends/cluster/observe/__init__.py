"""Observe jobs, replicas and histories on a cluster."""
