"""
What a reviewer looks at: what runs, what it costs, what it sees, and where its values come from.

Numbers and variables are read from the rendered objects, so that patches and templates count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec import contract, fields
from paddlespec.emit import dump_all
from paddlespec.manifest import role
from paddlespec.quantity import as_amount
from paddlespec.report.feasibility import feasibility
from paddlespec.report.layout import Page
from paddlespec.report.mask import secrets_of
from paddlespec.report.origins import SPEC, origins
from paddlespec.report.replica import environment, mounts
from paddlespec.report.totals import (
    hours,
    is_accelerator,
    length,
    lingering,
    rounded,
    shares,
    total,
    unit,
    workloads,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.capacity.room import Feasible
    from paddlespec.manifest import Manifest
    from paddlespec.pipeline import Loaded
    from paddlespec.report.mask import Secrets
    from paddlespec.report.origins import Supplied
    from paddlespec.report.totals import Share, Workload

_LAST = ("object", "image")
_LAYERS = ("project defaults", "datacenter ", "overlay ", "profile ", "--")


def preview(
    loaded: Loaded,
    manifests: list[Manifest],
    *,
    width: int,
    color: bool,
    feasible: Feasible | None = None,
) -> str:
    """
    Everything about a job that was rendered, on one page *width* columns wide.

    With what somebody has found out about it, also whether it is *feasible* now.
    """
    secrets = secrets_of(loaded)
    page = Page(width, color=color, hide=secrets.hide)
    _header(page, loaded)
    _runs(page, loaded, manifests)
    _totals(page, loaded, manifests)
    if feasible is not None:
        feasibility(page, feasible)
    _endpoints(page, loaded, manifests)
    _environment(page, manifests, secrets)
    _data(page, loaded, manifests)
    _policy(page, loaded)
    _overrides(page, loaded, secrets)
    _findings(page, loaded)
    page.heading("Manifests", f"{len(manifests)} objects" if len(manifests) != 1 else "1 object")
    page.yaml(dump_all(secrets.masked(each) for each in manifests))
    return page.text()


def _header(page: Page, loaded: Loaded) -> None:
    job = loaded.job
    scheduling = job.spec.scheduling
    page.title(job.metadata.name)
    queue: list[str] = [scheduling.scheduler if scheduling.scheduler != "default" else ""]
    queue += [f"queue {scheduling.queue}" if scheduling.queue else ""]
    queue += ["all replicas start together or none" if scheduling.gang else ""]
    queue += [f"priority {scheduling.priority}" if scheduling.priority else ""]
    facts = [
        ("mode", f"{job.spec.mode}: {_meaning('mode', job.spec.mode)}"),
        ("file", loaded.file),
        ("namespace", job.metadata.namespace or "the connection's own"),
        ("target", loaded.target),
        ("datacenter", loaded.datacenter or ""),
        ("project", (loaded.project.name if loaded.project else None) or ""),
        ("scheduling", ", ".join(filter(None, queue))),
    ]
    page.facts([(name, value) for name, value in facts if value])


def _runs(page: Page, loaded: Loaded, manifests: Sequence[Manifest]) -> None:
    page.heading("What runs")
    found = workloads(manifests)
    if not found:
        page.line("objects of kinds that this preview does not know; see the manifests")
        return
    rows = [_role(loaded, each) for each in found]
    heads = list(dict.fromkeys(head for row in rows for head in row))
    heads = [each for each in heads if each not in _LAST] + list(_LAST)
    # What is too wide for the table stands below it.
    below: list[str] = []
    while not page.fits(heads, _cells(rows, heads)) and heads[-1] in _LAST:
        below.insert(0, heads.pop())
    page.table(heads, _cells(rows, heads), frozenset(heads[1:]) - {*_LAST})
    facts = [(head, row["role"], row[head]) for head in below for row in rows if row[head]]
    page.facts(_shared([*facts, *(("command", each.role, _command(each)) for each in found)]))


def _role(loaded: Loaded, workload: Workload) -> dict[str, str]:
    """A row of the table, by its heads."""
    requests = workload.container.get("resources", {}).get("requests", {})
    volumes = {each["name"]: each for each in workload.pod.get("volumes", ())}
    row = {"role": workload.role, "replicas": str(workload.replicas)}
    if loaded.job.spec.mode == "collective":
        row["processes each"] = str(loaded.job.spec.trainers.processes_per_replica)
    row |= {name: str(value) for name, value in requests.items()}
    row["shm"] = str(volumes.get("dshm", {}).get("emptyDir", {}).get("sizeLimit", ""))
    row["object"] = workload.name
    row["image"] = str(workload.container.get("image", ""))
    return row


def _cells(rows: Sequence[dict[str, str]], heads: Sequence[str]) -> list[list[str]]:
    return [[row.get(head, "") for head in heads] for row in rows]


def _command(workload: Workload) -> str:
    container = workload.container
    words = [*container.get("command", ()), *container.get("args", ())]
    return (words[2] if words[:2] == ["sh", "-c"] else " ".join(words)) or "the image's own"


def _totals(page: Page, loaded: Loaded, manifests: Sequence[Manifest]) -> None:
    found = shares(loaded.job, manifests)
    timeout = loaded.job.spec.policy.timeout
    note = (
        f"at most, within the timeout of {timeout}" if timeout else "no timeout: runs until it ends"
    )
    page.heading("Totals", note)
    facts = []
    for name, number in sorted(total(found).items(), key=lambda each: "/" in each[0]):
        text = as_amount(name, number)
        used = hours(found, name) if name == "cpu" or is_accelerator(name) else None
        label = "CPU" if name == "cpu" else name
        facts.append((label, f"{text}   {rounded(used)} {unit(name)}" if used else text))
    page.facts(facts)
    if after := lingering(manifests, found):
        page.line(_lingering(*after))


def _lingering(duration: int, share: Share) -> str:
    costs = ", ".join(
        f"{rounded(number * duration / 3600)} {unit(name)}"
        for name, number in share.total.items()
        if name == "cpu" or is_accelerator(name)
    )
    asked = ", ".join(f"{as_amount(name, each)} {name}" for name, each in share.each.items())
    return (
        f"Pservers do not end by themselves. `apply --wait complete` stops them with the trainers; "
        f"when no client waits, {share.replicas} x ({asked}) run on for up to {length(duration)}, "
        f"which is {costs} for nothing."
    )


def _endpoints(page: Page, loaded: Loaded, manifests: Sequence[Manifest]) -> None:
    services = [each for each in manifests if each["kind"] == "Service"]
    known = [each["spec"] for each in manifests if each["kind"] == "Process"]
    if processes := [each for each in known if "host" in each]:
        page.heading("Endpoints", "each replica at an address of its own on this machine")
        page.table(["hosts", "ports"], _addresses(processes))
        return
    namespace = loaded.job.metadata.namespace or "NAMESPACE"
    page.heading("Endpoints", f"at HOST.SERVICE.{namespace}.svc" if services else "")
    if not services:
        page.line("none: no replica waits for another")
        return
    counts: dict[str, int] = {each.role: each.replicas for each in workloads(manifests)}
    rows = []
    for service in services:
        name = service["metadata"]["name"]
        last = counts.get(role(service) or "", 1) - 1
        ports = [f"{each['name']} {each['port']}" for each in service["spec"].get("ports", ())]
        rows.append([f"{name}-{{0..{last}}}" if last else f"{name}-0", name, ", ".join(ports)])
    page.table(["hosts", "service", "ports"], rows)


def _addresses(processes: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The hosts of processes with their ports, those that are alike in one row."""
    rows: dict[tuple[str, str], list[int]] = {}
    for each in processes:
        name = each["host"].partition(".")[0].rpartition("-")[0]
        ports = ", ".join(f"{name} {port}" for name, port in each.get("ports", {}).items())
        rows.setdefault((name, ports), []).append(each["index"])
    return [
        [f"{name}-{{{own[0]}..{own[-1]}}}" if len(own) > 1 else f"{name}-{own[0]}", ports]
        for (name, ports), own in rows.items()
    ]


