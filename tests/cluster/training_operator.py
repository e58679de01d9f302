"""What the Kubeflow training operator does for a PaddleJob of one worker, for tests without it."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from user import User

_COUNTED = {"Pending": "active", "Running": "active", "Succeeded": "succeeded", "Failed": "failed"}
_ENDED = {"Succeeded": "Succeeded", "Failed": "Failed"}


@contextmanager
def operating(user: User) -> Iterator[None]:
    """Create the pods of PaddleJobs in the user's namespace, and write their status."""
    stopped = Event()
    failures: list[BaseException] = []

    def operate() -> None:
        try:
            while not stopped.wait(0.1):
                for paddle_job in user.all("paddlejobs"):
                    with suppress(HTTPError):
                        _reconcile(user, paddle_job)
        except BaseException as error:  # noqa: BLE001 - raised again by the test
            failures.append(error)

    thread = Thread(target=operate)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
    if failures:
        raise failures[0]


def _reconcile(user: User, paddle_job: dict[str, Any]) -> None:
    name, uid = paddle_job["metadata"]["name"], paddle_job["metadata"]["uid"]
    if "deletionTimestamp" in paddle_job["metadata"]:
        return
    pod = user.get_or_none("pods", f"{name}-worker-0")
    if pod and pod["metadata"]["ownerReferences"][0]["uid"] != uid:
        return
    suspended = paddle_job["spec"]["runPolicy"].get("suspend", False)
    if suspended and pod:
        user.plane.request("DELETE", f"{user.path('pods')}/{name}-worker-0")
    elif not suspended and not pod:
        user.plane.request("POST", user.path("pods"), _pod(paddle_job))
    status = _status(paddle_job, suspended, pod)
    if status != paddle_job.get("status"):
        path = f"{user.path('paddlejobs')}/{name}/status"
        user.plane.request("PUT", path, {**paddle_job, "status": status})


def _pod(paddle_job: dict[str, Any]) -> dict[str, Any]:
    template = paddle_job["spec"]["paddleReplicaSpecs"]["Worker"]["template"]
    metadata = paddle_job["metadata"]
    owner = {
        "apiVersion": paddle_job["apiVersion"],
        "kind": paddle_job["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    labels = {**template["metadata"]["labels"], "training.kubeflow.org/replica-index": "0"}
    return {
        "metadata": {
            **template["metadata"],
            "labels": labels,
            "name": f"{metadata['name']}-worker-0",
            "ownerReferences": [owner],
        },
        "spec": template["spec"],
    }


def _status(
    paddle_job: dict[str, Any], suspended: bool, pod: dict[str, Any] | None
) -> dict[str, Any]:
    status = paddle_job.get("status") or {}
    held = {condition["type"] for condition in status.get("conditions", ())}
    if held & _ENDED.keys():
        return status
    phase = pod["status"]["phase"] if pod else "Pending"
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    if suspended:
        kind = "Suspended"
    else:
        kind = _ENDED.get(phase) or ("Running" if phase == "Running" else "Created")
    conditions = list(status.get("conditions", ()))
    if kind not in held:
        reason = f"PaddleJob{kind}"
        conditions.append(
            {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": now}
        )
    counted = {_COUNTED[phase]: 1} if pod and not suspended else {}
    started = {} if suspended else {"startTime": status.get("startTime", now)}
    return {"conditions": conditions, "replicaStatuses": {"Worker": counted}, **started}
