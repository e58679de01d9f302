"""
Where replicas are on this machine: the substitution of hosts, the one that a rehearsal makes.

On Linux every address of 127.0.0.0/8 is there, so that each replica has one of its own and the
ports of the cluster. Elsewhere all are at 127.0.0.1, told apart by their ports.
"""

from __future__ import annotations

import random
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.local.ports import EVERYWHERE, claimed, holder, is_free, some_free

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlespec.manifest import Manifest

Address = tuple[str, int]
# Servers of Paddle's Python code listen on every address, whatever they are told.
_EVERYWHERE = ("master", "gloo")
_HOST = re.compile(r"([a-z0-9-]+\.[a-z0-9-]+\.[a-z0-9-]+\.svc)(?::([0-9]{1,5})(?![0-9]))?")
_TRIES = 8
_PLATFORM: str = sys.platform
_IN_ONE_BLOCK = 250


class Addresses(NamedTuple):
    """
    What stands for each host, and for those of its ports that had to be exchanged.

    `faults` are the ports that are taken and needed as they are.
    """

    hosts: dict[str, str]
    ports: dict[Address, int]
    own: dict[str, str]
    faults: tuple[str, ...] = ()

    def text(self, text: str) -> str:
        """*text* with this machine's addresses."""
        return _HOST.sub(self._replaced, text) if ".svc" in text else text

    def address(self, host: str, port: int) -> Address:
        """Where to reach *port* of *host*."""
        return self.hosts[host], self.ports.get((host, port), port)

    def _replaced(self, match: re.Match[str]) -> str:
        host, port = match[1], match[2]
        if host not in self.hosts:
            return match[0]
        if port is None:
            return self.hosts[host]
        return ":".join(map(str, self.address(host, int(port))))


def namespace(manifests: Sequence[Manifest]) -> str:
    """What NS is: the spec's namespace, or what a cluster calls the one of nobody."""
    return str(manifests[0]["metadata"].get("namespace") or "default")


def host_of(process: Manifest, name: str) -> str | None:
    """The host of *process* in the namespace *name*."""
    host = process["spec"].get("host")
    return host.replace("$(NS)", name) if host else None


def addresses(processes: Sequence[Manifest], ns: str, run: str, claims: str) -> Addresses:
    """Find addresses for *processes* of *run* in *ns*; *claims* is a folder that all runs share."""
    if _PLATFORM == "linux":
        return one_each(processes, ns, run, claims)
    return ports_of_one(processes, ns)


def one_each(processes: Sequence[Manifest], ns: str, run: str, claims: str) -> Addresses:
    """An address for each replica, with the ports that it has in the cluster."""
    wanted = {each["metadata"]["name"]: _certain(each) for each in processes}
    own: dict[str, str] = {}
    taken: list[Address] = []
    for _ in range(_TRIES):
        own = _block(list(wanted))
        taken = [
            (own[name], port)
            for name, ports in wanted.items()
            for port in ports
            if not is_free(own[name], port)
        ]
        if not taken:
            break
    hosts = {host: own[_name(each)] for each in processes if (host := host_of(each, ns))}
    ports: dict[Address, int] = {}
    for each in processes:
        host = host_of(each, ns)
        for name, port in each["spec"].get("ports", {}).items():
            if host and name in _EVERYWHERE and not claimed(port, run, claims):
                ports[host, port] = some_free(EVERYWHERE, frozenset(ports.values()))
    return Addresses(hosts, ports, own, tuple(_told(taken)))


def ports_of_one(processes: Sequence[Manifest], ns: str) -> Addresses:
    """One address for all, where each replica has ports of its own."""
    here = "127.0.0.1"
    own = {_name(each): here for each in processes}
    known = {host: each for each in processes if (host := host_of(each, ns))}
    ports: dict[Address, int] = {}
    for host, port in _named(processes, ns):
        if host in known and (host, port) not in ports:
            ports[host, port] = some_free(EVERYWHERE, frozenset(ports.values()))
    return Addresses(dict.fromkeys(known, here), ports, own)


def listens(process: Manifest, found: Addresses, ns: str) -> tuple[Address, ...]:
    """Where *process* will listen."""
    host, own = host_of(process, ns), found.own[_name(process)]
    return tuple(
        found.address(host, port) if host else (own, port)
        for port in process["spec"].get("ports", {}).values()
    )


def waits_for(process: Manifest, found: Addresses, ns: str) -> tuple[tuple[Address, ...], ...]:
    """What has to accept before *process* starts: one address of each."""
    pairs = (
        each.replace("$(NS)", ns).rsplit(":", 1) for each in process["spec"].get("waitsFor", ())
    )
    return tuple(
        tuple(found.address(host, int(port)) for port in ports.split("|")) for host, ports in pairs
    )


def own_port(
    variables: Mapping[str, str], process: Manifest, found: Addresses, ns: str
) -> str | None:
    """PADDLE_PORT where the replica's port is another one here."""
    host, port = host_of(process, ns), variables.get("PADDLE_PORT")
    if host is None or port is None or not port.isdigit():
        return None
    return str(found.address(host, int(port))[1])


def _name(process: Manifest) -> str:
    name: str = process["metadata"]["name"]
    return name


def _certain(process: Manifest) -> list[int]:
    """The ports that must be what they are."""
    ports: dict[str, int] = process["spec"].get("ports", {})
    return [port for name, port in ports.items() if name not in _EVERYWHERE]


def _block(names: Sequence[str]) -> dict[str, str]:
    """An address for each name, somewhere in 127.0.0.0/8 where others are unlikely to be."""
    blocks = len(names) // _IN_ONE_BLOCK + 1
    first = random.randrange(256, 255 * 256 - blocks)  # noqa: S311 - to be apart, not secret
    found = {}
    for index, name in enumerate(names):
        high, low = divmod(first + index // _IN_ONE_BLOCK, 256)
        found[name] = f"127.{high}.{low}.{index % _IN_ONE_BLOCK + 1}"
    return found


def _told(taken: Sequence[Address]) -> Iterator[str]:
    for port in sorted({port for _, port in taken}):
        host = next(host for host, each in taken if each == port)
        by = holder(port)
        yield f"port {port} of {host} is taken" + (f" by {by}" if by else "")


def _named(processes: Sequence[Manifest], ns: str) -> Iterator[Address]:
    """Every `host:port` that variables and waits mention, and the contract's own ports."""
    for each in processes:
        spec: dict[str, Any] = each["spec"]
        index = str(spec["index"])
        texts = [str(entry.get("value", "")) for entry in spec.get("env", ())]
        for text in [*texts, *spec.get("waitsFor", ())]:
            whole = text.replace("$(NS)", ns).replace("$(IDX)", index)
            for match in _HOST.finditer(whole) if ".svc:" in whole else ():
                if match[2]:
                    yield match[1], int(match[2])
