"""
Print what a reviewer needs: what runs, its cost, its environment, and the origin of its values.

Numbers and variables are read from the rendered objects, which include patches and templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.capacity.device import is_accelerator
from paddlespec.quantity import as_amount
from paddlespec.render import runtime
from paddlespec.report import travels
from paddlespec.report.feasibility import feasibility
from paddlespec.report.layout import Page
from paddlespec.report.mask import secrets_of
from paddlespec.report.origins import SPEC, origins
from paddlespec.report.replica import environment, mounts
from paddlespec.report.role_table import role_table
from paddlespec.report.totals import (
    hours,
    kept,
    length,
    lingering,
    rounded,
    shares,
    total,
    unit,
    workloads,
)
from paddlespec.spec import fields
from paddlespec.spec.emit import dump_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from paddlespec.capacity.room import Feasible
    from paddlespec.pipeline import Loaded
    from paddlespec.render.manifest import Manifest
    from paddlespec.report.mask import Secrets
    from paddlespec.report.origins import Supplied
    from paddlespec.report.totals import Share

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
    Print a rendered job on one page, *width* columns wide.

    *feasible* adds whether the job fits in the cluster right now.
    """
    secrets = secrets_of(loaded)
    page = Page(width, color=color, hide=secrets.hide)
    _header(page, loaded)
    role_table(page, loaded, manifests)
    _totals(page, loaded, manifests)
    if feasible is not None:
        feasibility(page, feasible)
    _endpoints(page, loaded, manifests)
    _environment(page, manifests, secrets)
    _code(page, loaded)
    _data(page, loaded, manifests)
    _policy(page, loaded, manifests)
    _overrides(page, loaded, secrets)
    _findings(page, loaded)
    page.heading("Manifests", f"{len(manifests)} objects" if len(manifests) != 1 else "1 object")
    page.yaml(dump_all(secrets.masked(manifest) for manifest in manifests))
    return page.text()


def _header(page: Page, loaded: Loaded) -> None:
    job = loaded.job
    scheduling = job.spec.scheduling
    page.title(job.metadata.name)
    queue: list[str] = [scheduling.scheduler if scheduling.scheduler != "default" else ""]
    queue += [f"queue {scheduling.queue}" if scheduling.queue else ""]
    queue += ["all replicas start together" if scheduling.gang else ""]
    queue += [f"priority {scheduling.priority}" if scheduling.priority else ""]
    facts = [
        ("mode", f"{job.spec.mode}: {_meaning('mode', job.spec.mode)}"),
        ("file", loaded.file),
        ("namespace", job.metadata.namespace or "default of the connection"),
        ("target", loaded.target),
        ("datacenter", loaded.datacenter or ""),
        ("project", (loaded.project.name if loaded.project else None) or ""),
        ("scheduling", ", ".join(filter(None, queue))),
    ]
    page.facts([(name, value) for name, value in facts if value])


def _totals(page: Page, loaded: Loaded, manifests: Sequence[Manifest]) -> None:
    resources = shares(loaded.job, manifests)
    timeout = loaded.job.spec.policy.timeout
    page.heading("Totals", f"at most, within the timeout of {timeout}" if timeout else "no timeout")
    facts = []
    for name, number in sorted(total(resources).items(), key=_cpu_first):
        text = as_amount(name, number)
        used = hours(resources, name) if name == "cpu" or is_accelerator(name) else None
        label = "CPU" if name == "cpu" else name
        facts.append((label, f"{text}   {rounded(used)} {unit(name)}" if used else text))
    page.facts(facts)
    for duration, share in lingering(manifests, resources):
        page.line(_lingering(duration, share))


def _cpu_first(amount: tuple[str, Decimal]) -> tuple[bool, bool]:
    name, _ = amount
    return "/" in name, name != "cpu"


def _lingering(duration: int, share: Share) -> str:
    wasted = ", ".join(
        _resource_hours(name, number * duration / 3600)
        for name, number in share.total.items()
        if name == "cpu" or is_accelerator(name)
    )
    requests = ", ".join(
        f"{as_amount(name, amount)} {name}" for name, amount in share.per_replica.items()
    )
    runs_on = (
        "Pservers do not exit on their own. `apply --wait complete` stops them with the trainers"
        if share.role == "pservers"
        else f"Role {share.role} ends with the trainers only if `apply --wait complete` stops it"
    )
    return (
        f"{runs_on}; "
        f"without a waiting client, {share.replicas} x ({requests}) keep running for up to "
        f"{length(duration)} ({wasted} wasted)."
    )


def _resource_hours(name: str, number: Decimal) -> str:
    text = rounded(number)
    return f"{text} {unit(name).removesuffix('s') if text == '1' else unit(name)}"


def _endpoints(page: Page, loaded: Loaded, manifests: Sequence[Manifest]) -> None:
    reached = [workload for workload in workloads(manifests) if workload.service]
    known = [manifest["spec"] for manifest in manifests if manifest["kind"] == "Process"]
    if processes := [process for process in known if "host" in process]:
        page.heading("Endpoints", "each replica has its own address on this machine")
        page.table(["hosts", "ports"], _addresses(processes))
        return
    namespace = loaded.job.metadata.namespace or "NAMESPACE"
    page.heading("Endpoints", f"at HOST.SERVICE.{namespace}.svc" if reached else "")
    if not reached:
        page.line("none: replicas do not connect to each other")
        return
    rows = []
    for workload in reached:
        last = workload.replicas - 1
        hosts = f"{workload.host}-{{0..{last}}}" if last else f"{workload.host}-0"
        ports = (
            f"{port.get('name')} {port['containerPort']}"
            for port in workload.container.get("ports", ())
        )
        rows.append([hosts, str(workload.service), ", ".join(ports)])
    page.table(["hosts", "service", "ports"], rows)


