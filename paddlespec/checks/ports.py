"""Whether each port has one owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import contract
from paddlespec.checks import reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.contract import RoleName
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Job, Role

_DRAWN = range(35_100, 64_001)


def _taken(job: Job, name: RoleName) -> dict[str, int]:
    """The ports that the contract gives to the replicas of a role."""
    mode = job.spec.mode
    if mode == "collective" and contract.meets(job):
        return {"master": contract.MASTER_PORT}
    if name != "pservers" or mode not in ("ps", "legacy"):
        return {}
    listed = contract.pserver_ports(job)
    found = {f"pserver-{index}" if index else "pserver": port for index, port in enumerate(listed)}
    return {**found, "gloo": contract.GLOO_PORT} if mode == "ps" else found


@reads("spec.{role}.ports", "spec.mode", "spec.trainers.replicas", "spec.legacy")
def one_owner(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Two names for one port, or a name or port that the contract needs."""
    if not role.ports:
        return
    taken = _taken(facts.job, name)
    owners = {port: f"taken by paddlespec, as {own}" for own, port in taken.items()}
    for own, port in role.ports.items():
        path = ("spec", name, "ports", own)
        if own in taken:
            message = f"the port name {own} is paddlespec's own"
            yield facts.error("port", message, path, "choose another name", key=True)
        elif port in owners:
            message = f"port {port} is {owners[port]}"
            yield facts.error("port", message, path, "choose another port")
        elif "--" in own or not any("a" <= char <= "z" for char in own):
            message = f'the port name "{own}" needs a letter, and no hyphens in a row'
            yield facts.error("port", message, path, "a name such as tensorboard", key=True)
        owners.setdefault(port, f"already called {own}")


@reads("spec.{role}.ports", "spec.mode", "spec.trainers.replicas")
def drawn_ports(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The launcher draws the ports of its workers at random from a range."""
    if role.ports and facts.job.spec.mode == "collective":
        for own, port in role.ports.items():
            if port in _DRAWN:
                message = f"the launcher may draw port {port} for a worker"
                hint = f"choose one outside of {_DRAWN.start}-{_DRAWN.stop - 1}"
                yield facts.warning("drawn-port", message, ("spec", name, "ports", own), hint)
