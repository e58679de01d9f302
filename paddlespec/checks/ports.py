"""Check that every port has one owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.render import roles, runtime
from paddlespec.render.ports import LAUNCHER_PORTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Role
    from paddlespec.render.roles import RoleName


@reads(
    "spec.{role}.ports",
    "spec.mode",
    "spec.trainers.replicas",
    "spec.legacy",
    "spec.network",
    "metadata.name",
)
def one_owner(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A port has one name, and neither may be reserved by the runtime contract."""
    if not role.ports:
        return
    reserved = runtime.reserved_ports(facts.job, name)
    owners = {port: f"reserved by paddlespec for {owner}" for owner, port in reserved.items()}
    for port_name, port in role.ports.items():
        path = (*roles.path(name), "ports", port_name)
        if port_name in reserved:
            message = f'port name "{port_name}" is reserved by paddlespec'
            yield facts.error("port", message, path, "use another name", key=True)
        elif port in owners:
            message = f"port {port} is {owners[port]}"
            yield facts.error("port", message, path, "use another port")
        elif "--" in port_name or not any("a" <= char <= "z" for char in port_name):
            message = f'invalid port name "{port_name}": it needs a letter, and no hyphens in a row'
            yield facts.error("port", message, path, "use a name such as tensorboard", key=True)
        owners.setdefault(port, f'already named "{port_name}"')


@reads("spec.{role}.ports", "spec.mode", "spec.trainers.replicas")
def drawn_ports(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The launcher picks the ports of its workers at random from a range."""
    if role.ports and facts.job.spec.mode == "collective":
        for port_name, port in role.ports.items():
            if port in LAUNCHER_PORTS:
                message = f"the launcher may pick port {port} for a worker"
                hint = f"use a port outside {LAUNCHER_PORTS.start}-{LAUNCHER_PORTS.stop - 1}"
                path = (*roles.path(name), "ports", port_name)
                yield facts.warning("drawn-port", message, path, hint)
