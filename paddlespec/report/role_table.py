"""The roles of a job in its preview: replicas, resources, images and commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.quantity import quantity
from paddlespec.render import runtime
from paddlespec.report.totals import workloads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.pipeline import Loaded
    from paddlespec.render.manifest import Manifest
    from paddlespec.report.layout import Page
    from paddlespec.report.totals import Workload

_LAST = ("object", "image")


def role_table(page: Page, loaded: Loaded, manifests: Sequence[Manifest]) -> None:
    """Print what each role runs, and with how much."""
    page.heading("Roles")
    sets = workloads(manifests)
    if not sets:
        page.line("the preview does not know these kinds of objects; see the manifests")
        return
    rows = [_role(loaded, workload) for workload in sets]
    heads = list(dict.fromkeys(head for row in rows for head in row))
    heads = [head for head in heads if head not in _LAST and any(row.get(head) for row in rows)]
    heads += _LAST
    # Columns that are too wide for the table are printed below it.
    below: list[str] = []
    while not page.fits(heads, _cells(rows, heads)) and heads[-1] in _LAST:
        below.insert(0, heads.pop())
    _table(page, heads, _cells(rows, heads))
    facts = [(head, row["role"], row[head]) for head in below for row in rows if row.get(head)]
    facts += [("command", workload.role, _command(workload)) for workload in sets]
    page.facts(_shared([*facts, *_beside(sets)]))


def _table(page: Page, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a row for each role, or a column where the rows are too wide."""
    if not page.fits(heads, rows):
        columns = list(zip(heads, *rows))
        heads, rows = columns[0], [column for column in columns[1:] if any(column[1:])]
    page.table(heads, rows, frozenset(heads[1:]) - {*_LAST})


def _role(loaded: Loaded, workload: Workload) -> dict[str, str]:
    """Return a row of the table, keyed by its heads."""
    resources = workload.container.get("resources") or {}
    row = {"role": workload.role, "replicas": str(workload.replicas)}
    if loaded.job.spec.mode == "collective" and workload.role == "trainers":
        row["processes per replica"] = str(runtime.processes(loaded.job))
    row |= _amounts(resources.get("requests") or {}, resources.get("limits") or {})
    row["claims"] = ", ".join(claim["name"] for claim in resources.get("claims") or ())
    row["shm"] = _shared_memory(workload)
    row["object"] = workload.name
    row["image"] = str(workload.container.get("image", ""))
    return row


def _amounts(requests: Mapping[str, Any], limits: Mapping[str, Any]) -> dict[str, str]:
    """Return the amount of each resource, from its request to its limit."""
    names = dict.fromkeys(("cpu", "memory", *requests, *limits))
    return {name: _amount(requests.get(name), limits.get(name)) for name in names}


def _amount(request: Any, limit: Any) -> str:
    if request is None and limit is None:
        return "unset"
    if limit is None:
        return f"{request} or more"
    if request is None or quantity(request) == quantity(limit):
        return str(limit)
    return f"{request} to {limit}"


def _shared_memory(workload: Workload) -> str:
    volumes = {volume["name"]: volume for volume in workload.pod.get("volumes", ())}
    scratch = (volumes.get("dshm") or {}).get("emptyDir")
    return "" if scratch is None else str(scratch.get("sizeLimit", "unlimited"))


def _cells(rows: Sequence[dict[str, str]], heads: Sequence[str]) -> list[list[str]]:
    return [[row.get(head, "") for head in heads] for row in rows]


def _command(workload: Workload) -> str:
    container = workload.container
    words = [*container.get("command", ()), *container.get("args", ())]
    return (words[2] if words[:2] == ["sh", "-c"] else " ".join(words)) or "default of the image"


def _beside(sets: Sequence[Workload]) -> list[tuple[str, str, str]]:
    """Return what a reviewer should know of the pods, if any role has it."""
    facts = [("sidecars", workload.role, _sidecars(workload)) for workload in sets]
    networks = [
        ("network", workload.role, "of the nodes" if workload.pod.get("hostNetwork") else "of pods")
        for workload in sets
    ]
    return [
        *(facts if any(value != "none" for _, _, value in facts) else []),
        *(networks if any(workload.pod.get("hostNetwork") for workload in sets) else []),
    ]


def _sidecars(workload: Workload) -> str:
    names = [
        f"{container['name']} ({container.get('image')})"
        for container in workload.pod.get("initContainers") or ()
        if container.get("restartPolicy") == "Always"
    ]
    return ", ".join(names) or "none"


def _shared(facts: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Merge facts that are equal for all roles."""
    shared = []
    for name in dict.fromkeys(fact[0] for fact in facts):
        values = {role: value for label, role, value in facts if label == name}
        if len(set(values.values())) == 1:
            shared.append((name, next(iter(values.values()))))
        else:
            shared += [(f"{name} of {role}", value) for role, value in values.items()]
    return shared
