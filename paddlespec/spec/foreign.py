"""Recognize job files of other tools, which would otherwise be reported key by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.spec.document import Document

_OWN = "paddlespec.io/"
_HINT = "write a spec that runs its command: paddlespec init --from-command -- COMMAND..."
# By API group and kind.
_TOOLS = {
    ("kubeflow.org", "PaddleJob"): "PaddleJob of the Kubeflow Training Operator",
    ("batch.paddlepaddle.org", "PaddleJob"): "PaddleJob of the Paddle Operator",
    ("batch.volcano.sh", "Job"): "Job of Volcano",
    ("batch", "Job"): "Job of Kubernetes",
}


def own(documents: Sequence[Document]) -> tuple[list[Document], list[Diagnostic]]:
    """
    Return the documents that are specs, or may be, and one diagnostic if a file is another tool's.

    Other objects beside a job of another tool belong to it.
    """
    for document in documents:
        data = document.data
        name, key = _tool(data) if isinstance(data, dict) else (None, "")
        if name is not None:
            specs = [document for document in documents if _is_own(document.data)]
            span = document.locate((key,))
            return specs, [Diagnostic("foreign-file", f"{name}, not a spec", span, (key,), _HINT)]
    return list(documents), []


def _tool(data: dict[str, Any]) -> tuple[str | None, str]:
    """Name the tool that reads *data*, and the key that shows it."""
    version, kind = data.get("apiVersion"), data.get("kind")
    if isinstance(version, str) and isinstance(kind, str):
        tool = _TOOLS.get((version.partition("/")[0], kind))
        return (f"{tool} ({version})", "kind") if tool and "/" in version else (None, "")
    if "protocolVersion" in data and ("taskRoles" in data or data.get("type") == "job"):
        return "job of OpenPAI (protocol 2)", "protocolVersion"
    if isinstance(data.get("taskRoles"), list) and "jobName" in data:
        return "job of OpenPAI (version 1)", "jobName"
    return None, ""


def _is_own(data: Any) -> bool:
    return isinstance(data, dict) and str(data.get("apiVersion", "")).startswith(_OWN)
