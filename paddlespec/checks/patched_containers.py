"""Check that containers which patches add let a job end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec import workloads
from paddlespec.checks import reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path

_MAIN = "paddle"
_HINT = "list it in `sidecars` of the spec; it then ends with the program"


@reads("spec.patches")
def second_container(facts: Facts) -> Iterator[Diagnostic]:
    """A pod of a Job ends when all its containers have ended, TensorBoard included."""
    for index, patch in enumerate(facts.job.spec.patches):
        if patch.target.kind and not _ends(patch.target.kind):
            continue
        start: Path = ("spec", "patches", index, "patch")
        if isinstance(patch.patch, dict):
            added = list(_merged(patch.patch, start))
        else:
            added = [
                ((*start, number, "value"), operation.value)
                for number, operation in enumerate(patch.patch)
                if operation.op == "add" and _is_item(operation.path)
            ]
        for path, container in added:
            name = container.get("name") if isinstance(container, dict) else None
            if isinstance(name, str) and name != _MAIN and "$patch" not in container:
                message = f"the job never ends while container {name} runs"
                yield facts.warning("second-container", message, path, _HINT)


def _ends(kind: str) -> bool:
    """Report whether objects of *kind* end when their containers have."""
    workload = workloads.named(kind)
    return workload is not None and workload.KIND.hold is not None


def _merged(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the containers of a strategic merge patch with their paths."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _merged(item, (*path, index))
    elif isinstance(value, dict):
        for key, member in value.items():
            if key == "containers" and isinstance(member, list):
                yield from (((*path, key, index), item) for index, item in enumerate(member))
            else:
                yield from _merged(member, (*path, key))


def _is_item(pointer: str) -> bool:
    parts = pointer.split("/")
    return len(parts) > 1 and parts[-2] == "containers"
