"""Check that the replicas can reach data, results and code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.checks.volumes import (
    clean,
    holds,
    mount_of,
    writable,
)
from paddlespec.render import roles, runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Spec


# Folders of the job are those of its trainers.
_MOUNTED = ("spec.volumes", "spec.trainers.volumes")
_SEPARATE_FOLDER = "use a separate folder for results"


def _output(spec: Spec) -> tuple[str, str] | None:
    """Return the field that sets the results folder, and its value."""
    if spec.output:
        return "output", spec.output
    return ("workspace", spec.workspace) if spec.workspace else None


@reads(
    *_MOUNTED,
    "spec.pservers",
    "spec.roles",
    "spec.input",
    "spec.output",
    "spec.workspace",
    "spec.package",
    "spec.logs",
)
def on_a_mount(facts: Facts) -> Iterator[Diagnostic]:
    """Files that exist before or after a replica must be on a volume."""
    spec = facts.job.spec
    locations: list[tuple[Path, str]] = []
    for name, value in (
        ("input", spec.input),
        ("output", spec.output),
        ("workspace", spec.workspace),
        ("logs", spec.logs),
    ):
        if value:
            locations.append((("spec", name), value))
    if spec.package and spec.package.path.startswith("/"):
        locations.append((("spec", "package", "path"), spec.package.path))
    volumes = runtime.volumes(facts.job, "trainers")
    others = [name for name in roles.names(spec) if name != "trainers"]
    for path, value in locations:
        if mount_of(volumes, value) is None:
            mounts = ", ".join(volume.mount_path for volume in volumes)
            hint = f"use a path below {mounts}" if mounts else "add a volume that contains it"
            yield facts.error("not-on-a-mount", f"{value} is not on a volume", path, hint)
        for name in others if path[1] == "package" and mount_of(volumes, value) else ():
            if mount_of(runtime.volumes(facts.job, name), value) is None:
                who = "the pservers, which run" if name == "pservers" else f"{name}, which runs"
                message = f"{value} is not on a volume of {who} the code too"
                hint = "list the volume in `spec.volumes`"
                yield facts.error("not-on-a-mount", message, path, hint)
                break


@reads(*_MOUNTED, "spec.output", "spec.workspace", "spec.logs")
def output_is_writable(facts: Facts) -> Iterator[Diagnostic]:
    """Results and logs cannot be written to a read-only mount."""
    spec = facts.job.spec
    for place in filter(None, (_output(spec), ("logs", spec.logs) if spec.logs else None)):
        volume = mount_of(runtime.volumes(facts.job, "trainers"), place[1])
        if volume is not None and not writable(volume):
            message = f"{place[1]} is on volume {volume.name}, which is read-only"
            yield facts.error("read-only-output", message, ("spec", place[0]))


@reads("spec.logs", "spec.mode")
def logs_of_the_launcher(facts: Facts) -> Iterator[Diagnostic]:
    """Only Paddle's launcher, in mode collective, writes log files."""
    spec = facts.job.spec
    if spec.logs and spec.mode != "collective":
        message = f"`logs` has no effect in mode {spec.mode}, which has no launcher"
        hint = "remove it; `paddlespec logs` shows the output of the program"
        yield facts.warning("no-logs", message, ("spec", "logs"), hint, key=True)


@reads("spec.input", "spec.output")
def input_is_output(facts: Facts) -> Iterator[Diagnostic]:
    """Results written to the input folder become input of the next run."""
    spec = facts.job.spec
    if spec.input and spec.output and clean(spec.input) == clean(spec.output):
        message = "`output` is the same folder as `input`"
        yield facts.warning("output-is-input", message, ("spec", "output"), _SEPARATE_FOLDER)


@reads("spec.output", "spec.workspace", "spec.outputPolicy")
def policy_needs_output(facts: Facts) -> Iterator[Diagnostic]:
    """`outputPolicy` without an output does nothing."""
    spec = facts.job.spec
    if not spec.output and not spec.workspace:
        path = ("spec", "outputPolicy")
        if facts.document.at(path) is not None:
            message = "`outputPolicy` has no effect without an output"
            yield facts.warning("no-output", message, path, "add `output`, or remove it")


@reads(
    "metadata.name",
    *_MOUNTED,
    "spec.input",
    "spec.output",
    "spec.workspace",
    "spec.outputPolicy",
    "spec.package",
    "spec.workdir",
)
def clear_spares(facts: Facts) -> Iterator[Diagnostic]:
    """`clear` deletes everything in the output folder, so nothing else may be stored there."""
    spec = facts.job.spec
    output = runtime.output(facts.job) if spec.output_policy == "clear" else None
    if output is None:
        return
    folder = clean(output)
    path = ("spec", "outputPolicy")
    mounted_code = spec.package.path if spec.package and spec.package.path.startswith("/") else None
    for name, value in (
        ("input", spec.input),
        ("package.path", mounted_code),
        ("workspace", spec.workspace),
    ):
        if value and holds(folder, clean(value)):
            message = f"clearing {folder} would delete {name} {value}"
            yield facts.error("clears-too-much", message, path, _SEPARATE_FOLDER)
            return
    volumes = runtime.volumes(facts.job, "trainers")
    for volume in volumes:
        where = clean(volume.mount_path)
        if where != folder and holds(folder, where):
            message = f"clearing {folder} would delete the content of volume {volume.name}"
            yield facts.error("clears-too-much", message, path, _SEPARATE_FOLDER)
            return
    mount = mount_of(volumes, folder)
    outlives_job = (
        mount is not None
        and mount.empty_dir is None
        and (mount.claim is None or isinstance(mount.claim, str))
    )
    if mount and outlives_job and not mount.sub_path and clean(mount.mount_path) == folder:
        message = f"clearing {folder} deletes everything on volume {mount.name}"
        yield facts.warning("clears-too-much", message, path, _SEPARATE_FOLDER)


@reads("spec.package", "spec.workdir", "spec.command", "spec.trainers.command")
def runs_beside_code(facts: Facts) -> Iterator[Diagnostic]:
    """A command starts in `workdir`, not in the folder of a package on a mount."""
    spec, package = facts.job.spec, facts.job.spec.package
    if package is None or not package.path.startswith("/"):
        return
    code, workdir = clean(package.path), clean(spec.workdir or package.path)
    command = spec.trainers.command or spec.command or ""
    text = command if isinstance(command, str) else " ".join(command)
    if not holds(code, workdir) and not holds(workdir, code) and code not in text:
        message = f"the command starts in {workdir}, but the package is at {code}"
        path = ("spec", "package", "path")
        yield facts.warning("workdir", message, path, f"add `workdir: {code}`")
