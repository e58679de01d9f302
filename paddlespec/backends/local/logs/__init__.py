"""The logs of a run as files."""
