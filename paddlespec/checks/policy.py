"""Whether limits, retries and placement do what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import contract
from paddlespec.checks import reads
from paddlespec.diagnostic import did_you_mean
from paddlespec.quantity import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.contract import RoleName
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role

_LONG_IDLE = 6 * 3600
_PATH = ("spec", "policy")
_AFFINITIES = ("nodeAffinity", "podAffinity", "podAntiAffinity")
_RULES = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


@reads("spec.mode", "spec.policy.retries", "spec.trainers.replicas")
def retries(facts: Facts) -> Iterator[Diagnostic]:
    """Replicas that met cannot be joined again: only the whole job can start anew."""
    again = facts.job.spec.policy.retries
    # Other targets say for themselves what they cannot do.
    if again and facts.target == "kubernetes" and contract.meets(facts.job):
        message = "a replica that fails cannot rejoin the others, and nothing restarts them all"
        hint = "leave `retries` out; `apply --rerun` restarts the whole job"
        yield facts.error("retries", message, (*_PATH, "retries"), hint)


@reads("spec.policy.timeout", "spec.policy.keepFinished")
def durations(facts: Facts) -> Iterator[Diagnostic]:
    """Nothing runs, and nothing can be looked at, for no time at all."""
    policy = facts.job.spec.policy
    if policy.timeout and seconds(policy.timeout) == 0:
        message = "a job with no time fails before it starts"
        hint = "leave `timeout` out for no limit"
        yield facts.error("no-time", message, (*_PATH, "timeout"), hint)
    if policy.keep_finished and seconds(policy.keep_finished) == 0:
        message = "the logs are gone the moment the job ends"
        yield facts.warning("no-time", message, (*_PATH, "keepFinished"), "keep it for 1h")


@reads("spec.mode", "spec.pservers", "spec.policy.timeout", "spec.policy.keepFinished")
def idle_pservers(facts: Facts) -> Iterator[Diagnostic]:
    """Pservers never end by themselves; on plain Kubernetes the removal of the job ends them."""
    spec, policy = facts.job.spec, facts.job.spec.policy
    if not spec.pservers or not policy.keep_finished or facts.target != "kubernetes":
        return
    keep = seconds(policy.keep_finished)
    idle = min(keep, seconds(policy.timeout)) if policy.timeout else keep
    if idle > _LONG_IDLE:
        message = f"pservers may run idle for {policy.keep_finished} after the trainers are done"
        hint = "1h is enough: `apply --wait complete` stops them by itself"
        yield facts.warning("idle-pservers", message, (*_PATH, "keepFinished"), hint)


@reads("spec.{role}.tolerations")
def tolerations(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The API server refuses tolerations whose parts disagree."""
    for index, each in enumerate(role.tolerations):
        path = ("spec", name, "tolerations", index)
        if each.operator == "Exists" and each.value:
            message = "Exists compares no value"
            hint = "write `operator: Equal`, or remove `value`"
            yield facts.error("toleration", message, (*path, "value"), hint)
        elif each.operator == "Equal" and not each.key:
            message = "a toleration without a key needs `operator: Exists`"
            yield facts.error("toleration", message, path)
        if each.toleration_seconds is not None and each.effect != "NoExecute":
            message = "tolerationSeconds belongs to `effect: NoExecute`"
            yield facts.error("toleration", message, (*path, "tolerationSeconds"))


@reads("spec.{role}.affinity")
def affinity(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """An affinity is passed on as it is; the API server refuses the job for keys that it lacks."""
    for key, rules in (role.affinity or {}).items():
        path = ("spec", name, "affinity", key)
        yield from _known(facts, path, _AFFINITIES)
        for rule in rules if key in _AFFINITIES and isinstance(rules, dict) else ():
            yield from _known(facts, (*path, rule), _RULES)


def _known(facts: Facts, path: Path, known: tuple[str, ...]) -> Iterator[Diagnostic]:
    key = str(path[-1])
    if key not in known:
        hint = did_you_mean(key, known) or f"expected one of {', '.join(known)}"
        yield facts.error("unknown-key", f'unknown key "{key}"', path, hint, key=True)
