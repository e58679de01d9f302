"""
Where the API server keeps kinds that are not our own: each group version is asked for once.

What was found is kept for some minutes in a folder of the user's alone. What was not found is not
kept: it may be installed in the next minute.
"""

from __future__ import annotations

import json
import os
import re
import stat
import threading
import time
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from paddlespec import __version__
from paddlespec.cluster.kinds import Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SECONDS = 600.0
_PLURAL = re.compile(r"[a-z0-9]+\Z")


class Discovery:
    """
    The resources of foreign kinds; many threads may ask.

    *fetch* asks the server what a group version has; nothing where there is none. Without a
    *folder* nothing is kept.
    """

    def __init__(
        self, server: str, fetch: Callable[[str], list[Any] | None], folder: str | None
    ) -> None:
        self._server, self._fetch, self._folder = server, fetch, folder
        self._known: dict[str, tuple[Resource, ...]] = {}
        self._asked: set[str] = set()
        self._lock = threading.Lock()

    def resource(self, api_version: str, kind: str) -> Resource | None:
        """The resource of *kind*; what was kept is believed, for the server corrects it."""
        with self._lock:
            if api_version not in self._known:
                self._known[api_version] = self._read(api_version)
            found = _of_kind(self._known[api_version], kind)
        return found or self.served(api_version, kind)

    def served(self, api_version: str, kind: str) -> Resource | None:
        """The resource of *kind* as the server has told it to this very command."""
        with self._lock:
            if api_version not in self._asked:
                self._known[api_version] = self._ask(api_version)
                self._asked.add(api_version)
            return _of_kind(self._known[api_version], kind)

    def _ask(self, api_version: str) -> tuple[Resource, ...]:
        found = tuple(_resources(api_version, self._fetch(api_version)))
        if found:
            self._keep(api_version, found)
        return found

    def _file(self, api_version: str) -> str:
        assert self._folder is not None
        key = f"{self._server}\n{api_version}\n{__version__}"
        return os.path.join(self._folder, f"{sha256(key.encode()).hexdigest()[:32]}.json")

    def _read(self, api_version: str) -> tuple[Resource, ...]:
        if self._folder is None:
            return ()
        with suppress(OSError, ValueError, UnicodeDecodeError):
            if not _is_private(self._folder):
                return ()
            path = self._file(api_version)
            if not 0 <= time.time() - os.stat(path).st_mtime < _SECONDS:
                return ()
            with open(path, encoding="utf-8") as file:
                return tuple(_resources(api_version, json.load(file)))
        return ()

    def _keep(self, api_version: str, found: tuple[Resource, ...]) -> None:
        """Write it whole or not at all; that it cannot be kept is no trouble."""
        if self._folder is None:
            return
        listed = [
            {"kind": each.kind, "name": each.plural, "namespaced": each.namespaced}
            for each in found
        ]
        path = self._file(api_version)
        own = f"{path}.{os.getpid()}.{threading.get_ident()}"
        with suppress(OSError):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            if not _is_private(self._folder):
                return
            try:
                with open(own, "x", encoding="utf-8") as file:
                    json.dump(listed, file)
                os.replace(own, path)
            except OSError:
                os.unlink(own)


def cache_folder(environment: Mapping[str, str] = os.environ) -> str | None:
    """Where discoveries are kept; nothing where that is no certain place."""
    base = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "paddlespec", "discovery") if os.path.isabs(base) else None


def _is_private(folder: str) -> bool:
    """Whether nobody else can put something into *folder*."""
    if not hasattr(os, "getuid"):
        return True
    found = os.lstat(folder)
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return own and not found.st_mode & 0o077


def _resources(api_version: str, listed: object) -> list[Resource]:
    """What a listing has, without subresources and without what is no listing at all."""
    return [
        Resource(api_version, each["kind"], each["name"], bool(each.get("namespaced")))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict)
        and isinstance(each.get("kind"), str)
        and _PLURAL.match(str(each.get("name")))
    ]


def _of_kind(listed: tuple[Resource, ...], kind: str) -> Resource | None:
    return next((each for each in listed if each.kind == kind), None)
