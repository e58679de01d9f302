"""The bundled files: schemas and templates."""

from __future__ import annotations

import os
from typing import Literal


def bundled(tree: Literal["schemas", "templates"], *parts: str) -> str:
    """The path of a bundled file: inside an installed wheel, or at the root of a checkout."""
    package = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(package, tree)
    root = installed if os.path.isdir(installed) else os.path.join(os.path.dirname(package), tree)
    return os.path.join(root, *parts)


def text(tree: Literal["schemas", "templates"], *parts: str) -> str:
    """The text of a bundled file."""
    with open(bundled(tree, *parts), encoding="utf-8") as file:
        return file.read()
