"""The supervisor of a run: its processes, from their start to the verdict."""
