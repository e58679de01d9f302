"""What a job asks of the cluster: per replica, in all, and at most until its timeout."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec import contract
from paddlespec.contract import ROLES
from paddlespec.demand import demand
from paddlespec.manifest import identity, role
from paddlespec.quantity import quantity, seconds
from paddlespec.targets.pods import resources

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddlespec.contract import RoleName
    from paddlespec.manifest import Manifest
    from paddlespec.model import Job

Json = dict[str, Any]
Amounts = dict[str, Decimal]
_HOUR = 3600


class Workload(NamedTuple):
    """A set of equal pods, as rendered."""

    role: RoleName
    name: str
    kind: str
    replicas: int
    pod: Json
    deadline: int | None

    @property
    def container(self) -> Json:
        """The container that runs the user's command."""
        found: Json = self.pod["containers"][0]
        return found


class Share(NamedTuple):
    """What one role asks for: of each replica, and at most for how many seconds."""

    role: RoleName
    replicas: int
    each: Amounts
    deadline: int | None

    @property
    def total(self) -> Amounts:
        """What all replicas ask for."""
        return {name: amount * self.replicas for name, amount in self.each.items()}


def workloads(manifests: Iterable[Manifest]) -> list[Workload]:
    """What runs roles, in the order of the roles: Jobs, StatefulSets, processes."""
    manifests = list(manifests)
    found = [_workload(each) for each in manifests if each["kind"] in ("Job", "StatefulSet")]
    found += [_processes(name, manifests) for name in ROLES]
    return [each for name in ROLES for each in found if each and each.role == name]


def shares(job: Job, manifests: Sequence[Manifest]) -> list[Share]:
    """
    What each role asks for.

    Objects that were rendered tell best, patches included; of kinds unknown here the job tells.
    """
    rendered = {each.role: each for each in workloads(manifests)}
    timeout = seconds(job.spec.policy.timeout) if job.spec.policy.timeout else None
    found: list[Share] = []
    for name in ROLES:
        if name in rendered:
            own = rendered[name]
            share = Share(name, own.replicas, demand(own.pod), own.deadline)
        elif declared := getattr(job.spec, name):
            requests = resources(declared.resources)["requests"]
            each = {key: quantity(value) for key, value in requests.items()}
            share = Share(name, contract.replicas(job, name), each, timeout)
        else:
            continue
        found.append(share._replace(deadline=_end(share, found, kept(manifests))))
    return found


def _end(share: Share, before: list[Share], keep: int | None) -> int | None:
    """When a role ends at the latest: pservers go when the trainers' Job is removed."""
    trainers = next((each.deadline for each in before if each.role == "trainers"), None)
    if share.role == "trainers" or trainers is None or keep is None:
        return share.deadline
    return min(trainers + keep, share.deadline or trainers + keep)


def kept(manifests: Sequence[Manifest]) -> int | None:
    """For how many seconds the trainers' Job, which owns everything else, outlives its end."""
    found = [
        each["spec"]["ttlSecondsAfterFinished"]
        for each in manifests
        if role(each) == "trainers" and "ttlSecondsAfterFinished" in each.get("spec", {})
    ]
    return int(found[0]) if found else None


def total(shares: Iterable[Share]) -> Amounts:
    """What all roles ask for together."""
    found: Amounts = {}
    for share in shares:
        for name, amount in share.total.items():
            found[name] = found.get(name, Decimal(0)) + amount
    return found


def hours(shares: Iterable[Share], name: str) -> Decimal | None:
    """How many hours of a resource can be used before every deadline; none when there is none."""
    found = Decimal(0)
    for share in shares:
        if share.total.get(name):
            if share.deadline is None:
                return None
            found += share.total[name] * share.deadline / _HOUR
    return found


def lingering(manifests: Sequence[Manifest], shares: Iterable[Share]) -> tuple[int, Share] | None:
    """How many seconds pservers outlive their trainers when nobody stops them, and who they are."""
    keep = kept(manifests)
    share = next((each for each in shares if each.role == "pservers"), None)
    if share is None or keep is None:
        return None
    return min(keep, share.deadline or keep), share


def is_accelerator(name: str) -> bool:
    """Whether a resource is counted by a device plugin."""
    return "/" in name


def unit(name: str) -> str:
    """What the hours of a resource are called: GPU-hours, Ascend910-hours."""
    short = name.rpartition("/")[2]
    return f"{short.upper() if len(short) <= 3 else short}-hours"


def length(duration: int) -> str:
    """Seconds in the units of a spec: `1h30m`."""
    found = ""
    for unit, size in (("d", 86_400), ("h", _HOUR), ("m", 60), ("s", 1)):
        count, duration = divmod(duration, size)
        found += f"{count}{unit}" if count else ""
    return found or "0s"


def rounded(number: Decimal) -> str:
    """A number of hours with at most two digits after the point, thousands apart."""
    return f"{number:,.2f}".rstrip("0").rstrip(".")


def _workload(manifest: Manifest) -> Workload | None:
    spec = manifest["spec"]
    name = next((each for each in ROLES if each == role(manifest)), None)
    if name is None:
        return None
    return Workload(
        name,
        str(identity(manifest)),
        manifest["kind"],
        int(spec.get("replicas") or spec.get("parallelism") or 1),
        spec["template"]["spec"],
        spec.get("activeDeadlineSeconds"),
    )


def _processes(name: RoleName, manifests: Sequence[Manifest]) -> Workload | None:
    """The processes of a role, which are alike but for their index, in the words of a pod."""
    found = [each for each in manifests if each["kind"] == "Process" and role(each) == name]
    if not found:
        return None
    spec = found[0]["spec"]
    first = str(identity(found[0]))
    last = len(found) - 1
    deadline = next((_timeout(each) for each in manifests if each["kind"] == "Rehearsal"), None)
    mounts = spec.get("mounts", ())
    container = {
        "command": spec.get("command", []),
        "env": spec.get("env", []),
        "resources": {"requests": spec.get("resources", {})},
        "volumeMounts": [
            {key: each[key] for key in ("name", "mountPath", "subPath", "readOnly") if key in each}
            for each in mounts
        ],
    }
    volumes = [
        {key: each[key] for key in each if key not in ("mountPath", "subPath", "readOnly")}
        for each in mounts
    ]
    return Workload(
        name,
        f"{first.rpartition('-')[0]}-{{0..{last}}}" if last else first,
        "Process",
        len(found),
        {"containers": [container], "volumes": volumes},
        deadline,
    )


def _timeout(rehearsal: Manifest) -> int | None:
    found: int | None = rehearsal["spec"].get("timeout")
    return found
