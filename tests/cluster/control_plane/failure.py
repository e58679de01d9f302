"""What goes wrong with the stage of a test, of which neither the test nor the product knows."""


class StageError(Exception):
    """Say what of the stage failed: the test deserves a second try."""
