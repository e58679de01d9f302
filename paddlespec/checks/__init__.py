"""
Checks that a schema cannot express: whether the parts of a spec agree with each other.

A check is a generator of diagnostics about one idea. It declares the paths it reads and is skipped
when the schema gate has rejected a value there; all other checks still run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from paddlespec.diagnostic import Diagnostic, Severity
from paddlespec.render import roles
from paddlespec.render.roles import RoleName
from paddlespec.render.runtime import PER_ROLE, Naming

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.model import Job, Role, Spec
    from paddlespec.spec.document import Document


class Facts(NamedTuple):
    """
    The input of a check.

    `used` holds the names used by the spec's expressions, `folder` is the folder of the spec file,
    `naming` is that of the target.
    """

    job: Job
    document: Document
    target: str = "kubernetes"
    used: frozenset[str] = frozenset()
    folder: str = ""
    naming: Naming = PER_ROLE

    def error(
        self, code: str, message: str, path: Path, hint: str | None = None, *, key: bool = False
    ) -> Diagnostic:
        """Report an error at the value at *path*, or at its *key*."""
        locate = self.document.locate_key if key else self.document.locate
        return Diagnostic(code, message, locate(path), path, hint)

    def warning(
        self, code: str, message: str, path: Path, hint: str | None = None, *, key: bool = False
    ) -> Diagnostic:
        """Report a likely mistake at the value at *path*, or at its *key*."""
        diagnostic = self.error(code, message, path, hint, key=key)
        return diagnostic._replace(severity=Severity.warning)


Env = dict[str, Any]
Check = Callable[[Facts], Iterator[Diagnostic]]
RoleCheck = Callable[[Facts, RoleName, "Role"], Iterator[Diagnostic]]
EnvCheck = Callable[[Facts, "Path", Env], Iterator[Diagnostic]]
AnyCheck = TypeVar("AnyCheck", bound=Callable[..., object])
# The fields that shape the managed variables of a replica.
ENVIRONMENT = (
    "metadata.name",
    "spec.mode",
    "spec.trainers",
    "spec.pservers",
    "spec.roles",
    "spec.legacy",
    "spec.parameters",
    "spec.network",
    "spec.command",
    "spec.package",
    "spec.workdir",
    "spec.workspace",
    "spec.input",
    "spec.output",
    "spec.logs",
)
_READS: dict[Callable[..., object], tuple[str, ...]] = {}


def reads(*paths: str) -> Callable[[AnyCheck], AnyCheck]:
    """Declare the paths a check reads; `{role}` and `{env}` are replaced on every call."""

    def declare(check: AnyCheck) -> AnyCheck:
        _READS[check] = paths
        return check

    return declare


def declared(check: Callable[..., object]) -> tuple[str, ...]:
    """Return the paths *check* declares."""
    return _READS[check]


def run(facts: Facts, unreadable: set[Path]) -> Iterator[Diagnostic]:
    """Run every check whose paths are readable."""
    from paddlespec.checks.catalogue import (
        CHECKS,
        ENV_CHECKS,
        PADDLE_ROLE_CHECKS,
        ROLE_CHECKS,
        SIDECAR_ENV_CHECKS,
    )

    for check in CHECKS:
        if not unreadable or _can_run(check, unreadable):
            yield from check(facts)
    spec = facts.job.spec
    for name in roles.names(spec):
        role, key = roles.role(spec, name), ".".join(map(str, roles.path(name)[1:]))
        for role_check in (*ROLE_CHECKS, *(PADDLE_ROLE_CHECKS if name in roles.PADDLE else ())):
            if not unreadable or _can_run(role_check, unreadable, role=key):
                yield from role_check(facts, name, role)
    for path, env in environments(spec):
        own = SIDECAR_ENV_CHECKS if "sidecars" in path else ENV_CHECKS
        for env_check in own if env else ():
            # A list with an invalid item is unreadable as a whole.
            where = ".".join(str(part) for part in path[: _first_index(path)])
            if not unreadable or _can_run(env_check, unreadable, env=where):
                yield from env_check(facts, path, env)


def environments(spec: Spec | None) -> Iterator[tuple[Path, Env]]:
    """Yield the variables of the spec, of its roles, and of all sidecars, with their paths."""
    if spec is None:  # in a document without a valid spec
        return
    holders: list[tuple[Path, Any]] = [(("spec",), spec)]
    holders += [(roles.path(name), roles.role(spec, name)) for name in roles.names(spec)]
    for path, holder in holders:
        yield (*path, "env"), holder.env or {}
        for index, sidecar in enumerate(holder.sidecars or ()):
            yield (*path, "sidecars", index, "env"), sidecar.env or {}


def _first_index(path: Path) -> int:
    """Return how many parts of *path* precede its first index of a list."""
    return next((n for n, part in enumerate(path) if isinstance(part, int)), len(path))


def _can_run(check: Callable[..., object], unreadable: set[Path], **values: str) -> bool:
    return readable(unreadable, *(path.format(**values) for path in _READS[check]))


def readable(unreadable: set[Path], *paths: str) -> bool:
    """Whether nothing at, above or below the dotted *paths* is unreadable."""
    split = [tuple(path.split(".")) for path in paths]
    return not any(
        bad[: len(path)] == path or path[: len(bad)] == bad for path in split for bad in unreadable
    )
