"""What the main container runs: the spec's command between what goes before and after it."""

from __future__ import annotations

import shlex
from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec import contract
from paddlespec.resources import text

if TYPE_CHECKING:
    from paddlespec.contract import Archive, RoleName
    from paddlespec.model import Job

# The shell is the container's first process, to which the kernel delivers only signals that it
# traps: it must pass them on, and outlive the command to run what comes after. The shell of the
# command waits for the program that it runs to end as it likes, and begins no other.
_STARTED = """\
trap 'trap "" TERM INT; kill -TERM 0' TERM INT
(
trap exit TERM INT
{main}
) & main=$!
wait $main; code=$?
while kill -0 $main 2>/dev/null; do wait $main; code=$?; done
trap - TERM INT"""
# A shell of its own: an `exit` of it must not become the verdict of the run.
_AFTER = """\
(
{after}
)"""


def program(
    job: Job, role: RoleName, code: Archive | None, *, installs: bool = True
) -> list[str] | None:
    """
    The command of the main container of *role*; the image's own where the spec gives none.

    Without *installs*, what the package requires is there already.
    """
    main = _main(job, role)
    before = [*(_installs(job, code) if installs else ()), *job.spec.setup]
    after = job.spec.teardown
    if main is None:
        return None
    if not before and not after:
        return ["sh", "-c", main] if isinstance(main, str) else main
    lines = ["set -e", *before, "set +e"] if before else []
    lines.append(_STARTED.format(main=main if isinstance(main, str) else shlex.join(main)))
    if after:
        lines.append(_AFTER.format(after="\n".join(after)))
    return ["sh", "-c", "\n".join([*lines, "exit $code"])]


def _main(job: Job, role: RoleName) -> str | list[str] | None:
    """
    The command as the spec gives it, the role's own first.

    Of a legacy job it is the trainers' alone: pservers run a program of Paddle's, and so do
    the trainers of a v1 topology.
    """
    spec = job.spec
    own = getattr(spec, role).command
    if own or spec.mode != "legacy":
        return own or spec.command
    if role == "pservers":
        return script("legacy-pserver.sh")
    topology = spec.legacy.topology if spec.legacy else None
    return script("legacy-topology.sh") if topology else spec.command


def _installs(job: Job, code: Archive | None) -> list[str]:
    package = job.spec.package
    if package is None:
        return []
    wanted = [shlex.quote(each) for each in package.pip]
    requirements = code.requirements if code else package.requirements
    if requirements:
        path = f"{contract.code_folder(job)}/{requirements}"
        wanted = ["-r", shlex.quote(path), *wanted]
    if not wanted:
        return []
    python = shlex.quote(package.python)
    return [
        f"{python} -m pip install --no-cache-dir --disable-pip-version-check {' '.join(wanted)}"
    ]


@lru_cache
def script(name: str) -> str:
    """The text of a bundled script, without its last newline."""
    return text("templates", "scripts", name).rstrip("\n")
