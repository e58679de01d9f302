"""
A launch: everything that a supervisor needs to run a job here, decided before anything starts.

The supervisor gets it when it starts, so that it depends on no spec and on no flag. What is written to
the run's own folder is the same without the values of secrets.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.local.fresh import Fresh

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

Address = tuple[str, int]
_HIDDEN = "(secret)"


class Process(NamedTuple):
    """
    One replica, ready to start: paths are this machine's, addresses are its own.

    `listens` must be free before the run; of each of `waits_for` one address must accept before
    this process starts.
    `memory` is a limit in bytes for the process with all its children, where it can be enforced.
    `secret` names the variables whose values nobody may write down; `fresh` is made anew for a
    later attempt.
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

    def lacks(self, accepting: AbstractSet[Address]) -> list[tuple[Address, ...]]:
        """What this process still waits for, where *accepting* accept."""
        return [each for each in self.waits_for if accepting.isdisjoint(each)]


class Launch(NamedTuple):
    """
    One run of one job; durations are in seconds.

    `meets`: replicas find each other first, so that one that is lost meanwhile leaves the others
    waiting for ever; `rendezvous` limits that. `independent` replicas (mode parallel) are tried
    again one by one. `output` is where the first trainer's results go.
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


def public(launch: Launch) -> Launch:
    """*launch* without the values of secrets, wherever they went."""
    return launch._replace(processes=tuple(map(_public, launch.processes)))


def _public(process: Process) -> Process:
    secrets = {value for name in process.secret if (value := process.env.get(name))}

    def shown(text: str) -> str:
        return _HIDDEN if any(each in text for each in secrets) else text

    env = {name: shown(value) for name, value in process.env.items()}
    return process._replace(env=env, argv=tuple(map(shown, process.argv)))


def is_hidden(value: str) -> bool:
    """Whether a value was left out of what is written down."""
    return _HIDDEN in value


def dump(launch: Launch) -> str:
    """*launch* as text."""
    data = launch._asdict()
    data["processes"] = [each._asdict() for each in launch.processes]
    return json.dumps(data, ensure_ascii=False, indent=1)


def parse(text: str) -> Launch:
    """What `dump` wrote."""
    data: dict[str, Any] = json.loads(text)
    processes = tuple(_process(each) for each in data.pop("processes"))
    return Launch(**data, processes=processes)


def _process(data: dict[str, Any]) -> Process:
    words = {key: tuple(data[key]) for key in ("argv", "secret")}
    listens = _addresses(data["listens"])
    waits_for = tuple(map(_addresses, data["waits_for"]))
    fresh = tuple(Fresh(*each) for each in data["fresh"])
    return Process(**{**data, **words, "listens": listens, "waits_for": waits_for, "fresh": fresh})


def _addresses(pairs: list[Any]) -> tuple[Address, ...]:
    return tuple((host, port) for host, port in pairs)
