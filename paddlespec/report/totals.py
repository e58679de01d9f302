"""What a job requests from the cluster: per replica, in total, and at most until its timeout."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import workloads as registry
from paddlespec.capacity.demand import demand
from paddlespec.quantity import quantity, seconds
from paddlespec.render import roles, runtime
from paddlespec.render.manifest import identity, role
from paddlespec.render.resources import resources
from paddlespec.targets import fabric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.model import Job
    from paddlespec.render.manifest import Manifest
    from paddlespec.render.roles import RoleName
    from paddlespec.workloads import RolePods

Json = dict[str, Any]
Amounts = dict[str, Decimal]
_HOUR = 3600


class Workload(NamedTuple):
    """A rendered set of identical pods."""

    role: RoleName
    name: str
    kind: str
    replicas: int
    pod: Json
    deadline: int | None
    host: str = ""
    service: str | None = None

    @property
    def container(self) -> Json:
        """The container that runs the user's command."""
        container: Json = self.pod["containers"][0]
        return container


class Share(NamedTuple):
    """What one role requests: resources per replica, for at most `deadline` seconds."""

    role: RoleName
    replicas: int
    per_replica: Amounts
    deadline: int | None

    @property
    def total(self) -> Amounts:
        """The resources of all replicas."""
        return {name: amount * self.replicas for name, amount in self.per_replica.items()}


def workloads(manifests: Iterable[Manifest]) -> list[Workload]:
    """List what runs the roles, in their order: objects of a cluster, or processes."""
    manifests = list(manifests)
    rendered = list(registry.roles(manifests))
    sets = [
        _workload(name, manifest, pods)
        for name in roles.ordered(pods.role for _, pods in rendered if pods.role)
        for manifest, pods in rendered
        if pods.role == name
    ]
    processes = [manifest for manifest in manifests if manifest["kind"] == "Process"]
    names = roles.ordered(name for manifest in processes if (name := role(manifest)))
    return [*sets, *(_processes(name, manifests) for name in names)]


def shares(job: Job, manifests: Sequence[Manifest]) -> list[Share]:
    """
    List what each role requests.

    Rendered objects are preferred because they include patches; the job is used for unknown kinds.
    """
    rendered = {workload.role: workload for workload in workloads(manifests)}
    timeout = seconds(job.spec.policy.timeout) if job.spec.policy.timeout else None
    shares: list[Share] = []
    for name in roles.ordered([*roles.names(job.spec), *rendered]):
        if name in rendered:
            own = rendered[name]
            share = Share(name, own.replicas, demand(own.pod), own.deadline)
        else:
            declared = roles.role(job.spec, name).resources
            requests = resources(declared, fabric.devices(job, name)).get("requests", {})
            amounts = {key: quantity(value) for key, value in requests.items()}
            share = Share(name, runtime.replicas(job, name), amounts, timeout)
        shares.append(share._replace(deadline=_end(share, shares, _outlived(manifests))))
    return shares


def _outlived(manifests: Sequence[Manifest]) -> int | None:
    """Return for how many seconds roles may outlive the trainers; zero if they end together."""
    owner = registry.owner(manifests)
    return 0 if owner and registry.of(owner).KIND.ends_servers else kept(manifests)


def _end(share: Share, before: list[Share], keep: int | None) -> int | None:
    """Return when a role ends at the latest: with the trainers, or with the run."""
    trainers = next((share.deadline for share in before if share.role == "trainers"), None)
    if share.role == "trainers" or trainers is None or keep is None:
        return share.deadline
    return min(trainers + keep, share.deadline or trainers + keep)


def kept(manifests: Sequence[Manifest]) -> int | None:
    """Return for how many seconds the finished owner of the run, and all it owns, is kept."""
    owner = registry.owner(manifests)
    return registry.of(owner).keep_seconds(owner) if owner else None


def total(shares: Iterable[Share]) -> Amounts:
    """Sum up what all roles request."""
    amounts: Amounts = {}
    for share in shares:
        for name, amount in share.total.items():
            amounts[name] = amounts.get(name, Decimal(0)) + amount
    return amounts


def hours(shares: Iterable[Share], name: str) -> Decimal | None:
    """Return the resource-hours used at most before all deadlines; None without a deadline."""
    used = Decimal(0)
    for share in shares:
        if share.total.get(name):
            if share.deadline is None:
                return None
            used += share.total[name] * share.deadline / _HOUR
    return used


def lingering(manifests: Sequence[Manifest], shares: Iterable[Share]) -> list[tuple[int, Share]]:
    """List the roles that may outlive the trainers unless stopped, and for how many seconds."""
    keep = _outlived(manifests)
    others = [share for share in shares if share.role != "trainers"]
    return [(min(keep, share.deadline or keep), share) for share in others] if keep else []


def unit(name: str) -> str:
    """Name the unit of resource-hours: GPU-hours, Ascend910-hours."""
    short = name.rpartition("/")[2]
    return f"{short.upper() if len(short) <= 3 else short}-hours"


def length(duration: int) -> str:
    """Format seconds in the notation of a spec: `1h30m`."""
    text = ""
    for unit, size in (("d", 86_400), ("h", _HOUR), ("m", 60), ("s", 1)):
        count, duration = divmod(duration, size)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


def rounded(number: Decimal) -> str:
    """Format hours with at most two decimals and thousands separators."""
    return f"{number:,.2f}".rstrip("0").rstrip(".")


def _workload(name: RoleName, manifest: Manifest, pods: RolePods) -> Workload:
    return Workload(
        name,
        str(identity(manifest)),
        manifest["kind"],
        pods.replicas,
        pods.pod,
        pods.deadline,
        pods.host,
        pods.service,
    )


def _processes(name: RoleName, manifests: Sequence[Manifest]) -> Workload:
    """Describe the processes of a role, which differ only by index, as a pod."""
    processes = [
        manifest
        for manifest in manifests
        if manifest["kind"] == "Process" and role(manifest) == name
    ]
    spec = processes[0]["spec"]
    first = str(identity(processes[0]))
    last = len(processes) - 1
    deadline = next(
        (_timeout(manifest) for manifest in manifests if manifest["kind"] == "Rehearsal"), None
    )
    mounts = spec.get("mounts") or ()
    container = {
        "image": spec.get("image", ""),
        "command": spec.get("command") or [],
        "env": spec.get("env") or [],
        "resources": spec.get("resources") or {},
        "volumeMounts": [
            {
                key: mount[key]
                for key in ("name", "mountPath", "subPath", "readOnly")
                if key in mount
            }
            for mount in mounts
        ],
    }
    volumes = [
        {key: mount[key] for key in mount if key not in ("mountPath", "subPath", "readOnly")}
        for mount in mounts
    ]
    return Workload(
        name,
        f"{first.rpartition('-')[0]}-{{0..{last}}}" if last else first,
        "Process",
        len(processes),
        {"containers": [container], "volumes": volumes},
        deadline,
    )


def _timeout(rehearsal: Manifest) -> int | None:
    timeout: int | None = rehearsal["spec"].get("timeout")
    return timeout
