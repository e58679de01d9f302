"""Git: revisions, snapshots, and the provenance of an apply."""
