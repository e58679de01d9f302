"""Check that names derived from the job's name are valid in Kubernetes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import workloads
from paddlespec.checks import reads
from paddlespec.render import runtime
from paddlespec.render.pod_settings import is_reserved
from paddlespec.workloads.kind import LONGEST_LABEL
from paddlespec.workloads.live import QUEUE_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Role
    from paddlespec.render.roles import RoleName

_MANAGED_LABELS = frozenset((QUEUE_LABEL,))


@reads("metadata.name", "spec.{role}.replicas", "spec.pservers.workload")
def name_fits(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """
    The host name of the last replica is a DNS label; some kinds require a shorter name still.

    Other objects named after the job may have 253 characters, so their names always fit.
    """
    job, pservers = facts.job, facts.job.spec.pservers
    preferred = pservers.workload if pservers and name == "pservers" else None
    kind = workloads.rendered_by(facts.target, preferred).KIND
    derived, limit = facts.naming.host_of(job, name, role.replicas - 1), kind.longest_host
    label = "host name"
    if kind.longest_name < LONGEST_LABEL:
        derived, limit = runtime.workload_name(job, name), kind.longest_name
        label = f"{kind.kind} name"
    if len(derived) > limit:
        over = len(derived) - limit
        message = f'{label} "{derived}" has {len(derived)} characters; the limit is {limit}'
        hint = f"shorten metadata.name by {over} character{'s' if over > 1 else ''}"
        yield facts.error("name-too-long", message, ("metadata", "name"), hint)


@reads("metadata.labels")
def managed_labels(facts: Facts) -> Iterator[Diagnostic]:
    """Labels that paddlespec uses to find its objects cannot be set in a spec."""
    for key in facts.job.metadata.labels:
        if key in _MANAGED_LABELS or is_reserved(key):
            message = f"label {key} is set by paddlespec; this value is ignored"
            path = ("metadata", "labels", key)
            yield facts.warning("managed-label", message, path, "remove it", key=True)
