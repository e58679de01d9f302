"""The constants of a workload kind: its names, suspend switches and mutable fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.render.manifest import Identity

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.render.manifest import Manifest

LONGEST_LABEL = 63
# Matches any part of a path.
ANY = "*"
# Paths of fields; `ANY` matches every item of a list.
Patterns = tuple[tuple[str, ...], ...]


class Switch(NamedTuple):
    """A field of an object that stops its pods or lets them start."""

    path: tuple[str, ...]
    stopped: Any
    running: Any = None

    @property
    def pointer(self) -> str:
        """The field as a JSON pointer."""
        return "/" + "/".join(self.path)

    def is_stopped(self, manifest: Manifest) -> bool:
        """Report whether *manifest* is stopped."""
        value: Any = manifest
        for part in self.path:
            value = value.get(part) if isinstance(value, dict) else None
        return bool(value == self.stopped)

    def stop(self, manifest: Manifest) -> Manifest:
        """Return *manifest* stopped, unless it sets the field itself."""
        stopped: Manifest = _with_default(manifest, self.path, self.stopped)
        return stopped

    def start(self, manifest: Manifest) -> Manifest:
        """Return *manifest* started."""
        started: Manifest = _with(manifest, self.path, self.running)
        return started


class Kind(NamedTuple):
    """
    The constants of one kind of object that runs pods.

    `target` renders it. `hold` suspends it on creation, so it can be started later; a kind without
    `hold` runs as soon as it exists and never completes. `stop` stops its pods and keeps the
    object. `creates` lists the kinds of objects between it and its pods. `ends_servers`: its
    controller stops the pservers when the trainers are done. Fields change `in_place`,
    `while_suspended`, in place with `restarting` pods, or else by replacement. `longest_name` and
    `longest_host` limit the length of object and host names.
    """

    api_version: str
    kind: str
    plural: str
    target: str
    stop: Switch
    hold: Switch | None = None
    creates: tuple[tuple[str, str], ...] = ()
    ends_servers: bool = False
    in_place: Patterns = ()
    while_suspended: Patterns = ()
    restarting: Patterns = ()
    longest_name: int = LONGEST_LABEL
    longest_host: int = LONGEST_LABEL

    @property
    def type(self) -> tuple[str, str]:
        """API version and kind, as in a manifest."""
        return self.api_version, self.kind

    @property
    def group(self) -> str:
        """The API group."""
        return self.api_version.rpartition("/")[0]

    @property
    def is_built_in(self) -> bool:
        """Whether every cluster serves it: only the groups of extensions contain a dot."""
        return "." not in self.group

    def identity(self, namespace: str | None, name: str) -> Identity:
        """Return the identity of one object of this kind."""
        return Identity(self.api_version, self.kind, namespace, name)


def covers(patterns: Patterns, path: Path) -> bool:
    """Report whether one of *patterns* matches *path* or a parent of it."""
    return any(
        len(path) >= len(pattern)
        and all(part in (ANY, own) for part, own in zip(pattern, path, strict=False))
        for pattern in patterns
    )


def _with(node: Any, path: tuple[str, ...], value: Any) -> Any:
    head, *rest = path
    inner = _with(node.get(head) or {}, tuple(rest), value) if rest else value
    return {**node, head: inner}


def _with_default(node: Any, path: tuple[str, ...], value: Any) -> Any:
    head, *rest = path
    if not rest:
        return {head: value, **node}
    return {**node, head: _with_default(node.get(head) or {}, tuple(rest), value)}
