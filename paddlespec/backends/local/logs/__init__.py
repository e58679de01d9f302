"""The logs of a run, stored as files."""
