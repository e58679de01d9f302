"""The folders of a job on this machine: mapped, temporary, or missing."""

from __future__ import annotations

import os
import posixpath
import re
from shlex import quote as quoted
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backends.local.store.launch import Fresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlespec.render.manifest import Manifest

_SOURCES = {
    "persistentVolumeClaim": ("volume claim", "claimName"),
    "hostPath": ("node folder", "path"),
    "nfs": ("NFS export", "path"),
    "cephfs": ("CephFS path", "path"),
    "configMap": ("ConfigMap", "name"),
    "secret": ("Secret", "secretName"),
}
_SHELLS = ("sh", "bash", "dash", "ash", "ksh", "zsh")


class Place(NamedTuple):
    """A path of the job, its folder on this machine, and whether it is new for each run."""

    path: str
    here: str
    read_only: bool = False
    scratch: bool = False


class Maps(NamedTuple):
    """
    The user's mapping of folders: by path, and by claim name.

    A mapping of a path includes everything below it.
    """

    paths: Mapping[str, str]
    claims: Mapping[str, str] = {}


def clean(path: str) -> str:
    """Return *path* with single slashes and none at the end."""
    return "/" + posixpath.normpath(path).lstrip("/") if path.strip("/") else "/"


def holds(folder: str, path: str) -> bool:
    """Report whether the clean *path* is *folder*, or below it."""
    return path == folder or path.startswith(folder if folder == "/" else f"{folder}/")


def places(process: Manifest, maps: Maps, scratch: str) -> list[Place]:
    """Return the folders of *process*; temporary ones are below *scratch*."""
    given = {clean(path): os.path.abspath(here) for path, here in maps.paths.items()}
    mapped: list[Place] = []
    for mount in process["spec"].get("mounts", ()):
        path = clean(mount["mountPath"])
        read_only = bool(mount.get("readOnly") or mount.get("configMap") or mount.get("secret"))
        if here := _here(mount, path, given, maps.claims):
            mapped.append(Place(path, here, read_only))
        elif "emptyDir" in mount or "text" in mount:
            here = os.path.join(scratch, mount["name"])
            mapped.append(Place(path, here, read_only, scratch=True))
        below = (inner for inner in given if inner != path and holds(path, inner))
        mapped += [Place(inner, given[inner], read_only) for inner in below]
    return mapped


def scratch(process: Manifest, mapped: Sequence[Place]) -> list[Fresh]:
    """Return the folders and files that are new for each attempt."""
    texts = {
        clean(mount["mountPath"]): mount.get("text") for mount in process["spec"].get("mounts", ())
    }
    return [Fresh(place.here, text=texts.get(place.path)) for place in mapped if place.scratch]


def faults(processes: Iterable[Manifest], maps: Maps) -> Iterator[str]:
    """Describe every folder that is not mapped, or is mapped to nothing."""
    # Roles may mount different volumes at one path.
    sources = {
        (clean(mount["mountPath"]), _named(mount)): mount
        for process in processes
        for mount in process["spec"].get("mounts", ())
    }
    mounts = dict.fromkeys(path for path, _ in sources)
    given = {clean(path): here for path, here in maps.paths.items()}
    for (path, _), mount in sources.items():
        here = _here(mount, path, given, maps.claims)
        if here is None and "emptyDir" not in mount and "text" not in mount:
            yield (
                f"{_named(mount)} ({path}) does not exist on this machine; "
                f"map it with --mount {path}=FOLDER"
            )
        elif here is not None and not os.path.exists(here):
            yield _absent(path, here)
    for path, here in given.items():
        if not any(holds(path, mounted) or holds(mounted, path) for mounted in mounts):
            known = ", ".join(sorted(mounts)) or "none"
            yield f"--mount {path}={here} matches no volume of the job (mounted: {known})"
        elif not os.path.exists(here) and not any(holds(path, mounted) for mounted in mounts):
            yield _absent(path, here)


def place_of(mapped: Sequence[Place], path: str) -> Place | None:
    """Return the innermost place that holds *path*."""
    path = clean(path)
    above = [place for place in mapped if holds(place.path, path)]
    return max(above, key=lambda place: len(place.path), default=None)


def here_of(mapped: Sequence[Place], path: str) -> str | None:
    """Return where *path* of the job is on this machine."""
    place = place_of(mapped, path)
    return _below(place.here, place.path, clean(path)) if place else None


class Rewriting:
    """
    Replace paths in texts for processes that cannot see the true ones.

    A path that is part of a longer one is left alone.
    """

    def __init__(self, mapped: Iterable[Place]) -> None:
        self._known = {place.path: place.here for place in mapped if place.path != "/"}
        longest = sorted(self._known, key=len, reverse=True)
        inner = "|".join(map(re.escape, longest))
        self._pattern = re.compile(rf"(?<![\w.@/}}-])(?:{inner})(?![\w.-])") if inner else None

    def text(self, text: str) -> str:
        """Return *text* with this machine's paths."""
        if self._pattern is None or "/" not in text:
            return text
        return self._pattern.sub(lambda match: self._known[match[0]], text)

    def command(self, argv: Sequence[str]) -> list[str]:
        """Return a command with this machine's paths, quoted where a shell reads them."""
        if len(argv) < 3 or posixpath.basename(argv[0]) not in _SHELLS or argv[1] != "-c":
            return [self.text(word) for word in argv]
        return [argv[0], argv[1], self._script(argv[2]), *map(self.text, argv[3:])]

    def _script(self, text: str) -> str:
        if self._pattern is None or "/" not in text:
            return text
        parts, done, quote = [], 0, ""
        for match in self._pattern.finditer(text):
            before = text[done : match.start()]
            quote = _quote_after(before, quote)
            parts += [before, _quoted(self._known[match[0]], quote)]
            done = match.end()
        return "".join([*parts, text[done:]])


def _quote_after(text: str, quote: str) -> str:
    """Return the shell quote that is open after *text*, given the one open before it."""
    escaped = False
    for char in text:
        if escaped:
            escaped = False
        elif char == "\\" and quote != "'":
            escaped = True
        elif char in ("'", '"') and quote in ("", char):
            quote = "" if quote else char
    return quote


def _quoted(path: str, quote: str) -> str:
    """Return *path* as a shell reads it inside *quote*."""
    if quote == "'":
        return path.replace("'", "'\\''")
    if quote == '"':
        return re.sub(r'([\\"$`])', r"\\\1", path)
    return quoted(path)


def _here(
    mount: dict[str, Any], path: str, given: Mapping[str, str], claims: Mapping[str, str]
) -> str | None:
    above = [folder for folder in given if holds(folder, path)]
    if above:
        longest = max(above, key=len)
        return _below(given[longest], longest, path)
    claim = str((mount.get("persistentVolumeClaim") or {}).get("claimName"))
    if claim in claims:
        return os.path.join(claims[claim], mount.get("subPath", "")).rstrip("/")
    return None


def _below(here: str, folder: str, path: str) -> str:
    rest = path[len(folder) :].strip("/")
    return os.path.join(here, rest) if rest else here


def _absent(path: str, here: str) -> str:
    return f"folder {here} (for {path}) does not exist; create it with: mkdir -p {quoted(here)}"


def _named(mount: dict[str, Any]) -> str:
    for key, (noun, name) in _SOURCES.items():
        if key in mount:
            return f"{noun} {mount[key].get(name, '')}".strip()
    return f"volume {mount.get('name')}"
