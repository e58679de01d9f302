"""Whether the names that follow from the job's own fit where Kubernetes puts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec import contract
from paddlespec.checks import reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.contract import RoleName
    from paddlespec.diagnostic import Diagnostic
    from paddlespec.model import Role

_LONGEST_LABEL = 63
# The revision label of a StatefulSet's pods is its name and eleven characters more; the API server
# takes a longer name and then makes no pod.
_LONGEST_STATEFUL_SET = 52
_MANAGED_LABELS = frozenset(
    (
        "app.kubernetes.io/name",
        "app.kubernetes.io/managed-by",
        "kueue.x-k8s.io/queue-name",
        "applyset.kubernetes.io/part-of",
    )
)


@reads("metadata.name", "spec.{role}.replicas", "spec.pservers.workload")
def name_fits(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """
    The host of the last replica is a DNS label, and a StatefulSet's name shorter still.

    Of what else is named after the job nothing can be too long: 253 characters are allowed there.
    """
    job = facts.job
    workload = contract.workload_name(job, name)
    own, limit, what = f"{workload}-{role.replicas - 1}", _LONGEST_LABEL, "host name"
    if name == "pservers" and job.spec.pservers and job.spec.pservers.workload == "StatefulSet":
        own, limit, what = workload, _LONGEST_STATEFUL_SET, "StatefulSet"
    if len(own) > limit:
        over = len(own) - limit
        message = f'the {what} "{own}" has {len(own)} characters, at most {limit}'
        hint = f"shorten metadata.name by {over}"
        yield facts.error("name-too-long", message, ("metadata", "name"), hint)


@reads("metadata.labels")
def managed_labels(facts: Facts) -> Iterator[Diagnostic]:
    """Labels by which objects are found are the tool's own."""
    for key in facts.job.metadata.labels:
        if key in _MANAGED_LABELS or key.startswith("paddlespec.io/"):
            message = f"the label {key} is set by paddlespec, this value is not used"
            path = ("metadata", "labels", key)
            yield facts.warning("managed-label", message, path, "remove it", key=True)
