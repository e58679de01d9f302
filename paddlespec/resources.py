"""The bundled files: schemas and templates."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def tree(name: Literal["schemas", "templates"]) -> Path:
    """The folder of bundled files: inside an installed wheel, or at the root of a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / name
    return installed if installed.is_dir() else package.parent / name
