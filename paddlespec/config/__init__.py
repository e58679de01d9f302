"""The user configuration, and the import of configurations of earlier clients."""
