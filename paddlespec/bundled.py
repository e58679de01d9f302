"""The bundled files: schemas and templates."""

from __future__ import annotations

import os
from typing import Literal

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def bundled(tree: Literal["schemas", "templates"], *parts: str) -> str:
    """Return the path of a bundled file, in an installed wheel or at the root of a checkout."""
    installed = os.path.join(PACKAGE, tree)
    root = installed if os.path.isdir(installed) else os.path.join(os.path.dirname(PACKAGE), tree)
    return os.path.join(root, *parts)


def text(tree: Literal["schemas", "templates"], *parts: str) -> str:
    """Read a bundled file."""
    with open(bundled(tree, *parts), encoding="utf-8") as file:
        return file.read()
