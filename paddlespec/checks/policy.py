"""Check that limits, retries and placement rules have the intended effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import reads
from paddlespec.diagnostic import did_you_mean
from paddlespec.quantity import seconds
from paddlespec.render import roles, runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role
    from paddlespec.render.roles import RoleName

_LONG_IDLE_SECONDS = 6 * 3600
_PATH = ("spec", "policy")
_AFFINITIES = ("nodeAffinity", "podAffinity", "podAntiAffinity")
_RULES = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


@reads("spec.mode", "spec.policy.retries", "spec.trainers.replicas")
def retries(facts: Facts) -> Iterator[Diagnostic]:
    """A restarted replica cannot rejoin the others, so only the whole job can be restarted."""
    count = facts.job.spec.policy.retries
    # Other targets report their own limits.
    if count and facts.target == "kubernetes" and runtime.meets(facts.job):
        message = "a restarted replica cannot rejoin the others, and nothing restarts them together"
        hint = "use `target: jobset`, which restarts the whole job, or remove `retries`"
        yield facts.error("retries", message, (*_PATH, "retries"), hint)


@reads("spec.policy.timeout", "spec.policy.keepFinished")
def durations(facts: Facts) -> Iterator[Diagnostic]:
    """A zero timeout lets nothing run; a zero `keepFinished` leaves nothing to inspect."""
    policy = facts.job.spec.policy
    if policy.timeout and seconds(policy.timeout) == 0:
        message = "a job with a zero timeout fails before it starts"
        hint = "remove `timeout` for no limit"
        yield facts.error("no-time", message, (*_PATH, "timeout"), hint)
    if policy.keep_finished and seconds(policy.keep_finished) == 0:
        message = "the logs are deleted as soon as the job finishes"
        yield facts.warning("no-time", message, (*_PATH, "keepFinished"), "use at least 1h")


@reads(
    "spec.mode", "spec.pservers", "spec.roles", "spec.policy.timeout", "spec.policy.keepFinished"
)
def idle_pservers(facts: Facts) -> Iterator[Diagnostic]:
    """Pservers and servers run on; plain Kubernetes stops them when it deletes the job."""
    spec, policy = facts.job.spec, facts.job.spec.policy
    others = [name for name in roles.names(spec) if name != "trainers"]
    if not others or not policy.keep_finished or facts.target != "kubernetes":
        return
    keep = seconds(policy.keep_finished)
    idle = min(keep, seconds(policy.timeout)) if policy.timeout else keep
    if idle > _LONG_IDLE_SECONDS:
        message = f"{' and '.join(others)} may run idle for {policy.keep_finished} after the trainers finish"
        hint = "use 1h, or let `apply --wait complete` stop them"
        yield facts.warning("idle-pservers", message, (*_PATH, "keepFinished"), hint)


@reads("spec.{role}.tolerations")
def tolerations(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """The API server rejects tolerations with contradictory fields."""
    for index, toleration in enumerate(role.tolerations):
        path = (*roles.path(name), "tolerations", index)
        if toleration.operator == "Exists" and toleration.value:
            message = "`operator: Exists` does not take a value"
            hint = "use `operator: Equal`, or remove `value`"
            yield facts.error("toleration", message, (*path, "value"), hint)
        elif toleration.operator == "Equal" and not toleration.key:
            message = "a toleration without a key requires `operator: Exists`"
            yield facts.error("toleration", message, path)
        if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
            message = "`tolerationSeconds` requires `effect: NoExecute`"
            yield facts.error("toleration", message, (*path, "tolerationSeconds"))


@reads("spec.{role}.affinity")
def affinity(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """An affinity is passed through unchanged; the API server rejects a job with unknown keys."""
    for key, rules in (role.affinity or {}).items():
        path = (*roles.path(name), "affinity", key)
        yield from _known(facts, path, _AFFINITIES)
        for rule in rules if key in _AFFINITIES and isinstance(rules, dict) else ():
            yield from _known(facts, (*path, rule), _RULES)


def _known(facts: Facts, path: Path, known: tuple[str, ...]) -> Iterator[Diagnostic]:
    key = str(path[-1])
    if key not in known:
        hint = did_you_mean(key, known) or f"use one of {', '.join(known)}"
        yield facts.error("unknown-key", f'unknown key "{key}"', path, hint, key=True)