def _environment(page: Page, manifests: Sequence[Manifest], secrets: Secrets) -> None:
    found = workloads(manifests)
    roles = {each.role: environment(secrets.masked(each.container)) for each in found}
    if not roles:
        return
    every = list(roles.values())
    common = {
        name: value
        for name, value in every[0].items()
        if all(each.get(name) == value for each in every)
    }
    page.heading("Environment", "of every replica" if len(roles) > 1 else f"of {next(iter(roles))}")
    page.variables(list(common.items()))
    for name, own in roles.items():
        if rest := [each for each in own.items() if each[0] not in common]:
            page.heading("Environment", f"of {name} only")
            page.variables(rest)


def _data(page: Page, loaded: Loaded, manifests: Sequence[Manifest]) -> None:
    spec = loaded.job.spec
    page.heading("Data")
    found = workloads(manifests)
    roles: dict[tuple[str, str, str], list[str]] = {}
    for workload in found:
        for mount in mounts(workload, manifests):
            roles.setdefault(mount, []).append(workload.role)
    rows = [
        [*mount, "" if len(used) == len(found) else f"{', '.join(used)} only"]
        for mount, used in roles.items()
    ]
    page.table(["mounted at", "source", "access", ""], rows)
    output = contract.output(loaded.job)
    meaning = _meaning("outputPolicy", spec.output_policy)
    facts = [("input", spec.input or ""), ("output", output or "")]
    policy = f"{spec.output_policy}: when the output holds something, {meaning}"
    facts += [("outputPolicy", policy)] if output else []
    page.facts([(name, value) for name, value in facts if value])


