"""The jobs and runs of this machine, stored as files."""
