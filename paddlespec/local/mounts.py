"""Where the folders of a job are on this machine, and what stands in for paths that are not."""

from __future__ import annotations

import os
import posixpath
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.local.fresh import Fresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlespec.manifest import Manifest

_SOURCES = {
    "persistentVolumeClaim": ("claim", "claimName"),
    "hostPath": ("folder of the node", "path"),
    "nfs": ("nfs", "path"),
    "cephfs": ("cephfs", "path"),
    "configMap": ("configMap", "name"),
    "secret": ("secret", "secretName"),
}


_SHELLS = ("sh", "bash", "dash", "ash", "ksh", "zsh")


class Place(NamedTuple):
    """A path of the job, what is there on this machine, and whether it is new for each run."""

    path: str
    here: str
    read_only: bool = False
    scratch: bool = False


class Maps(NamedTuple):
    """
    What the user said about the job's folders: by their paths, and by the names of claims.

    A path stands for everything below it.
    """

    paths: Mapping[str, str]
    claims: Mapping[str, str] = {}


def clean(path: str) -> str:
    """*path* with one slash between its parts and none at the end."""
    return "/" + posixpath.normpath(path).lstrip("/") if path.strip("/") else "/"


def holds(folder: str, path: str) -> bool:
    """Whether the clean *path* is *folder*, or below it."""
    return path == folder or path.startswith(folder if folder == "/" else f"{folder}/")


def places(process: Manifest, maps: Maps, scratch: str) -> list[Place]:
    """The folders of *process* that are mapped; *scratch* is where its own ones go."""
    given = {clean(path): os.path.abspath(here) for path, here in maps.paths.items()}
    found: list[Place] = []
    for mount in process["spec"].get("mounts", ()):
        path = clean(mount["mountPath"])
        read_only = bool(mount.get("readOnly") or mount.get("configMap") or mount.get("secret"))
        if here := _here(mount, path, given, maps.claims):
            found.append(Place(path, here, read_only))
        elif "emptyDir" in mount or "text" in mount:
            here = os.path.join(scratch, mount["name"])
            found.append(Place(path, here, read_only, scratch=True))
        inner = (each for each in given if each != path and holds(path, each))
        found += [Place(each, given[each], read_only) for each in inner]
    return found


def scratch(process: Manifest, found: Sequence[Place]) -> list[Fresh]:
    """What is new for each attempt."""
    texts = {
        clean(each["mountPath"]): each.get("text") for each in process["spec"].get("mounts", ())
    }
    return [Fresh(each.here, text=texts.get(each.path)) for each in found if each.scratch]


def faults(processes: Iterable[Manifest], maps: Maps) -> Iterator[str]:
    """Everything that is mapped nowhere, or to nothing."""
    mounts = {
        clean(each["mountPath"]): each
        for process in processes
        for each in process["spec"].get("mounts", ())
    }
    given = {clean(path): here for path, here in maps.paths.items()}
    for path, mount in mounts.items():
        here = _here(mount, path, given, maps.claims)
        if here is None and "emptyDir" not in mount and "text" not in mount:
            yield f"{path} is {_named(mount)}: say what it is here, --mount {path}=FOLDER"
        elif here is not None and not os.path.exists(here):
            yield f"{path} is to be {here}, which is not there: mkdir -p {here}"
    for path, here in given.items():
        if not any(holds(path, each) or holds(each, path) for each in mounts):
            known = f"only at {', '.join(sorted(mounts))}" if mounts else "nowhere"
            yield f"--mount {path}={here}: the job mounts volumes {known}"
        elif not os.path.exists(here) and not any(holds(path, each) for each in mounts):
            yield f"{path} is to be {here}, which is not there: mkdir -p {here}"


def place_of(found: Sequence[Place], path: str) -> Place | None:
    """The innermost place that holds *path*."""
    path = clean(path)
    above = [each for each in found if holds(each.path, path)]
    return max(above, key=lambda each: len(each.path), default=None)


def here_of(found: Sequence[Place], path: str) -> str | None:
    """What *path* of the job is on this machine."""
    place = place_of(found, path)
    return _below(place.here, place.path, clean(path)) if place else None


class Rewriting:
    """
    The substitution of paths in texts, where processes cannot see the true ones.

    A path is one where nothing before or after it makes it a part of another one.
    """

    def __init__(self, found: Iterable[Place]) -> None:
        self._known = {each.path: each.here for each in found if each.path != "/"}
        longest = sorted(self._known, key=len, reverse=True)
        inner = "|".join(map(re.escape, longest))
        self._pattern = re.compile(rf"(?<![\w.@/}}-])(?:{inner})(?![\w.-])") if inner else None

    def text(self, text: str) -> str:
        """*text* with this machine's paths."""
        if self._pattern is None or "/" not in text:
            return text
        return self._pattern.sub(lambda match: self._known[match[0]], text)

    def command(self, words: Sequence[str]) -> list[str]:
        """The *words* of a command; in a shell's text paths stay one word, whatever they hold."""
        if len(words) < 3 or posixpath.basename(words[0]) not in _SHELLS or words[1] != "-c":
            return [self.text(each) for each in words]
        return [words[0], words[1], self._script(words[2]), *map(self.text, words[3:])]

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
    """Which quotes of a shell are open after *text*, where *quote* was before it."""
    escaped = False
    for each in text:
        if escaped:
            escaped = False
        elif each == "\\" and quote != "'":
            escaped = True
        elif each in ("'", '"') and quote in ("", each):
            quote = "" if quote else each
    return quote


def _quoted(path: str, quote: str) -> str:
    """*path* as a shell reads it inside of *quote*."""
    if quote == "'":
        return path.replace("'", "'\\''")
    if quote == '"':
        return re.sub(r'([\\"$`])', r"\\\1", path)
    from shlex import quote as quoted

    return quoted(path)


def _here(
    mount: dict[str, Any], path: str, given: Mapping[str, str], claims: Mapping[str, str]
) -> str | None:
    above = [each for each in given if holds(each, path)]
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


def _named(mount: dict[str, Any]) -> str:
    for key, (word, name) in _SOURCES.items():
        if key in mount:
            return f"{word} {mount[key].get(name, '')}".strip()
    return f"volume {mount.get('name')}"