def _addresses(processes: Sequence[dict[str, Any]]) -> list[list[str]]:
    """List the hosts of processes with their ports; processes with equal ports share a row."""
    rows: dict[tuple[str, str], list[int]] = {}
    for process in processes:
        name = process["host"].partition(".")[0].rpartition("-")[0]
        ports = ", ".join(f"{name} {port}" for name, port in process.get("ports", {}).items())
        rows.setdefault((name, ports), []).append(process["index"])
    return [
        [f"{name}-{{{own[0]}..{own[-1]}}}" if len(own) > 1 else f"{name}-{own[0]}", ports]
        for (name, ports), own in rows.items()
    ]


def _environment(page: Page, manifests: Sequence[Manifest], secrets: Secrets) -> None:
    sets = workloads(manifests)
    roles = {workload.role: environment(secrets.masked(workload.container)) for workload in sets}
    if not roles:
        return
    every = list(roles.values())
    common = {
        name: value
        for name, value in every[0].items()
        if all(variables.get(name) == value for variables in every)
    }
    page.heading("Environment", "all replicas" if len(roles) > 1 else next(iter(roles)))
    page.variables(list(common.items()))
    for name, own in roles.items():
        if rest := [variable for variable in own.items() if variable[0] not in common]:
            page.heading("Environment", f"{name} only")
            page.variables(rest)


def _code(page: Page, loaded: Loaded) -> None:
    if loaded.code is None:
        return
    page.heading("Code", travels.counted(len(loaded.code.files), loaded.code.total))
    page.table(["travels", "size"], travels.files(loaded.code), frozenset({"size"}))
    if left := travels.behind(loaded.code):
        page.table(["stays behind", "size", "excluded by"], left, frozenset({"size"}))


def _data(page: Page, loaded: Loaded, manifests: Sequence[Manifest]) -> None:
    spec = loaded.job.spec
    page.heading("Data")
    sets = workloads(manifests)
    roles: dict[tuple[str, str, str], list[str]] = {}
    for workload in sets:
        for mount in mounts(workload, manifests):
            roles.setdefault(mount, []).append(workload.role)
    rows = [
        [*mount, "" if len(used) == len(sets) else f"{', '.join(used)} only"]
        for mount, used in roles.items()
    ]
    page.table(["mounted at", "source", "access", ""], rows)
    output = runtime.output(loaded.job)
    meaning = _meaning("outputPolicy", spec.output_policy)
    facts = [("input", spec.input or ""), ("output", output or "")]
    policy = f"{spec.output_policy}: if the output is not empty, {meaning}"
    facts += [("outputPolicy", policy)] if output else []
    facts += [("logs", spec.logs or "")]
    page.facts([(name, value) for name, value in facts if value])


def _policy(page: Page, loaded: Loaded, manifests: Sequence[Manifest]) -> None:
    policy = loaded.job.spec.policy
    page.heading("Policy")
    keep = policy.keep_finished
    what = "its objects are"
    rendered = kept(manifests)
    if rendered is not None:
        keep = length(rendered)
    elif loaded.target == "local":
        from paddlespec.targets.local import keep_seconds as kept_here

        keep, what = length(kept_here(loaded.job)), "its files on this machine are"
    page.facts(
        [
            ("timeout", f"{policy.timeout}, then the job fails" if policy.timeout else "none"),
            ("retries", str(policy.retries) if policy.retries else "none"),
            ("keepFinished", f"{keep} after the job finishes, then {what} deleted"),
            (
                "whenChanged",
                f"{policy.when_changed}: {_meaning('policy.whenChanged', policy.when_changed)}",
            ),
        ]
    )


def _overrides(page: Page, loaded: Loaded, secrets: Secrets) -> None:
    layers: dict[tuple[str, str], list[Supplied]] = {}
    for value in origins(loaded.document, secrets):
        if value.layer != SPEC:
            layers.setdefault((value.layer, value.span.file), []).append(value)
    if not layers:
        return
    page.heading("Overrides", "lowest layer first")
    for (layer, file), values in sorted(layers.items(), key=lambda layer: _rank(layer[0][0])):
        page.line(layer if file in layer else f"{layer}, {file}", "dim")
        for value in values:
            line = f"line {value.span.line}: " if value.span.line else ""
            page.line(f"{line}{value.assignment}", indent=4)


def _rank(layer: str) -> int:
    return next((rank for rank, name in enumerate(_LAYERS) if layer.startswith(name)), -1)


def _findings(page: Page, loaded: Loaded) -> None:
    if loaded.diagnostics:
        page.heading("Findings")
        for finding in loaded.diagnostics:
            page.line(str(finding), "yellow")
            if finding.hint:
                page.line(f"  hint: {finding.hint}")


def _meaning(path: str, value: str) -> str:
    """Return the description of a choice, from the schema."""
    meanings: dict[str, str] = {}
    for branch in fields.branches(fields.find(("spec", *path.split("."))) or {}):
        meanings |= zip(branch.get("enum", ()), branch.get("enumDescriptions", ()))
    text = meanings.get(value, "")
    return text[:1].lower() + text[1:].removesuffix(".")
