"""
Validate image names, in the syntax of container runtimes and registries.

The syntax is `[HOST[:PORT]/]REPOSITORY[:TAG][@DIGEST]`; the first part is a host only if it looks
like one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_HOST = r"([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?\Z"
_REPOSITORY = r"[a-z0-9]+((\.|_|__|-+|/)[a-z0-9]+)*\Z"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}\Z"
_DIGEST = r"(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})\Z"


class Fault(NamedTuple):
    """The invalid part of a name, and the likely fix."""

    message: str
    hint: str | None = None


def host_and_rest(name: str) -> tuple[str, str]:
    """Split *name* into its registry, if any, and the rest."""
    first, slash, rest = name.partition("/")
    is_host = slash and (first == "localhost" or any(mark in first for mark in ".:["))
    return (first, rest) if is_host else ("", name)


@lru_cache(maxsize=64)
def fault(name: str) -> Fault | None:
    """Return the fault of an image name, if any; the message never quotes it: it may be a secret."""
    if "://" in name:
        return Fault("an image name has no scheme", "remove https://")
    host, rest = host_and_rest(name)
    rest, at, digest = rest.partition("@")
    folder, slash, last = rest.rpartition("/")
    last, colon, tag = last.partition(":")
    repository = f"{folder}{slash}{last}"
    if host and not re.match(_HOST, host):
        return Fault("invalid registry host before the first /", "use HOST or HOST:PORT")
    if at and not re.match(_DIGEST, digest):
        return Fault("invalid image digest after @", "use sha256: and 64 hexadecimal digits")
    if colon and not re.match(_TAG, tag):
        hint = "use at most 128 letters, digits, '.', '_' and '-'"
        return Fault("invalid image tag after the last :", hint)
    if repository != repository.lower():
        return Fault("the image repository has capital letters", f"use {repository.lower()}")
    if not re.match(_REPOSITORY, repository):
        hint = "use lower-case letters and digits, with '.', '_', '-' or '/' between them"
        return Fault("invalid image repository", hint)
    return None
