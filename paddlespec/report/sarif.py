"""Print findings as SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from paddlespec import __version__, bundled
from paddlespec.diagnostic import dotted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diagnostic import Diagnostic

Json = dict[str, Any]
_SECTION = re.compile(r"^## ([a-z0-9-]+)\n\n(.+?)\n\n", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def diagnostics(findings: Sequence[Diagnostic]) -> str:
    """Print one run with all findings; its rules are the codes that occur."""
    codes = sorted({finding.code for finding in findings})
    seen: dict[str, int] = {}
    run = {
        "tool": {
            "driver": {
                "name": "paddlespec",
                "version": __version__,
                "informationUri": "https://paddlespec.io",
                "rules": list(map(_rule, codes)),
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes.index(finding.code), seen) for finding in findings],
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(log, indent=2) + "\n"


def _rule(code: str) -> Json:
    rule: Json = {
        "id": code,
        "shortDescription": {"text": code.replace("-", " ")},
        "helpUri": f"https://paddlespec.io/diagnostics#{code}",
    }
    if meaning := _meanings().get(code):
        text = _LINK.sub(r"\1", meaning).replace("`", "")
        rule["fullDescription"] = {"text": text, "markdown": meaning}
    return rule


@lru_cache
def _meanings() -> dict[str, str]:
    """The first paragraph below each heading of docs/diagnostics.md, by code."""
    page = bundled.text("docs", "diagnostics.md")
    return {match[1]: " ".join(match[2].split()) for match in _SECTION.finditer(page)}


def _result(diagnostic: Diagnostic, rule: int, seen: dict[str, int]) -> Json:
    text = f"{diagnostic.message}. {diagnostic.hint}" if diagnostic.hint else diagnostic.message
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity.value,
        "message": {"text": text},
        "locations": [_location(diagnostic)],
        "partialFingerprints": {"paddlespec/v1": _fingerprint(diagnostic, seen)},
    }


def _location(diagnostic: Diagnostic) -> Json:
    span = diagnostic.span
    location: Json = {}
    if span.file.startswith("--"):
        location["message"] = {"text": span.file}
    else:
        uri = quote(span.file.replace("\\", "/"), errors="surrogateescape")
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}}
        if span.line:
            location["physicalLocation"]["region"] = {
                "startLine": span.line,
                "startColumn": span.column,
                "endColumn": span.end_column,
            }
    if diagnostic.path:
        location["logicalLocations"] = [{"fullyQualifiedName": dotted(diagnostic.path)}]
    return location


def _fingerprint(diagnostic: Diagnostic, seen: dict[str, int]) -> str:
    """Identify a finding independently of its line; equal findings of one file are numbered."""
    parts = [diagnostic.code, diagnostic.span.file, dotted(diagnostic.path), diagnostic.message]
    key = "\0".join(parts)
    seen[key] = seen.get(key, 0) + 1
    text = f"{key}\0{seen[key]}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