def _policy(page: Page, loaded: Loaded) -> None:
    policy = loaded.job.spec.policy
    page.heading("Policy")
    keep = policy.keep_finished
    what = "its objects are"
    if loaded.target == "kubernetes":
        from paddlespec.targets.kubernetes import keep_seconds

        keep = length(keep_seconds(loaded.job))
    elif loaded.target == "local":
        from paddlespec.targets.local import keep_seconds as kept_here

        keep, what = length(kept_here(loaded.job)), "what it wrote here is"
    page.facts(
        [
            ("timeout", f"{policy.timeout}, then it fails" if policy.timeout else "none"),
            ("retries", str(policy.retries) if policy.retries else "none: a failure ends it"),
            ("keepFinished", f"{keep} after its end, then {what} removed"),
            (
                "whenChanged",
                f"{policy.when_changed}: {_meaning('policy.whenChanged', policy.when_changed)}",
            ),
        ]
    )


def _overrides(page: Page, loaded: Loaded, secrets: Secrets) -> None:
    layers: dict[tuple[str, str], list[Supplied]] = {}
    for each in origins(loaded.document, secrets):
        if each.layer != SPEC:
            layers.setdefault((each.layer, each.span.file), []).append(each)
    if not layers:
        return
    page.heading("Not from the spec itself", "lowest layer first")
    for (layer, file), values in sorted(layers.items(), key=lambda each: _rank(each[0][0])):
        page.line(layer if file in layer else f"{layer}, {file}", "dim")
        for each in values:
            line = f"line {each.span.line}: " if each.span.line else ""
            page.line(f"{line}{each.assignment}", indent=4)


def _rank(layer: str) -> int:
    return next((rank for rank, name in enumerate(_LAYERS) if layer.startswith(name)), -1)


def _findings(page: Page, loaded: Loaded) -> None:
    if loaded.diagnostics:
        page.heading("Findings")
        for each in loaded.diagnostics:
            page.line(str(each), "yellow")
            if each.hint:
                page.line(f"  hint: {each.hint}")


def _meaning(path: str, value: str) -> str:
    """What a choice means, in the words of the schema."""
    found: dict[str, str] = {}
    for each in fields.branches(fields.find(("spec", *path.split("."))) or {}):
        found |= zip(each.get("enum", ()), each.get("enumDescriptions", ()))
    text = found.get(value, "")
    return text[:1].lower() + text[1:].removesuffix(".")


def _shared(facts: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Facts of roles, those that all roles share only once."""
    found = []
    for name in dict.fromkeys(each[0] for each in facts):
        values = {role: value for label, role, value in facts if label == name}
        if len(set(values.values())) == 1:
            found.append((name, next(iter(values.values()))))
        else:
            found += [(f"{name} of {role}", value) for role, value in values.items()]
    return found
