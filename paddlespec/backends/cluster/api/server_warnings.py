"""
Report the warnings that an API server sends with its answers, each once.

Policies and webhooks may quote any value of the object that was sent. Known formats are paraphrased;
any other text is shown only if it repeats no value of that object.
"""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any

from paddlespec.backends.cluster.api.admission import pod_security
from paddlespec.checks.secrets import looks_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MOST, _LONGEST = 10, 300
# `299 - "text"`; a server may put several into one header.
_WARNING = re.compile(r'\b299 \S+ "((?:[^"\\]|\\.)*)"')
_NAME = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
_POLICY = re.compile(
    rf"Validation failed for ValidatingAdmissionPolicy '(?P<name>{_NAME})' "
    rf"with binding '(?P<binding>{_NAME})'"
)
# Parts of an object whose texts are values of the user, or may be.
_HOLDS_VALUES = frozenset(
    ("value", "command", "args", "data", "binaryData", "stringData", "annotations")
)
_SPLIT = re.compile(r"""[\s,;=:'"\\]+""")
_SHORTEST = 4


class ServerWarnings:
    """The warnings of one command; `report` gets a line for each that is new, from any thread."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def take(self, headers: Iterable[str], body: bytes | None) -> None:
        """Report what *headers* warn of; *body* is what was sent."""
        for header in headers:
            for match in _WARNING.finditer(header):
                self._take(re.sub(r"\\(.)", r"\1", match[1]), body)

    def _take(self, text: str, body: bytes | None) -> None:
        line = _known(text) or _unknown(text, body)
        with self._lock:
            if line in self._seen or len(self._seen) > _MOST:
                return
            self._seen.add(line)
            if len(self._seen) > _MOST:
                line = "the cluster sent more warnings, which are not shown"
            self._report(f"warning: {line}")


def _known(text: str) -> str | None:
    if match := _POLICY.match(text):
        return (
            f'policy "{match["name"]}" (binding "{match["binding"]}") objects to this job; '
            "for now the cluster only warns"
        )
    if level := pod_security(text):
        return f"pods of this job would violate Pod Security level {level}"
    return None


def _unknown(text: str, body: bytes | None) -> str:
    if looks_secret(text) or any(value in text for value in _values(body)):
        return "the cluster sent a warning that is not shown, because it quotes values of the job"
    return f"the cluster warns: {text[:_LONGEST]}{'…' if len(text) > _LONGEST else ''}"


def _values(body: bytes | None) -> Iterator[str]:
    """Yield the words of a sent object that must not be repeated."""
    if body:
        try:
            sent = json.loads(body)
        except ValueError:
            return
        for text in _texts(sent, holds=False):
            yield from (word for word in _SPLIT.split(text) if len(word) >= _SHORTEST)


def _texts(value: Any, *, holds: bool) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, holds=holds or key in _HOLDS_VALUES)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, holds=holds)
    elif holds and isinstance(value, str):
        yield value
