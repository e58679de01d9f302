"""Apply a job on this machine."""
