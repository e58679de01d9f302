"""
A lock on one job while it is written: a Lease, which expires if the writer dies.

The lock is advisory: UID and resourceVersion preconditions provide the safety. A lock is stale if
it was not renewed for its own duration by *our* clock; clocks of other machines do not matter.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar

from paddlespec.backends.cluster.api.refusal import Refused
from paddlespec.render.manifest import Identity
from paddlespec.runs.backoff import Backoff
from paddlespec.runs.failures import Interrupted, OperationFailed
from paddlespec.runs.values import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.backends.cluster.api.client import Client
    from paddlespec.render.manifest import Manifest

# A lock outlives its holder by this time.
_SECONDS = 15
Result = TypeVar("Result")
_VARIABLE = "PADDLESPEC_LOCK_SECONDS"
_PATIENCE_SECONDS = 60.0
# An interrupt waits so long for the answer to a request.
_GRACE_SECONDS = 2.0
# Writers usually hold the lock for a second or two.
_LONGEST_PAUSE = 0.5


class Lock:
    """The lock on one job; a context manager that is entered once."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        job: str,
        report: Callable[[Event], None],
        *,
        force: bool = False,
    ) -> None:
        self.client, self.namespace, self.job, self.report = client, namespace, job, report
        self.force, self.seconds = force, _seconds()
        self.identity = _lock(namespace, job)
        self.holder = f"{socket.gethostname()}/{os.getpid()}/{os.urandom(4).hex()}"
        self.live: Manifest | None = None
        self._ended = threading.Event()
        self._renewer: threading.Thread | None = None

    @staticmethod
    def is_left(client: Client, job: str) -> bool:
        """Report whether a job has a lock, even if its holder is dead."""
        return client.get(_lock(client.namespace, job)) is not None

    def __enter__(self) -> Lock:
        try:
            self._acquire()
            self._renewer = threading.Thread(target=self._renew, daemon=True)
            self._renewer.start()
        except BaseException:  # an interrupt releases the lock too
            # It is unknown whether the last request was carried out.
            _through(self._end)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        _through(self._end)

    def _end(self) -> None:
        self._ended.set()
        if self._renewer is not None and self._renewer.ident is not None:
            self._renewer.join()
        self._release()

    def _acquire(self) -> None:
        seen: object = None
        reported = False
        since = started = time.monotonic()
        pauses = Backoff(cap=_LONGEST_PAUSE).pauses()
        while True:
            live = self._create()
            if live is None:
                return
            spec = live.get("spec") or {}
            holder = _holder(live)
            if holder == self.holder:
                # The response to an earlier request of ours was lost.
                self.live = live
                return
            state = (holder, spec.get("renewTime"), live["metadata"]["resourceVersion"])
            if state != seen:
                seen, since = state, time.monotonic()
            duration = float(spec.get("leaseDurationSeconds") or self.seconds)
            stale = time.monotonic() - since >= duration
            if (not holder or stale or self.force) and self._take(live):
                return
            if holder and not reported:
                reported = True
                self.report(Event(f"waiting: {self.job} is being written by {_shown(holder)}"))
            if time.monotonic() - started >= max(_PATIENCE_SECONDS, 2 * duration):
                raise OperationFailed(
                    f"{self.job} is being written by {_shown(holder)}, which has not finished",
                    "if that process is no longer running: paddlespec apply --force-unlock",
                )
            self.client.pause(next(pauses))

    def _create(self) -> Manifest | None:
        """Create the lock; if it already exists, return it."""
        try:
            # An interrupted request may still be carried out, after the lock was released.
            self.live = _through(
                lambda: self.client.create(self._lease(), self.identity), _GRACE_SECONDS
            )
        except Refused as error:
            if error.refusal.status != 409:
                raise
            live = self.client.get(self.identity)
            return live if live is not None else self._create()
        return None

    def _take(self, live: Manifest) -> bool:
        """Take over a lock that is no longer held; false if another writer was faster."""
        lease = {**self._lease(), "metadata": {**live["metadata"]}}
        lease["metadata"].pop("managedFields", None)
        try:
            self.live = self.client.update(lease, self.identity)
        except Refused as error:
            if error.refusal.status in (404, 409):
                return False
            raise
        return True

    def _renew(self) -> None:
        while not self._ended.wait(self.seconds / 3):
            live = self.live
            if live is None:
                return
            with suppress(OperationFailed, Interrupted):
                if self._take(live):
                    continue
                # Either the response to our last renewal was lost, or another writer took the lock.
                # The latter is final; the preconditions of each write still hold.
                current = self.client.get(self.identity)
                if current is not None and _holder(current) == self.holder:
                    self.live = current

    def _release(self) -> None:
        """Release the lock if it is ours; if that fails, it expires."""
        with suppress(OperationFailed), self.client.tidying():
            if self._give_back(self.live):
                return
            # The response to a renewal may have been lost.
            self._give_back(self.client.get(self.identity))

    def _give_back(self, live: Manifest | None) -> bool:
        if live is None or _holder(live) != self.holder:
            return False
        metadata = live["metadata"]
        try:
            self.client.delete(self.identity, metadata["uid"], metadata["resourceVersion"])
        except Refused as error:
            return error.refusal.status != 409
        return True

    def _lease(self) -> dict[str, Any]:
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": self.identity.name,
                "namespace": self.namespace,
                "labels": {"app.kubernetes.io/managed-by": "paddlespec"},
            },
            "spec": {
                "holderIdentity": self.holder,
                "leaseDurationSeconds": self.seconds,
                "acquireTime": now,
                "renewTime": now,
            },
        }


def _through(work: Callable[[], Result], grace: float | None = None) -> Result:
    """
    Run *work* to completion despite a signal; the exception of the signal is raised afterwards.

    A second signal is raised at once. With *grace*, the first one waits so many seconds at most.
    """
    done = threading.Event()
    results: list[Result] = []
    errors: list[BaseException] = []

    def to_the_end() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - it is raised below
            errors.append(error)
        finally:
            done.set()

    interrupt: BaseException | None = None
    try:
        threading.Thread(target=to_the_end, daemon=True).start()
    except RuntimeError:
        to_the_end()  # no more threads can be started
    except BaseException as error:  # noqa: BLE001 - it is raised below
        interrupt = error
    # In Python 3.11, an interrupted `join` may consider a running thread finished.
    while not done.is_set():
        try:
            in_time = done.wait(grace if interrupt is not None else None)
        except BaseException as error:  # an interrupt, which is raised below
            if interrupt is not None:
                raise
            interrupt = error
        else:
            if interrupt is not None and not in_time:
                break
    for raised in filter(None, (interrupt, *errors)):
        raise raised
    return results[0]


def _lock(namespace: str, job: str) -> Identity:
    return Identity("coordination.k8s.io/v1", "Lease", namespace, f"{job}.paddlespec")


def _holder(live: Manifest) -> str:
    return str((live.get("spec") or {}).get("holderIdentity") or "")


def _shown(holder: str) -> str:
    host, _, rest = holder.partition("/")
    process = rest.partition("/")[0]
    return f"process {process} on {host}" if process else holder


def _seconds() -> int:
    asked = os.environ.get(_VARIABLE, "")
    return int(asked) if asked.isdigit() and int(asked) > 0 else _SECONDS
