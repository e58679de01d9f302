"""The variables of a process of the target `local`: those of its pod, as far as it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.render import pod_settings, roles
from paddlespec.targets.pod_template import labels_of
from paddlespec.targets.pods import INDEX_ANNOTATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.targets.pods import Replica

_COMPLETION_INDEX = "JOB_COMPLETION_INDEX"
_ACCOUNT = "spec.serviceAccountName"
# A process has no identity of its own in a cluster.
_ONLY_IN_PODS = frozenset(("metadata.uid",))

Values = dict[str, Any]


def check_variables(facts: Facts) -> Iterator[Diagnostic]:
    """Report variables whose values only a cluster has."""
    spec = facts.job.spec
    holders: list[tuple[Path, Any]] = [(("spec",), spec)]
    holders += [(roles.path(name), roles.role(spec, name)) for name in roles.names(spec)]
    for path, holder in holders:
        for name, value in holder.env.items():
            if getattr(value, "field", None) in _ONLY_IN_PODS:
                message = f"target local has no {value.field}"
                hint = f"set {name} in your shell before `apply`"
                yield facts.warning("unsupported", message, (*path, "env", name, "field"), hint)
        for index, source in enumerate(holder.env_from):
            kind, name = (
                ("Secret", source.secret) if source.secret else ("ConfigMap", source.config_map)
            )
            if not source.optional:
                message = f"target local does not read {kind} {name}: its variables are not set"
                key = "secret" if source.secret else "configMap"
                hint = f"set those it needs in `env`: `NAME: {{{key}: {name}, key: KEY}}`"
                yield facts.warning("unsupported", message, (*path, "envFrom", index), hint)


def process_env(replica: Replica) -> list[Values]:
    """Return the variables of the pod: those of its template, and what the Job controller adds."""
    env = [_known(replica, entry) for entry in replica.env()]
    added = replica.indexed and not replica.is_stateful
    if added and all(entry["name"] != _COMPLETION_INDEX for entry in env):
        source = {"fieldRef": {"fieldPath": INDEX_ANNOTATION}}
        env.append({"name": _COMPLETION_INDEX, "valueFrom": source})
    return env


def _known(replica: Replica, entry: Values) -> Values:
    """Return *entry* with its value, if it is a label, an annotation or the service account."""
    path = ((entry.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath", "")
    holder, _, key = path.removesuffix("']").partition("['")
    job, role = replica.job, replica.name
    if path == _ACCOUNT:
        account = pod_settings.settings(job, role).get("serviceAccount", "default")
        return {"name": entry["name"], "value": account}
    if not key or key.startswith(("batch.kubernetes.io/", "apps.kubernetes.io/")):
        return entry
    labels = holder == "metadata.labels"
    values = labels_of(replica) if labels else pod_settings.pod_annotations(job, role)
    return {"name": entry["name"], "value": values.get(key, "")}
