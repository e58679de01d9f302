"""Find every diagnostic code in the source of the package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
PACKAGE = Path(__file__).parents[2] / "paddlespec"
# Functions that create diagnostics; the code is the argument that is a single word.
_MAKERS = frozenset(
    (
        "Diagnostic",
        "_Unresolved",
        "_one",
        "_refuse",
        "_whole",
        "at",
        "broken",
        "error",
        "report",
        "warning",
    )
)


def emitted() -> dict[str, set[str]]:
    """Return every code with the modules that emit it."""
    codes: dict[str, set[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        part = file.relative_to(PACKAGE).with_suffix("").as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for code in codes_of(node, part):
                codes.setdefault(code, set()).add(part)
    return codes


def codes_of(node: ast.AST, part: str) -> list[str]:
    """Return the codes that one expression emits."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in _MAKERS:
            named = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
            values = [*node.args, *named] if len(node.args) + len(named) > 1 else []
            return [word for argument in values for word in _words(argument)]
    if isinstance(node, ast.arguments):
        pairs = [
            *zip(reversed([*node.posonlyargs, *node.args]), reversed(node.defaults)),
            *zip(node.kwonlyargs, node.kw_defaults),
        ]
        return [
            word
            for parameter, value in pairs
            if parameter.arg == "code" and value
            for word in _words(value)
        ]
    # `_describe` of the gate returns a code, a message and a hint.
    if part == "spec/gate" and isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        return _words(node.value.elts[0]) if len(node.value.elts) == 3 else []
    return []


def _words(node: ast.expr) -> list[str]:
    value = node.value if isinstance(node, ast.Constant) else None
    return [value] if isinstance(value, str) and _CODE.fullmatch(value) else []
