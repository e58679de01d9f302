"""
Map the hosts of a cluster to loopback addresses of this machine.

Linux has all of 127.0.0.0/8, so each replica gets its own address and keeps the ports of the
cluster. On other systems all replicas share 127.0.0.1, with their own ports.
"""

from __future__ import annotations

import random
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backends.local.machine.ports import (
    EVERYWHERE,
    claimed,
    holder,
    is_free,
    some_free,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlespec.backends.local.machine.network import Address
    from paddlespec.render.manifest import Manifest

# Servers of Paddle's Python code ignore the address and listen on all of them.
_EVERYWHERE = ("master", "gloo")
_HOST = re.compile(r"([a-z0-9-]+\.[a-z0-9-]+\.[a-z0-9-]+\.svc)(?::([0-9]{1,5})(?![0-9]))?")
_TRIES = 8
_PLATFORM: str = sys.platform
_IN_ONE_BLOCK = 250


class Addresses(NamedTuple):
    """
    The address of each host, and the ports that had to be replaced.

    `faults` describe ports that are in use and cannot be replaced.
    """

    hosts: dict[str, str]
    ports: dict[Address, int]
    own: dict[str, str]
    faults: tuple[str, ...] = ()

    def text(self, text: str) -> str:
        """Return *text* with this machine's addresses."""
        return _HOST.sub(self._replaced, text) if ".svc" in text else text

    def address(self, host: str, port: int) -> Address:
        """Return where *port* of *host* is."""
        return self.hosts[host], self.ports.get((host, port), port)

    def _replaced(self, match: re.Match[str]) -> str:
        host, port = match[1], match[2]
        if host not in self.hosts:
            return match[0]
        if port is None:
            return self.hosts[host]
        return ":".join(map(str, self.address(host, int(port))))


def namespace(manifests: Sequence[Manifest]) -> str:
    """Return the value of NS: the spec's namespace, or `default`."""
    return str(manifests[0]["metadata"].get("namespace") or "default")


def host_of(process: Manifest, name: str) -> str | None:
    """Return the host of *process* in the namespace *name*."""
    host = process["spec"].get("host")
    return host.replace("$(NS)", name) if host else None


def addresses(processes: Sequence[Manifest], ns: str, run: str, claims: str) -> Addresses:
    """Find addresses for *processes* of *run* in *ns*; *claims* is a folder that all runs share."""
    if _PLATFORM == "linux":
        return one_each(processes, ns, run, claims)
    return ports_of_one(processes, ns)


def one_each(processes: Sequence[Manifest], ns: str, run: str, claims: str) -> Addresses:
    """Give each replica its own address, with the ports of the cluster."""
    needed = {process["metadata"]["name"]: _certain(process) for process in processes}
    own: dict[str, str] = {}
    taken: list[Address] = []
    for _ in range(_TRIES):
        own = _block(list(needed))
        taken = [
            (own[name], port)
            for name, ports in needed.items()
            for port in ports
            if not is_free(own[name], port)
        ]
        if not taken:
            break
    hosts = {host: own[_name(process)] for process in processes if (host := host_of(process, ns))}
    ports: dict[Address, int] = {}
    for process in processes:
        host = host_of(process, ns)
        for name, port in process["spec"].get("ports", {}).items():
            if host and name in _EVERYWHERE and not claimed(port, run, claims):
                ports[host, port] = some_free(EVERYWHERE, frozenset(ports.values()))
    return Addresses(hosts, ports, own, tuple(_conflicts(taken)))


def ports_of_one(processes: Sequence[Manifest], ns: str) -> Addresses:
    """Give all replicas one address, and each its own ports."""
    here = "127.0.0.1"
    own = {_name(process): here for process in processes}
    known = {host: process for process in processes if (host := host_of(process, ns))}
    ports: dict[Address, int] = {}
    for host, port in _named(processes, ns):
        if host in known and (host, port) not in ports:
            ports[host, port] = some_free(EVERYWHERE, frozenset(ports.values()))
    return Addresses(dict.fromkeys(known, here), ports, own)


def listens(process: Manifest, addresses: Addresses, ns: str) -> tuple[Address, ...]:
    """Return where *process* will listen."""
    host, own = host_of(process, ns), addresses.own[_name(process)]
    return tuple(
        addresses.address(host, port) if host else (own, port)
        for port in process["spec"].get("ports", {}).values()
    )


def waits_for(process: Manifest, addresses: Addresses, ns: str) -> tuple[tuple[Address, ...], ...]:
    """Return groups of addresses; *process* starts once one address of each group accepts."""
    pairs = (
        address.replace("$(NS)", ns).rsplit(":", 1)
        for address in process["spec"].get("waitsFor", ())
    )
    return tuple(
        tuple(addresses.address(host, int(port)) for port in ports.split("|"))
        for host, ports in pairs
    )


def own_port(
    variables: Mapping[str, str], process: Manifest, addresses: Addresses, ns: str
) -> str | None:
    """Return PADDLE_PORT, if the replica has a host and a port."""
    host, port = host_of(process, ns), variables.get("PADDLE_PORT")
    if host is None or port is None or not port.isdigit():
        return None
    return str(addresses.address(host, int(port))[1])


def _name(process: Manifest) -> str:
    name: str = process["metadata"]["name"]
    return name


def _certain(process: Manifest) -> list[int]:
    """Return the ports that cannot be replaced."""
    ports: dict[str, int] = process["spec"].get("ports", {})
    return [port for name, port in ports.items() if name not in _EVERYWHERE]


def _block(names: Sequence[str]) -> dict[str, str]:
    """Return an address for each name, in a random part of 127.0.0.0/8."""
    blocks = len(names) // _IN_ONE_BLOCK + 1
    first = random.randrange(256, 255 * 256 - blocks)  # noqa: S311 - it need not be secret
    addresses = {}
    for index, name in enumerate(names):
        high, low = divmod(first + index // _IN_ONE_BLOCK, 256)
        addresses[name] = f"127.{high}.{low}.{index % _IN_ONE_BLOCK + 1}"
    return addresses


def _conflicts(taken: Sequence[Address]) -> Iterator[str]:
    for port in sorted({port for _, port in taken}):
        host = next(host for host, number in taken if number == port)
        process = holder(port)
        yield f"port {port} of {host} is in use" + (f" by {process}" if process else "")


def _named(processes: Sequence[Manifest], ns: str) -> Iterator[Address]:
    """List every `host:port` in variables and waits, and the ports of the processes."""
    for process in processes:
        spec: dict[str, Any] = process["spec"]
        index = str(spec["index"])
        texts = [str(entry.get("value", "")) for entry in spec.get("env", ())]
        for text in [*texts, *spec.get("waitsFor", ())]:
            whole = text.replace("$(NS)", ns).replace("$(IDX)", index)
            for match in _HOST.finditer(whole) if ".svc:" in whole else ():
                if match[2]:
                    yield match[1], int(match[2])
