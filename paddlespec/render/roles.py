"""The roles of a job: trainers, pservers, and further ones under `spec.roles`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddlespec.diagnostic import Path
    from paddlespec.model import Role, Spec

RoleName = str
# The roles of Paddle, which have fields of their own and get its variables.
PADDLE: tuple[RoleName, ...] = ("trainers", "pservers")


def names(spec: Spec) -> list[RoleName]:
    """Return the roles of a job, Paddle's first; every job has trainers."""
    named = (name for name in spec.roles or () if name not in PADDLE)
    return ["trainers", *(["pservers"] if spec.pservers else ()), *named]


def declared(spec: Spec, name: RoleName) -> Role | None:
    """Return the role *name*, or None if the job has no such role."""
    role: Role | None = getattr(spec, name) if name in PADDLE else (spec.roles or {}).get(name)
    return role


def role(spec: Spec, name: RoleName) -> Role:
    """Return the role *name* of a job that has it."""
    own = declared(spec, name)
    if own is None:
        raise KeyError(name)
    return own


def path(name: RoleName) -> Path:
    """Return where a document declares the role *name*."""
    return ("spec", name) if name in PADDLE else ("spec", "roles", name)


def under(place: Path) -> RoleName | None:
    """Return the role that *place* in a document belongs to, or None if to all."""
    if place[1:2] == ("roles",):
        return str(place[2]) if len(place) > 2 else None
    return str(place[1]) if len(place) > 1 and place[1] in PADDLE else None


def plural(name: str) -> RoleName:
    """Return the role that *name* stands for, which may be the singular of one of Paddle's."""
    longer = f"{name.removesuffix('s')}s"
    return longer if longer in PADDLE else name


def singular(name: RoleName) -> str:
    """Return *name* in the names of objects and hosts: `trainer`, `pserver`, or unchanged."""
    return name.removesuffix("s") if name in PADDLE else name


def clause(name: RoleName, verb: str) -> str:
    """Return the start of a sentence: `trainers request`, `evaluator requests`."""
    if name in PADDLE:
        return f"{name} {verb}"
    return f"{name} {'has' if verb == 'have' else f'{verb}s'}"


def ordered(found: Iterable[RoleName]) -> list[RoleName]:
    """Return every name of *found* once, Paddle's first."""
    known = dict.fromkeys(found)
    return sorted(known, key=lambda name: PADDLE.index(name) if name in PADDLE else len(PADDLE))


def hosts_variable(name: RoleName) -> str:
    """Return the variable with the host names of a role, such as PADDLESPEC_EVALUATOR_HOSTS."""
    return f"PADDLESPEC_{name.upper().replace('-', '_')}_HOSTS"
