"""
A launch: everything a supervisor needs to run a job, decided before anything starts.

The supervisor needs no spec and no other options. The folder of the run stores the launch without
the values of secrets.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.render.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from paddlespec.backends.local.machine.network import Address

_HIDDEN = "(secret)"


class Fresh(NamedTuple):
    """A folder, with the files of an archive if there is one; or a file with a text."""

    path: str
    archive: str | None = None
    text: str | None = None


class Container(NamedTuple):
    """The name of a replica's container, and the file with the process id of its monitor."""

    name: str
    pid_file: str


class Process(NamedTuple):
    """
    One replica, ready to start, with paths and addresses of this machine.

    `listens` must be free before the run. The process starts once one address of each group of
    `waits_for` accepts. `memory` is a limit in bytes for the process with all its descendants.
    `secret` names variables whose values are never written to disk. `fresh` is created anew for
    each later attempt. `argv` of a replica with a `container` is a command of podman.
    """

    name: str
    role: str
    replica: int
    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    listens: tuple[Address, ...] = ()
    waits_for: tuple[tuple[Address, ...], ...] = ()
    memory: int | None = None
    secret: tuple[str, ...] = ()
    fresh: tuple[Fresh, ...] = ()
    container: Container | None = None

    def lacks(self, accepting: AbstractSet[Address]) -> list[tuple[Address, ...]]:
        """Return the groups this process still waits for while *accepting* accept connections."""
        return [group for group in self.waits_for if accepting.isdisjoint(group)]


class Launch(NamedTuple):
    """
    One run of one job; durations are in seconds.

    `meets`: replicas first find each other, and would wait forever for a lost one; `rendezvous` limits
    that. `independent` replicas (mode parallel) are retried one by one. `output` is the folder of the
    first trainer's results.
    """

    job: str
    uid: str
    processes: tuple[Process, ...]
    timeout: float | None = None
    retries: int = 0
    keep: float | None = None
    grace: float = 60.0
    meets: bool = False
    rendezvous: float = 300.0
    independent: bool = False
    output: str | None = None


_TEXT, _FLAG = {"type": "string"}, {"type": "boolean"}
_INT = {"type": "integer", "minimum": 0, "maximum": 2**63}
_SECONDS = {"type": "number", "minimum": 0, "maximum": 2**63}
_MAYBE_SECONDS = {**_SECONDS, "type": ["number", "null"]}
_TEXTS = {"type": "array", "items": _TEXT}
_ADDRESSES = {
    "type": "array",
    "items": {"type": "array", "prefixItems": [_TEXT, _INT], "minItems": 2, "maxItems": 2},
}
_PROCESS = {
    "type": "object",
    "required": [
        *("name", "role", "replica", "argv", "env", "cwd"),
        *("listens", "waits_for", "memory", "secret", "fresh"),
    ],
    "properties": {
        **dict.fromkeys(("name", "role", "cwd"), _TEXT),
        **dict.fromkeys(("argv", "secret"), _TEXTS),
        "replica": _INT,
        "env": {"type": "object", "additionalProperties": _TEXT},
        "listens": _ADDRESSES,
        "waits_for": {"type": "array", "items": _ADDRESSES},
        "memory": {**_INT, "type": ["integer", "null"]},
        "fresh": {"type": "array", "items": {"type": "array"}},
        "container": {**_TEXTS, "type": ["array", "null"], "minItems": 2, "maxItems": 2},
    },
}
_SHAPE = Shape(
    {
        "type": "object",
        "required": ["job", "uid", "processes"],
        "properties": {
            **dict.fromkeys(("job", "uid"), _TEXT),
            **dict.fromkeys(("grace", "rendezvous"), _SECONDS),
            **dict.fromkeys(("timeout", "keep"), _MAYBE_SECONDS),
            **dict.fromkeys(("meets", "independent"), _FLAG),
            "retries": _INT,
            "output": {"type": ["string", "null"]},
            "processes": {"type": "array", "items": _PROCESS},
        },
    }
)


def public(launch: Launch) -> Launch:
    """Return *launch* without the values of secrets, wherever they occur."""
    return launch._replace(processes=tuple(map(_public, launch.processes)))


def _public(process: Process) -> Process:
    secrets = {value for name in process.secret if (value := process.env.get(name))}

    def shown(text: str) -> str:
        return _HIDDEN if any(secret in text for secret in secrets) else text

    env = {name: shown(value) for name, value in process.env.items()}
    return process._replace(env=env, argv=tuple(map(shown, process.argv)))


def is_hidden(value: str) -> bool:
    """Report whether a value was omitted from what is written to disk."""
    return _HIDDEN in value


def dump(launch: Launch) -> str:
    """Return *launch* as text."""
    data = launch._asdict()
    data["processes"] = [process._asdict() for process in launch.processes]
    return json.dumps(data, ensure_ascii=False, indent=1)


def parse(text: str) -> Launch:
    """Return the launch that `dump` wrote; raise `ValueError` for other text."""
    try:
        data: dict[str, Any] = _SHAPE.read(text)
        processes = tuple(_process(fields) for fields in data.pop("processes"))
        return Launch(**data, processes=processes)
    except (TypeError, ValueError) as error:
        raise ValueError("not a launch") from error


def _process(data: dict[str, Any]) -> Process:
    texts = {key: tuple(data[key]) for key in ("argv", "secret")}
    listens = _addresses(data["listens"])
    waits_for = tuple(map(_addresses, data["waits_for"]))
    fresh = tuple(Fresh(*values) for values in data["fresh"])
    container = Container(*pair) if (pair := data.get("container")) else None
    more = {"listens": listens, "waits_for": waits_for, "fresh": fresh, "container": container}
    return Process(**{**data, **texts, **more})


def _addresses(pairs: list[Any]) -> tuple[Address, ...]:
    return tuple((host, port) for host, port in pairs)
