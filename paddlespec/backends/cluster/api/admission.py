"""
Recognize what the rules of a cluster say: admission policies and admission webhooks.

Their messages may quote any value of an object, so only names and known reasons are taken from them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NAME = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
# In front of it stands which object the server refused, or that it failed.
_BEFORE = r'(?:\S+ "[^"]*" is forbidden: |Error creating: |Internal error occurred: )*'
_POLICY = re.compile(
    rf"{_BEFORE}(?:(?:Valid|Mut)atingAdmissionPolicy|policy) '(?P<name>{_NAME})' "
    rf"with binding '(?P<binding>{_NAME})' denied request"
)
_WEBHOOK = re.compile(rf'{_BEFORE}admission webhook "(?P<name>{_NAME})" denied the request')
_FAILED_CALL = re.compile(rf'{_BEFORE}failed calling webhook "(?P<name>{_NAME})": ')
_FAILED_CONVERSION = re.compile(
    rf"{_BEFORE}conversion webhook for (?P<name>[\w./-]+, Kind=\w+) failed: "
)
_TOO_SLOW = "no answer in time"
_FAULTS = {
    "connection refused": "connection refused",
    "deadline exceeded": _TOO_SLOW,
    "i/o timeout": _TOO_SLOW,
    "handshake timeout": _TOO_SLOW,
    "no endpoints available": "none of its pods is ready",
    "no such host": "unknown host",
    "not found": "its service does not exist",
    "x509:": "its certificate is not trusted",
}


class Verdict(NamedTuple):
    """
    What a rule made of an object.

    `fault` says why it could not decide: in known words, or empty if it is not known.
    """

    rule: str
    fault: str | None = None

    @property
    def is_lasting(self) -> bool:
        """Whether the same request would end in the same way, or take as long again."""
        return self.fault in (None, _TOO_SLOW)


def verdict(message: str) -> Verdict | None:
    """Read the message of a refusal; None if no rule of the cluster caused it."""
    if match := _POLICY.match(message):
        return Verdict(f'policy "{match["name"]}" (binding "{match["binding"]}")')
    if match := _WEBHOOK.match(message):
        return Verdict(f'admission webhook "{match["name"]}"')
    if match := _FAILED_CALL.match(message):
        return Verdict(f'admission webhook "{match["name"]}"', _fault(message[match.end() :]))
    if match := _FAILED_CONVERSION.match(message):
        return Verdict(f"the conversion webhook of {match['name']}", _fault(message[match.end() :]))
    return None


def _fault(text: str) -> str:
    return next((words for sign, words in _FAULTS.items() if sign in text), "")
