"""Check the ports of the network, and that variables and ports agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import ENVIRONMENT, reads
from paddlespec.render import environment, ports, roles
from paddlespec.render.ports import LAST, LAUNCHER_PORTS
from paddlespec.render.runtime import Context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role
    from paddlespec.render.roles import RoleName

_PORTS: Path = ("spec", "network", "ports")
_OF_MODE = {
    "collective": ("master",),
    "ps": ("pserver", "gloo"),
    "legacy": ("pserver",),
    "parallel": (),
}
# Variables of one port, and of an address, with the port of the network that they repeat.
_VARIABLES = {
    "PADDLE_PORT": "pserver",
    "PADDLE_INIT_PORT": "pserver",
    "PADDLE_MASTER": "master",
    "PADDLE_GLOO_HTTP_ENDPOINT": "gloo",
}


@reads("spec.network", "spec.mode", "spec.legacy", "metadata.name")
def own_ports(facts: Facts) -> Iterator[Diagnostic]:
    """Ports of the network belong to the mode, exist, and do not overlap."""
    job = facts.job
    mode, own = job.spec.mode, job.spec.network.ports
    used = _OF_MODE.get(mode, ())
    for name in ("master", "pserver", "gloo"):
        port = getattr(own, name)
        if port is None:
            continue
        path = (*_PORTS, name)
        if name not in used:
            message = f"mode {mode} has no port {name}"
            hint = f"use {' or '.join(used)}" if used else "remove it: these replicas never meet"
            yield facts.error("port", message, path, hint, key=True)
        elif name == "master" and port in LAUNCHER_PORTS:
            message = f"the launcher may pick port {port} for a worker"
            hint = f"use a port outside {LAUNCHER_PORTS.start}-{LAUNCHER_PORTS.stop - 1}"
            yield facts.warning("drawn-port", message, path, hint)
    last = ports.of_pserver(job)[-1]
    if mode == "legacy" and last > LAST:
        message = f"the last port of a pserver would be {last:,}; the limit is {LAST:,}"
        yield facts.error("port", message, (*_PORTS, "pserver"), "use a lower port")
    pserver, gloo = ports.of(job).pserver, ports.of(job).gloo
    if mode == "ps" and pserver == gloo:
        name = "gloo" if own.gloo else "pserver"
        message = f"pservers and gloo would both listen on port {gloo}"
        yield facts.error("port", message, (*_PORTS, name), "use another port")


@reads(
    "spec.env",
    "spec.{role}.env",
    *ENVIRONMENT,
)
def variables_agree(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A variable must not move a port that peers, probes and Services expect elsewhere."""
    spec = facts.job.spec
    env = {**spec.env, **role.env}
    overridden = [variable for variable in _VARIABLES if variable in env]
    # In the other modes, PADDLE_PORT is not the port of a server.
    if not overridden or spec.mode not in ("collective", "ps", "legacy"):
        return
    managed = environment.of(facts.job, name, Context(naming=facts.naming))
    for variable in overridden:
        port = _VARIABLES[variable]
        if port not in _OF_MODE[spec.mode] or variable not in managed:
            continue
        host, _, expected = managed[variable].rpartition(":")
        other_host, _, other = _text(env[variable]).rpartition(":")
        is_port = other.isascii() and other.isdigit() and len(other) <= len(str(LAST))
        if host != other_host or not is_port or other == expected:
            continue
        path = (*roles.path(name), "env") if variable in role.env else ("spec", "env")
        if path == ("spec", "env") and name != "trainers":
            continue  # reported for the trainers
        message = f"{variable} names port {other}, but Services and peers use {expected}"
        hint = f"remove it, and set `network: {{ports: {{{port}: {other}}}}}`"
        yield facts.error("env-port", message, (*path, variable), hint)


def _text(value: object) -> str:
    """Return a plain value; those of references and sensitive ones are not compared."""
    if isinstance(value, (str, int)):
        return str(value)
    literal = None if getattr(value, "sensitive", True) else getattr(value, "value", None)
    return "" if literal is None else str(literal)
