"""The scheduler's message about an unschedulable pod, reduced to its known parts."""

from __future__ import annotations

import re

_NAME = r"[A-Za-z0-9](?:[\w./-]{0,120}[A-Za-z0-9])?"
_FORMS = (
    r"\d+/\d+ nodes are (?:available|unavailable)",
    rf"\d+ Insufficient {_NAME}",
    r"\d+ Too many pods",
    rf"\d+ node\(s\) had (?:untolerated )?taints?(?: \{{{_NAME}(?:: [\w.-]*)?\}})?",
    r"\d+ node\(s\) didn't match Pod's node affinity(?:/selector)?",
    r"\d+ node\(s\) didn't match pod (?:anti-)?affinity rules",
    r"\d+ node\(s\) didn't match pod topology spread constraints",
    r"\d+ node\(s\) didn't have free ports for the requested pod ports",
    r"\d+ node\(s\) had volume node affinity conflict",
    r"\d+ node\(s\) had no available volume zone",
    r"\d+ node\(s\) didn't find available persistent volumes to bind",
    r"\d+ node\(s\) exceed max volume count",
    r"\d+ node\(s\) were unschedulable",
    r"\d+ node\(s\) were not ready",
    r"(?:pod has )?unbound immediate PersistentVolumeClaims",
    rf'persistentvolumeclaim "{_NAME}" (?:not found|is being deleted)',
    r"no nodes available to schedule pods",
    r"\d+/\d+ tasks in gang unschedulable",
)
_KNOWN = re.compile("|".join(f"(?:{form})" for form in _FORMS))


def summary(message: object) -> str | None:
    """Reduce *message* to its known parts; the part about preemption is dropped."""
    text = " ".join(str(message or "").partition("preemption:")[0].split())
    parts = list(dict.fromkeys(match[0] for match in _KNOWN.finditer(text)))
    if not parts:
        return None
    first, *others = parts
    return f"{first}: {', '.join(others)}" if others and "nodes are" in first else ", ".join(parts)
