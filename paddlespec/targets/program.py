"""Build the program of the main container from setup, command and teardown."""

from __future__ import annotations

import shlex
from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec.bundled import text
from paddlespec.render import roles, runtime

if TYPE_CHECKING:
    from paddlespec.model import Job
    from paddlespec.render.roles import RoleName
    from paddlespec.render.runtime import Archive

# The shell is the first process of the container, so the kernel delivers only signals it traps. It
# forwards them and outlives the command to run the teardown. After a signal, the inner shell waits
# for the running program to exit and starts no other.
_STARTED = """\
trap 'trap "" TERM INT; kill -TERM 0' TERM INT
(
trap exit TERM INT
{main}
) & main=$!
wait $main; code=$?
while kill -0 $main 2>/dev/null; do wait $main; code=$?; done
trap - TERM INT"""
# The teardown runs in a subshell, so that its `exit` does not set the exit code of the run.
_AFTER = """\
(
{after}
)"""


def program(
    job: Job, role: RoleName, code: Archive | None, *, installs: bool = True
) -> list[str] | None:
    """
    Return the command of the main container of *role*, or None for that of the image.

    Without *installs*, the requirements of the package are already installed.
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


def arguments(job: Job, role: RoleName) -> list[str]:
    """Return the arguments for the entry point of the image, if there is no command."""
    own = roles.role(job.spec, role).args
    return [] if _main(job, role) is not None else own or job.spec.args


def _main(job: Job, role: RoleName) -> str | list[str] | None:
    """
    Return the command of the spec; that of the role takes precedence.

    In a legacy job that of the spec does not apply to pservers and to trainers of a v1 topology,
    which run a program of Paddle.
    """
    spec = job.spec
    role_command = roles.role(spec, role).command
    if role_command or spec.mode != "legacy" or role not in roles.PADDLE:
        return role_command or spec.command
    if role == "pservers":
        return script("legacy-pserver.sh")
    topology = spec.legacy.topology if spec.legacy else None
    return script("legacy-topology.sh") if topology else spec.command


def _installs(job: Job, code: Archive | None) -> list[str]:
    package = job.spec.package
    if package is None:
        return []
    arguments = [shlex.quote(requirement) for requirement in package.pip]
    requirements = code.requirements if code else package.requirements
    if requirements:
        path = f"{runtime.code_folder(job)}/{requirements}"
        arguments = ["-r", shlex.quote(path), *arguments]
    if not arguments:
        return []
    python = shlex.quote(package.python)
    return [
        f"{python} -m pip install --no-cache-dir --disable-pip-version-check {' '.join(arguments)}"
    ]


@lru_cache
def script(name: str) -> str:
    """Read a bundled script, without its last line break."""
    return text("templates", "scripts", name).rstrip("\n")
