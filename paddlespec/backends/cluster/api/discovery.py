"""
Discover the resources of foreign kinds; each group version is requested once.

Results are cached for ten minutes in a private folder of the user. Missing kinds are not cached,
because they may be installed at any time.
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
from paddlespec.backends.cluster.api.kinds import Resource
from paddlespec.user_dirs import user_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SECONDS = 600.0
_PLURAL = re.compile(r"[a-z0-9]+\Z")


class Discovery:
    """
    The resources of foreign kinds, for concurrent use.

    *fetch* lists the resources of a group version, or returns None if it is not served. Without a
    *folder*, nothing is cached.
    """

    def __init__(
        self, server: str, fetch: Callable[[str], list[Any] | None], folder: str | None
    ) -> None:
        self._server, self._fetch, self._folder = server, fetch, folder
        self._known: dict[str, tuple[Resource, ...]] = {}
        self._asked: set[str] = set()
        self._lock = threading.Lock()

    def resource(self, api_version: str, kind: str) -> Resource | None:
        """Return the resource of *kind*, from the cache if possible."""
        with self._lock:
            if api_version not in self._known:
                self._known[api_version] = self._read(api_version)
            resource = _of_kind(self._known[api_version], kind)
        return resource or self.served(api_version, kind)

    def served(self, api_version: str, kind: str) -> Resource | None:
        """Return the resource of *kind* as served now, without using the cache."""
        with self._lock:
            if api_version not in self._asked:
                self._known[api_version] = self._ask(api_version)
                self._asked.add(api_version)
            return _of_kind(self._known[api_version], kind)

    def _ask(self, api_version: str) -> tuple[Resource, ...]:
        resources = tuple(_resources(api_version, self._fetch(api_version)))
        if resources:
            self._keep(api_version, resources)
        return resources

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

    def _keep(self, api_version: str, resources: tuple[Resource, ...]) -> None:
        """Write the cache atomically; failures are ignored."""
        if self._folder is None:
            return
        listed = [
            {"kind": resource.kind, "name": resource.plural, "namespaced": resource.namespaced}
            for resource in resources
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


def cache_folder(environment: Mapping[str, str] = os.environ) -> str:
    """Return the folder of the cache."""
    return os.path.join(user_dir("cache", environment), "discovery")


def _is_private(folder: str) -> bool:
    """Report whether no other user can write to *folder*."""
    if not hasattr(os, "getuid"):
        return True
    status = os.lstat(folder)
    own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return own and not status.st_mode & 0o077


def _resources(api_version: str, listed: object) -> list[Resource]:
    """Parse a list of resources; subresources and malformed entries are skipped."""
    return [
        Resource(api_version, item["kind"], item["name"], bool(item.get("namespaced")))
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict)
        and isinstance(item.get("kind"), str)
        and isinstance(item.get("name"), str)
        and _PLURAL.match(item["name"])
    ]


def _of_kind(listed: tuple[Resource, ...], kind: str) -> Resource | None:
    return next((resource for resource in listed if resource.kind == kind), None)
