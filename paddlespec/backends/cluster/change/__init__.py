"""Apply, replace and delete jobs on a cluster, and keep their inventories."""
