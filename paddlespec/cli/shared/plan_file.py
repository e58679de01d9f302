"""Plans as files: `diff --out` writes one, `apply --plan` follows it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.plan_folder import here, recorded
from paddlespec.cli.shared.write_files import refuse_links, refuse_outside, replace
from paddlespec.spec.source import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.change.diff import Comparison
    from paddlespec.change.plan import JobPlan, Plan
    from paddlespec.cli.shared.options import Layers
    from paddlespec.pipeline import Choices, Loaded


class Call(NamedTuple):
    """The part of a command line that decides what is applied."""

    paths: Sequence[str]
    overlay: Sequence[str]
    profile: str | None
    update: Sequence[str]
    target: str | None
    datacenter: str | None
    namespace: str | None
    templates: str | None
    agreed: Sequence[str]

    @property
    def choices(self) -> Choices:
        """Its layers as the pipeline takes them."""
        from paddlespec.pipeline import Choices

        updates = tuple(self.update)
        return Choices(tuple(self.overlay), self.profile, updates, self.target, self.datacenter)


def call(
    paths: Sequence[str],
    layers: Layers,
    namespace: str | None,
    templates: str | None,
    *,
    more_updates: Sequence[str] = (),
    **agreed: bool,
) -> Call:
    """The call of a command; *agreed* are flags by name, with `_` for `-`."""
    return Call(
        paths,
        layers.overlay or (),
        layers.profile,
        [*(layers.update or ()), *more_updates],
        layers.target,
        layers.datacenter,
        namespace,
        templates,
        [name.replace("_", "-") for name, is_given in agreed.items() if is_given],
    )


def write(
    path: str,
    call: Call,
    comparisons: Sequence[Comparison],
    jobs: Sequence[Loaded],
    allowed: tuple[str, ...] = (),
) -> None:
    """
    Write the approval of *comparisons*; raises `Stop` if there is nothing to approve.

    Updates that hold a secret are left out: the user gives them again to apply.
    """
    from paddlespec.change import plan

    for comparison in comparisons:
        if comparison.problems or comparison.refusal:
            why = (comparison.refusal or comparison.problems[0]).rsplit("; ", 1)[0]
            raise Stop(Exit.refused, f"no plan written: {comparison.job}: {why}")
    secret, public = _secret(call.update, jobs)
    invocation = {**call._replace(update=public)._asdict(), "withheld": secret, **recorded(path)}
    text = plan.dump(plan.Plan(tuple(map(plan.of, comparisons)), invocation))
    if len(text) > MAX_BYTES:
        hint = "make one plan for each part of the jobs"
        raise Stop(Exit.refused, f"the plan is larger than {MAX_BYTES >> 20} MiB", hint)
    folder = os.path.dirname(path) or "."
    refuse_outside(folder, allowed)
    refuse_links(os.path.join(folder, os.path.basename(path)), folder)
    try:
        replace(path, text.encode())
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise Stop(Exit.refused, f"cannot write plan {path}: {reason}") from None


def read(path: str) -> Plan:
    """Read a plan; raises `Stop`."""
    from paddlespec.change import plan

    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise Stop(Exit.usage, f"plan {path} is larger than {MAX_BYTES >> 20} MiB")
        text = content.decode()
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise Stop(Exit.usage, f"cannot read plan {path}: {reason}") from None
    except UnicodeDecodeError:
        text = ""
    try:
        return plan.parse(text)
    except ValueError:
        hint = "write one with: paddlespec diff PATH... --out plan.json"
        raise Stop(Exit.usage, f"{path} is not a plan", hint) from None


def call_of(path: str, plan: Plan, given: Call) -> Call:
    """
    The call that the plan at *path* was made by; values *given* again take precedence.

    Raises `Stop` if the files of the plan do not exist.
    """
    known = plan.invocation if given.paths else here(path, plan.invocation)
    withheld = known.get("withheld") or []
    if withheld and not given.update:
        updates = " ".join(f"-u {key}=..." for key in withheld)
        raise Stop(
            Exit.usage,
            "the plan was made with updates that hold secrets, which plans do not store",
            f"give all updates again, with {updates}",
        )
    fields: dict[str, Any] = {
        name: value or known.get(name) for name, value in given._asdict().items()
    }
    fields["agreed"] = sorted({*given.agreed, *(known.get("agreed") or ())})
    return Call(**fields)


def approved_of(plan: Plan, jobs: Sequence[Loaded]) -> dict[str, JobPlan]:
    """The approval of each job by name; raises `Stop` unless these are the jobs of the plan."""
    names = {job.job.metadata.name for job in jobs}
    known = {job.job: job for job in plan.jobs}
    for name in sorted(names ^ known.keys()):
        what = "is not in the plan" if name in names else "is in the plan, but has no spec here"
        raise Stop(Exit.refused, f"{name} {what}", "make a new plan: paddlespec diff --out FILE")
    return known


def _secret(updates: Sequence[str], jobs: Sequence[Loaded]) -> tuple[list[str], list[str]]:
    """The keys of updates that hold secrets, and the other updates."""
    from paddlespec.report.mask import secrets_of

    hidden = {option for job in jobs for option in secrets_of(job).options}
    secret = [update for update in updates if any(option.endswith(update) for option in hidden)]
    keys = [update.partition("=")[0] for update in secret]
    return keys, [update for update in updates if update not in secret]
