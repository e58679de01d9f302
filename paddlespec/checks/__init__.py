"""
What a schema cannot say: how the parts of a spec agree.

A check is a generator of diagnostics, one idea each. It declares the paths that it reads; when the
gate found one of them unreadable the check stays silent, so that it never stumbles over a value
that was already reported, and everything else is still checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from paddlespec.contract import ROLES, RoleName
from paddlespec.diagnostic import Diagnostic, Severity

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.document import Document
    from paddlespec.model import Job, Role


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

    def error(
        self, code: str, message: str, path: Path, hint: str | None = None, *, key: bool = False
    ) -> Diagnostic:
        """What makes the spec invalid, at the value at *path*, or at its *key*."""
        locate = self.document.locate_key if key else self.document.locate
        return Diagnostic(code, message, locate(path), path, hint)

    def warning(
        self, code: str, message: str, path: Path, hint: str | None = None, *, key: bool = False
    ) -> Diagnostic:
        """What is likely a mistake, at the value at *path*, or at its *key*."""
        found = self.error(code, message, path, hint, key=key)
        return found._replace(severity=Severity.warning)


Env = dict[str, Any]
Check = Callable[[Facts], Iterator[Diagnostic]]
RoleCheck = Callable[[Facts, RoleName, "Role"], Iterator[Diagnostic]]
EnvCheck = Callable[[Facts, "Path", Env], Iterator[Diagnostic]]
Some = TypeVar("Some", bound=Callable[..., object])
_READS: dict[Callable[..., object], tuple[str, ...]] = {}


def reads(*paths: str) -> Callable[[Some], Some]:
    """Declare the paths that a check reads; `{role}` and `{env}` stand for each in turn."""

    def declare(check: Some) -> Some:
        _READS[check] = paths
        return check

    return declare


def declared(check: Callable[..., object]) -> tuple[str, ...]:
    """The paths that *check* declared."""
    return _READS[check]


def run(facts: Facts, spoiled: set[Path]) -> Iterator[Diagnostic]:
    """The findings of every check whose paths can be read."""
    from paddlespec.checks.catalogue import CHECKS, ENV_CHECKS, ROLE_CHECKS

    for check in CHECKS:
        if not spoiled or _unspoiled(check, spoiled):
            yield from check(facts)
    spec = facts.job.spec
    if spec.env:
        for env_check in ENV_CHECKS:
            if not spoiled or _unspoiled(env_check, spoiled, env="spec.env"):
                yield from env_check(facts, ("spec", "env"), spec.env)
    for name in ROLES:
        role: Role | None = getattr(spec, name)
        if not role:
            continue
        for role_check in ROLE_CHECKS:
            if not spoiled or _unspoiled(role_check, spoiled, role=name):
                yield from role_check(facts, name, role)
        for env_check in ENV_CHECKS if role.env else ():
            if not spoiled or _unspoiled(env_check, spoiled, env=f"spec.{name}.env"):
                yield from env_check(facts, ("spec", name, "env"), role.env)


def _unspoiled(check: Callable[..., object], spoiled: set[Path], **words: str) -> bool:
    return readable(spoiled, *(each.format(**words) for each in _READS[check]))


def readable(spoiled: set[Path], *paths: str) -> bool:
    """Whether nothing at, above or below the dotted *paths* is spoiled."""
    wanted = [tuple(each.split(".")) for each in paths]
    return not any(
        bad[: len(path)] == path or path[: len(bad)] == bad for path in wanted for bad in spoiled
    )
