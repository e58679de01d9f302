"""Declarative job specs for distributed PaddlePaddle training: validate, preview, render, apply."""

# A literal: importlib.metadata costs more than everything else that `--version` does.
__version__ = "0.1.0"
