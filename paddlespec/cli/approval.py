"""Plans as files: `diff --out` writes one, `apply --plan` keeps to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diff import Comparison
    from paddlespec.pipeline import Loaded
    from paddlespec.plan import JobPlan, Plan


class Call(NamedTuple):
    """How a command was called, as far as that shapes what is applied."""

    paths: Sequence[str]
    overlay: Sequence[str]
    profile: str | None
    update: Sequence[str]
    target: str | None
    datacenter: str | None
    namespace: str | None
    templates: str | None
    agreed: Sequence[str]


def write(path: str, call: Call, comparisons: Sequence[Comparison], jobs: Sequence[Loaded]) -> None:
    """
    Write the approval of *comparisons*; raises `Stop` where there is nothing to approve.

    Updates that hold a secret are left out: whoever applies gives them again.
    """
    from paddlespec import plan

    for each in comparisons:
        if each.problems or each.refusal:
            told = (each.refusal or each.problems[0]).partition("; ")[0]
            raise Stop(Exit.refused, f"no plan is written: {each.job}: {told}")
    if any(each.target == "local" for each in jobs):
        raise Stop(Exit.usage, "a plan is for a cluster, and not for this machine")
    secret, public = _secret(call.update, jobs)
    invocation = {**call._replace(update=public)._asdict(), "withheld": secret}
    text = plan.dump(plan.Plan(tuple(map(plan.of, comparisons)), invocation))
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise Stop(Exit.refused, f"cannot write the plan {path}: {reason}") from None


def read(path: str) -> Plan:
    """The plan at *path*; raises `Stop`."""
    from paddlespec import plan

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise Stop(Exit.usage, f"cannot read the plan {path}: {reason}") from None
    except UnicodeDecodeError:
        text = ""
    try:
        return plan.parse(text)
    except ValueError:
        hint = "make one: paddlespec diff PATH... --out plan.json"
        raise Stop(Exit.usage, f"{path} is no plan", hint) from None


def call_of(plan: Plan, given: Call) -> Call:
    """The call that a plan was made by; what is *given* again goes before it."""
    known = plan.invocation
    withheld = known.get("withheld") or []
    if withheld and not given.update:
        told = " ".join(f"-u {each}=..." for each in withheld)
        raise Stop(
            Exit.usage,
            "the plan was made with updates that hold secrets, which no plan keeps",
            f"give all updates again, with {told}",
        )
    fields: dict[str, Any] = {
        name: value or known.get(name) for name, value in given._asdict().items()
    }
    fields["agreed"] = sorted({*given.agreed, *(known.get("agreed") or ())})
    return Call(**fields)


def approved_of(plan: Plan, jobs: Sequence[Loaded]) -> dict[str, JobPlan]:
    """The approval of each job by name; the jobs must be those of the plan."""
    names = {each.job.metadata.name for each in jobs}
    known = {each.job: each for each in plan.jobs}
    for name in sorted(names ^ known.keys()):
        what = "is no job of the plan" if name in names else "is a job of the plan, and no spec"
        raise Stop(Exit.refused, f"{name} {what}", "make another plan: paddlespec diff --out FILE")
    return known


def _secret(updates: Sequence[str], jobs: Sequence[Loaded]) -> tuple[list[str], list[str]]:
    """The keys of updates that hold secrets, and the other updates."""
    from paddlespec.report.mask import secrets_of

    hidden = {option for each in jobs for option in secrets_of(each).options}
    secret = [each for each in updates if any(option.endswith(each) for option in hidden)]
    keys = [each.partition("=")[0] for each in secret]
    return keys, [each for each in updates if each not in secret]
