"""
What a schema cannot say: how the parts of a spec agree.

A check is a generator of diagnostics, one idea each. It declares the paths that it reads; when the
gate found one of them unreadable the check stays silent, so that it never stumbles over a value
that was already reported, and everything else is still checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.document import Document
    from paddlespec.model import Job, Role

RoleName = Literal["trainers", "pservers"]
ROLES: tuple[RoleName, ...] = ("trainers", "pservers")


class Facts(NamedTuple):
    """
    What a check may look at.

    `used` are the names that the expressions of the spec use, `folder` is the spec's own.
    """

    job: Job
    document: Document
    target: str = "kubernetes"
    used: frozenset[str] = frozenset()
    folder: str = ""


Check = Callable[[Facts], Iterator["Diagnostic"]]
RoleCheck = Callable[[Facts, RoleName, "Role"], Iterator["Diagnostic"]]
Some = TypeVar("Some", bound=Callable[..., object])
_READS: dict[Callable[..., object], tuple[str, ...]] = {}


def reads(*paths: str) -> Callable[[Some], Some]:
    """Declare the paths that a check reads; `{role}` stands for each role in turn."""

    def declare(check: Some) -> Some:
        _READS[check] = paths
        return check

    return declare


def declared(check: Callable[..., object]) -> tuple[str, ...]:
    """The paths that *check* declared."""
    return _READS[check]


def run(facts: Facts, spoiled: set[Path]) -> Iterator[Diagnostic]:
    """The findings of every check whose paths can be read."""
    from paddlespec.checks.catalogue import CHECKS, ROLE_CHECKS

    for check in CHECKS:
        if not _blocked(check, spoiled, ""):
            yield from check(facts)
    for name in ROLES:
        role: Role | None = getattr(facts.job.spec, name)
        for role_check in ROLE_CHECKS if role else ():
            if role and not _blocked(role_check, spoiled, name):
                yield from role_check(facts, name, role)


def _blocked(check: Callable[..., object], spoiled: set[Path], role: str) -> bool:
    return bool(spoiled) and not readable(
        spoiled, *(each.format(role=role) for each in _READS[check])
    )


def readable(spoiled: set[Path], *paths: str) -> bool:
    """Whether nothing at, above or below the dotted *paths* is spoiled."""
    wanted = [tuple(each.split(".")) for each in paths]
    return not any(
        bad[: len(path)] == path or path[: len(bad)] == bad for path in wanted for bad in spoiled
    )
