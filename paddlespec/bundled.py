"""The bundled files: schemas, templates, and the page of diagnostics."""

from __future__ import annotations

import os
from typing import Literal

Tree = Literal["schemas", "templates", "docs"]
PACKAGE = os.path.dirname(os.path.abspath(__file__))


def bundled(tree: Tree, *parts: str) -> str:
    """Return the path of a bundled file, in an installed wheel or at the root of a checkout."""
    installed = os.path.join(PACKAGE, tree)
    root = installed if os.path.isdir(installed) else os.path.join(os.path.dirname(PACKAGE), tree)
    return os.path.join(root, *parts)


def text(tree: Tree, *parts: str) -> str:
    """Read a bundled file."""
    with open(bundled(tree, *parts), encoding="utf-8") as file:
        return file.read()
