"""
The names of images: the reference syntax that container runtimes and registries agree on.

`[HOST[:PORT]/]REPOSITORY[:TAG][@DIGEST]`, where a first part is a host only when it looks like one.
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
    """What no registry takes of a name, and the likely repair."""

    message: str
    hint: str | None = None


def host_and_rest(name: str) -> tuple[str, str]:
    """The registry that *name* names, if it does, and what comes behind it."""
    first, slash, rest = name.partition("/")
    is_host = slash and (first == "localhost" or any(each in first for each in ".:["))
    return (first, rest) if is_host else ("", name)


@lru_cache(maxsize=64)
def fault(name: str) -> Fault | None:
    """What is wrong with the name of an image; what it says is not repeated: it may be a secret."""
    if "://" in name:
        return Fault("the name of an image begins with no https://", "leave it out")
    host, rest = host_and_rest(name)
    rest, at, digest = rest.partition("@")
    folder, slash, last = rest.rpartition("/")
    last, colon, tag = last.partition(":")
    repository = f"{folder}{slash}{last}"
    if host and not re.match(_HOST, host):
        return Fault("what stands before the first / is no host, nor a host and its port")
    if at and not re.match(_DIGEST, digest):
        return Fault(
            "what stands behind @ is no digest", "such as sha256: and 64 hexadecimal digits"
        )
    if colon and not re.match(_TAG, tag):
        expected = "expected letters, digits, '.', '_' and '-', at most 128"
        return Fault("what stands behind the last : is no tag", expected)
    if repository != repository.lower():
        return Fault("the repository has capital letters", f"write {repository.lower()}")
    if not re.match(_REPOSITORY, repository):
        expected = "expected lower-case letters and digits, with '.', '_', '-' or '/' between them"
        return Fault("the repository cannot be called so", expected)
    return None
