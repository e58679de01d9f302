"""Applying, replacing and deleting jobs on a cluster, and their inventories."""
