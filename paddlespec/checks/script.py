"""Check that the script of a command travels with the job."""

from __future__ import annotations

import os
import posixpath
import re
from typing import TYPE_CHECKING

from paddlespec.checks.shell import SHELLS, Run, runs
from paddlespec.checks.volumes import clean, holds, mount_of
from paddlespec.diagnostic import nearest
from paddlespec.images.reference import host_and_rest
from paddlespec.render import roles, runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Job, Role
    from paddlespec.package.collect import Collection
    from paddlespec.render.roles import RoleName

READS = (
    *("spec.mode", "spec.image", "spec.package", "spec.command", "spec.setup", "spec.workdir"),
    *("spec.volumes", "spec.trainers", "spec.pservers", "spec.roles", "spec.target"),
)
# Public images that contain no code of the user.
_BARE = re.compile(r"(?:.*/)?(?:paddlepaddle/paddle[^/]*|(?:library/)?python)\Z")
# Commands that neither create files nor change the folder.
_HARMLESS = frozenset(
    ("pip", "pip3", "echo", "export", "set", "sleep", "date", "ls", "ulimit", "test", "[", "env")
)
_PLAIN = re.compile(r"[\w./+-]+\Z")
_LAUNCHERS = ("paddle.distributed.launch", "paddle.distributed.fleet.launch", "fleetrun")


def scripts(facts: Facts, collection: Collection | None) -> Iterator[Diagnostic]:
    """Report scripts that the replicas will not have; *collection* is what travels."""
    reported: set[Path] = set()
    for name in roles.names(facts.job.spec):
        role = roles.role(facts.job.spec, name)
        if facts.job.spec.mode == "legacy" and name == "pservers":
            continue
        path, script = _script(facts.job, name, role)
        if script is None or path in reported:
            continue
        reported.add(path)
        if facts.job.spec.package is None:
            yield from _without_package(facts, path, script, role)
        elif collection is not None and not collection.faults:
            yield from _outside_package(facts, path, script, collection)


def _without_package(facts: Facts, path: Path, script: str, role: Role) -> Iterator[Diagnostic]:
    """Without `package` nothing travels: a script of this folder is not in a public image."""
    image = host_and_rest(role.image or facts.job.spec.image)[1]
    repository = image.partition("@")[0].partition(":")[0]
    is_bare = facts.target == "local" or _BARE.match(repository)
    is_beside = not posixpath.isabs(script) and os.path.isfile(os.path.join(facts.folder, script))
    workdir, volumes = facts.job.spec.workdir, facts.job.spec.volumes
    if is_bare and is_beside and (workdir is None or mount_of(volumes, workdir) is None):
        message = f"{script} is beside the spec, but without `package` no file is delivered"
        hint = "add `package: {path: .}`"
        yield facts.warning("missing-script", message, path, hint)


def _outside_package(
    facts: Facts, path: Path, script: str, collection: Collection
) -> Iterator[Diagnostic]:
    """A package that is delivered is all there is in its folder."""
    job = facts.job
    workdir = runtime.delivered_to(job)
    top = clean(runtime.code_folder(job) or workdir)
    whole = clean(posixpath.join(workdir, script))
    if not holds(top, whole) or mount_of(job.spec.volumes, whole) is not None:
        return
    name = posixpath.relpath(whole, top)
    files = [file.path for file in collection.files]
    if name in files:
        return
    for left in collection.left:
        if name == left.path or (left.path.endswith("/") and name.startswith(left.path)):
            message = f"{script} is not delivered: excluded by {left.why}"
            repair = "change the pattern, or include it with a line that starts with `!`"
            yield facts.warning("missing-script", message, path, repair)
            return
    hint = None
    if like := _like(name, files):
        like = posixpath.relpath(posixpath.join(top, like), clean(workdir))
        hint = f'did you mean "{like}"?'
    yield facts.warning("missing-script", f"{script} is not in the package", path, hint)


def _like(name: str, files: list[str]) -> str | None:
    """Return the file that *name* probably means: similar, or of that name in another folder."""
    stem, ending = posixpath.splitext(name)
    known = {file.removesuffix(ending): file for file in files if file.endswith(ending)}
    if like := nearest(stem, known):
        return known[like]
    return next((file for file in files if posixpath.basename(file) == name), None)


def _script(job: Job, name: RoleName, role: Role) -> tuple[Path, str | None]:
    """Return the path of a role's command and its script, unless other commands may create it."""
    path: Path = (*roles.path(name), "command") if role.command else ("spec", "command")
    command = role.command or job.spec.command
    if isinstance(command, list):
        before, text = job.spec.setup, None
        listed = [Run(" ".join(command), command)]
        if len(command) > 2 and command[0].rpartition("/")[2] in SHELLS and "c" in command[1]:
            path, text = (*path, 2), command[2]
    else:
        before, text, listed = job.spec.setup, command, []
    listed = list(runs(text)) if text else listed
    for run in [*(run for line in before for run in runs(line)), *listed]:
        script = _script_of(run)
        if script is not None:
            return path, script if run in listed else None
        if not _is_harmless(run):
            break
    return path, None


def _script_of(run: Run) -> str | None:
    """Return the file that *run* executes, unless its name is computed."""
    words = [word.strip("\"'") for word in run.words]
    script = run.script()
    if any(word in _LAUNCHERS for word in words):
        script = next((word for word in words if word.endswith(".py")), None)
    elif words[0].rpartition("/")[2] in SHELLS and len(words) > 1:
        script = words[1] if words[1].endswith(".sh") else None
    elif words[0].startswith("./"):
        script = words[0]
    script = script.strip("\"'") if script else None
    return posixpath.normpath(script) if script and _PLAIN.match(script) else None


def _is_harmless(run: Run) -> bool:
    words = [word for word in run.words if "=" not in word]
    if not words or words[0] in _HARMLESS:
        return True
    start = run.interpreter()
    return start is not None and run.words[start + 1 : start + 3] == ["-m", "pip"]
