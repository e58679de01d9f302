"""Whether data, results and code are where the replicas can reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import contract
from paddlespec.checks import reads
from paddlespec.checks.volumes import clean, holds, mount_of, writable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Spec


def _output(spec: Spec) -> tuple[str, str] | None:
    """The field that says where results go, and its value."""
    if spec.output:
        return "output", spec.output
    return ("workspace", spec.workspace) if spec.workspace else None


@reads("spec.volumes", "spec.input", "spec.output", "spec.workspace", "spec.package")
def on_a_mount(facts: Facts) -> Iterator[Diagnostic]:
    """What outlives a replica, or was there before, is on a volume."""
    spec = facts.job.spec
    wanted: list[tuple[Path, str]] = []
    for name, value in (
        ("input", spec.input),
        ("output", spec.output),
        ("workspace", spec.workspace),
    ):
        if value:
            wanted.append((("spec", name), value))
    if spec.package and spec.package.path.startswith("/"):
        wanted.append((("spec", "package", "path"), spec.package.path))
    for path, value in wanted:
        if mount_of(spec.volumes, value) is None:
            known = ", ".join(each.mount_path for each in spec.volumes)
            hint = f"mounts are {known}" if known else "add a volume with that `mountPath`"
            yield facts.error("not-on-a-mount", f"{value} is on no volume", path, hint)


@reads("spec.volumes", "spec.output", "spec.workspace")
def output_is_writable(facts: Facts) -> Iterator[Diagnostic]:
    """Results cannot be written to a read-only mount."""
    spec = facts.job.spec
    if place := _output(spec):
        volume = mount_of(spec.volumes, place[1])
        if volume is not None and not writable(volume):
            message = f"{place[1]} is on volume {volume.name}, which is read-only"
            yield facts.error("read-only-output", message, ("spec", place[0]))


@reads("spec.input", "spec.output")
def input_is_output(facts: Facts) -> Iterator[Diagnostic]:
    """Results among the data become data of the next run."""
    spec = facts.job.spec
    if spec.input and spec.output and clean(spec.input) == clean(spec.output):
        message = "output is the folder of the input"
        hint = "give the results a folder of their own"
        yield facts.warning("output-is-input", message, ("spec", "output"), hint)


@reads("spec.output", "spec.workspace", "spec.outputPolicy")
def policy_needs_output(facts: Facts) -> Iterator[Diagnostic]:
    """`outputPolicy` without an output does nothing."""
    spec = facts.job.spec
    if not spec.output and not spec.workspace:
        path = ("spec", "outputPolicy")
        if facts.document.at(path) is not None:
            message = "there is no output that this could be about"
            yield facts.warning("no-output", message, path, "add `output`, or remove this")


@reads(
    "metadata.name",
    "spec.volumes",
    "spec.input",
    "spec.output",
    "spec.workspace",
    "spec.outputPolicy",
    "spec.package",
    "spec.workdir",
)
def clear_spares(facts: Facts) -> Iterator[Diagnostic]:
    """`clear` removes the output folder's content: nothing else may live there."""
    spec = facts.job.spec
    found = contract.output(facts.job) if spec.output_policy == "clear" else None
    if found is None:
        return
    folder = clean(found)
    path = ("spec", "outputPolicy")
    hint = "give the results a folder of their own"
    present = spec.package.path if spec.package and spec.package.path.startswith("/") else None
    for name, value in (
        ("input", spec.input),
        ("package.path", present),
        ("workspace", spec.workspace),
    ):
        if value and holds(folder, clean(value)):
            message = f"clearing {folder} would remove {name}, {value}"
            yield facts.error("clears-too-much", message, path, hint)
            return
    for volume in spec.volumes:
        where = clean(volume.mount_path)
        if where != folder and holds(folder, where):
            message = f"clearing {folder} would remove what is on volume {volume.name}"
            yield facts.error("clears-too-much", message, path, hint)
            return
    own = mount_of(spec.volumes, folder)
    lasting = (
        own is not None
        and own.empty_dir is None
        and (own.claim is None or isinstance(own.claim, str))
    )
    if own and lasting and not own.sub_path and clean(own.mount_path) == folder:
        message = f"clearing {folder} removes everything on volume {own.name}"
        yield facts.warning("clears-too-much", message, path, hint)


@reads("spec.package", "spec.workdir", "spec.command", "spec.trainers.command")
def runs_beside_code(facts: Facts) -> Iterator[Diagnostic]:
    """Code that is already on a mount is not where the command starts unless workdir says so."""
    spec, package = facts.job.spec, facts.job.spec.package
    if package is None or not package.path.startswith("/"):
        return
    code, workdir = clean(package.path), clean(spec.workdir)
    command = spec.trainers.command or spec.command or ""
    text = command if isinstance(command, str) else " ".join(command)
    if not holds(code, workdir) and not holds(workdir, code) and code not in text:
        message = f"the command starts in {workdir}, the package is at {code}"
        path = ("spec", "package", "path")
        yield facts.warning("workdir", message, path, f"add `workdir: {code}`")
