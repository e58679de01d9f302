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
_NO_DRY_RUN = re.compile(
    rf'{_BEFORE}admission webhook "(?P<name>{_NAME})" does not support dry run'
)
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
_POD_SECURITY = re.compile(
    rf'{_BEFORE}(?:violates|would violate) PodSecurity "(?P<level>\w+:[\w.]+)"(?::|$)'
)
_PRIORITY = re.compile(rf"{_BEFORE}no PriorityClass with name (?P<name>{_NAME})")
# The checks of Pod Security, as its messages begin.
_CHECKS = (
    *("host namespaces", "privileged", "non-default capabilities", "hostPath volumes", "hostPort"),
    *("forbidden AppArmor profile", "seLinuxOptions", "procMount", "forbidden sysctls"),
    *("restricted volume types", "allowPrivilegeEscalation != false", "runAsNonRoot != true"),
    *("runAsUser=0", "seccompProfile", "unrestricted capabilities", "hostProcess", "probe host"),
)


class Verdict(NamedTuple):
    """
    What a rule made of an object.

    `fault` says why it could not decide: in known words, or empty if it is not known. A rule with
    effects outside of the cluster `refuses_dry_runs`.
    """

    rule: str
    fault: str | None = None
    refuses_dry_runs: bool = False

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
    if match := _NO_DRY_RUN.match(message):
        return Verdict(f'admission webhook "{match["name"]}"', refuses_dry_runs=True)
    if match := _FAILED_CONVERSION.match(message):
        return Verdict(f"the conversion webhook of {match['name']}", _fault(message[match.end() :]))
    return None


def _fault(text: str) -> str:
    return next((words for sign, words in _FAULTS.items() if sign in text), "")


def pod_security(message: str) -> str | None:
    """Return the Pod Security level that *message* complains about, and the failed checks."""
    match = _POD_SECURITY.match(message)
    if match is None:
        return None
    checks = ", ".join(check for check in _CHECKS if check in message[match.end() :])
    return f'"{match["level"]}"' + (f" ({checks})" if checks else "")


def missing_priority(message: str) -> str | None:
    """Return the name of the priority class that does not exist."""
    match = _PRIORITY.match(message)
    return match["name"] if match else None
