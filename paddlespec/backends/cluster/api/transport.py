"""
Send requests to the API server, with retries, credentials and streams.

The official client provides the connection and the credentials; its models are not used because
they are slow.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import urllib3

from paddlespec import __version__
from paddlespec.answers import MIB, Limits, bounded, content, limited, parsed
from paddlespec.backends.cluster.api.refusal import (
    Refusal,
    Refused,
    Request,
    refusal,
)
from paddlespec.backends.cluster.api.unreachable import is_timeout, is_untrusted, unreachable
from paddlespec.backends.protocols import REQUEST_LOG
from paddlespec.runs.failures import Interrupted, OperationFailed, TimeRanOut
from paddlespec.threads import Crew

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paddlespec.backends.cluster.api.connection import Connection
    from paddlespec.backends.cluster.api.server_warnings import ServerWarnings
    from paddlespec.render.shape import Shape

_CONNECT_SECONDS = 10.0
_READ_SECONDS = 30.0
# A list of a large cluster; an object, which etcd limits to 1.5 MiB before its versions and owners
# are added; and the reason why a request is refused.
_LARGEST_LIST = 256 * MIB
_LARGEST_OBJECT = 8 * MIB
_LARGEST_REFUSAL = MIB
# After this time without an answer, the command reports what it is waiting for.
PATIENCE_SECONDS = 5.0
# A silent stream is requested again after this time, because a dead connection is not noticed.
_QUIET_SECONDS = 60.0
_BLOCK = 64 * 1024
_PAUSES = (0.1, 0.3, 1.0, 2.0, 4.0)
# An address that has never answered is more likely wrong than down.
_PAUSES_AT_FIRST = _PAUSES[:2]
_LONGEST_RETRY_AFTER = 30.0
# Checking whether a token must be renewed reads files, so it is done at most this often.
_TOKEN_SECONDS = 1.0
# The number of concurrent requests of one job, and of concurrent jobs.
AT_ONCE = 8

# Headers and bodies are not logged because they contain secrets.
_log = logging.getLogger(REQUEST_LOG)

Query = dict[str, str]
Item = TypeVar("Item")
Result = TypeVar("Result")


class Transport:
    """
    Connections to one server, shared by any number of threads; close them at the end.

    `at_once` is the number of concurrent requests of one job, if their order does not matter.
    *report* receives one remark once the server has not answered for *patience* seconds.
    """

    def __init__(
        self,
        connection: Connection,
        deadline: float | None = None,
        at_once: int = AT_ONCE,
        report: Callable[[str], None] | None = None,
        warnings: ServerWarnings | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self.deadline, self.at_once, self._warnings = deadline, at_once, warnings
        self._report, self._patience = report, patience
        self._has_answered = self._is_down = False
        self._connection = connection
        # Every concurrent job sends its own requests, and renews its lock.
        self._pool = bounded(connection.pool(4 * AT_ONCE))
        self._cancelled = threading.Event()
        self._own = threading.local()
        self._renewal = threading.Lock()
        self._renewed = float("-inf")
        self._token: str | None = None

    def close(self) -> None:
        """Close the connection."""
        self._pool.clear()

    def until(self, deadline: float | None) -> None:
        """Give up when the monotonic clock shows *deadline*."""
        self.deadline = deadline

    def share(self, at_once: int) -> None:
        """Have at most *at_once* requests of one job under way."""
        self.at_once = at_once

    @property
    def host(self) -> str:
        """The address of the API server."""
        return self._connection.host

    def cancel(self) -> None:
        """Make every further request and pause of any thread raise `Interrupted`."""
        self._cancelled.set()

    @contextmanager
    def tidying(self) -> Iterator[None]:
        """Allow requests of this thread after `cancel`, such as to release a lock."""
        before = getattr(self._own, "tidies", False)
        self._own.tidies = True
        try:
            yield
        finally:
            self._own.tidies = before

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """
        Apply *work* to *items*, concurrently if allowed, and return the results in order.

        The first failure in that order is raised, and no further items are started.
        """
        listed = list(items)
        if self.at_once == 1 or len(listed) < 2:
            return [work(item) for item in listed]
        crew = Crew(work, listed, self.at_once)
        try:
            return list(crew.results())
        finally:
            crew.dismiss()

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond the deadline."""
        left = seconds if self.deadline is None else self.deadline - time.monotonic()
        if getattr(self._own, "tidies", False):
            time.sleep(max(0.0, min(seconds, left)))
        elif self._cancelled.wait(max(0.0, min(seconds, left))):
            raise Interrupted
        if self.deadline is not None and left <= seconds:
            raise TimeRanOut("timed out")

    def json(
        self,
        request: Request,
        method: str,
        path: str,
        shape: Shape,
        query: Query | None = None,
        body: object = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> dict[str, Any]:
        """Send a request as `send` does, and return the response, which has *shape*."""
        text = self.send(request, method, path, query, body, content_type, accept)
        try:
            answer = parsed(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise self._no_server()
        if wrong := shape.fault(answer):
            raise self._no_server(f", but with an invalid {request.kind}: {wrong}")
        return answer

    def stream(
        self, request: Request, path: str, query: Query, *, lasting: bool
    ) -> Iterator[bytes]:
        """
        Stream a response in blocks; empty if the object does not exist, or not yet.

        Raises `OperationFailed` when the connection drops or may have dropped because nothing arrived
        for a while; the caller must request the stream again.
        """
        headers = {"Accept": "*/*", "User-Agent": f"paddlespec/{__version__}"}
        quiet = _QUIET_SECONDS if lasting else _READ_SECONDS
        limits = Limits(self.host, quiet, _LARGEST_REFUSAL, lasting=True)
        try:
            with limited(limits):
                response = self._pool.request(
                    "GET",
                    f"{self.host}{path}?{urlencode(query)}",
                    headers={**headers, **self._credentials()},
                    timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=quiet),
                    retries=False,
                    preload_content=False,
                )
            _log.debug("GET %s: %d, streamed", path, response.status)
            try:
                if response.status in (400, 404):
                    return
                if response.status != 200:
                    raise Refused(refusal(request, response.status, content(response, limits)))
                yield from response.stream(_BLOCK, decode_content=False)
            finally:
                response.close()
        except urllib3.exceptions.HTTPError as error:
            raise unreachable(self.host, error) from None

    def websocket(self, path: str, protocols: str, connect: Callable[..., Any]) -> Any:
        """Open a websocket with *connect*, from the configuration, the address and the headers."""
        headers = {"sec-websocket-protocol": protocols}
        if token := self._credentials().get("Authorization"):
            headers["authorization"] = token
        # The query is a command that may contain secrets.
        _log.debug("GET %s: websocket", path.partition("?")[0])
        url = f"ws{self.host.removeprefix('http')}{path}"
        return connect(self._connection.library(), url, headers)

    def _no_server(self, fault: str = "") -> OperationFailed:
        message = f"{self.host} does not answer like a Kubernetes API server"
        if fault:
            message = f"{self.host} answers{fault}"
        return OperationFailed(message, "check whether a proxy or a login page answers instead")

    def send(
        self,
        request: Request,
        method: str,
        path: str,
        query: Query | None = None,
        body: object = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> bytes:
        """Send a request, retrying temporary failures; every request may be sent more than once."""
        url = f"{self.host}{path}{'?' + urlencode(query) if query else ''}"
        headers = {"Accept": accept, "User-Agent": f"paddlespec/{__version__}"}
        sent = None
        if body is not None:
            sent = json.dumps(body, ensure_ascii=False).encode()
            headers["Content-Type"] = content_type
        largest = _LARGEST_OBJECT if request.name else _LARGEST_LIST
        for attempt in count():
            if self._cancelled.is_set() and not getattr(self._own, "tidies", False):
                raise Interrupted
            trouble: OperationFailed
            after = None
            try:
                status, answer, after = self._once(method, url, headers, sent, largest)
            except urllib3.exceptions.HTTPError as error:
                trouble = unreachable(self.host, error)
                _log.debug("%s %s: %s", method, path, trouble.message)
                # Other jobs need not retry as long as the first one did.
                passes = not is_untrusted(error) and not self._is_down
                if is_timeout(error):
                    self._remark()
                    passes = passes and (self.deadline is not None or not attempt)
                self._is_down = not self._has_answered and (
                    self._is_down or attempt >= len(_PAUSES_AT_FIRST)
                )
            else:
                self._has_answered = True
                if 200 <= status < 300:
                    return answer
                if status in (405, 501) and not answer.lstrip().startswith(b"{"):
                    raise self._no_server()
                if status == 401 and not attempt and self._is_renewed():
                    continue
                refused: Refusal = refusal(request, status, answer)
                trouble, passes = Refused(refused), refused.may_pass
            pauses = _PAUSES if self._has_answered else _PAUSES_AT_FIRST
            if not passes or attempt >= len(pauses):
                raise trouble
            self._retry_in(after or pauses[attempt], trouble)
        raise AssertionError("not reached")

    def _retry_in(self, seconds: float, trouble: OperationFailed) -> None:
        try:
            self.pause(min(seconds, _LONGEST_RETRY_AFTER))
        except TimeRanOut:
            raise TimeRanOut(f"timed out: {trouble.message}", trouble.hint) from None

    def _once(
        self, method: str, url: str, headers: dict[str, str], sent: bytes | None, largest: int
    ) -> tuple[int, bytes, float | None]:
        begun = time.monotonic()
        read = _READ_SECONDS
        if self.deadline is not None:
            read = max(0.5, min(read, self.deadline - begun))
        limits = Limits(
            self.host,
            read,
            largest,
            self.deadline,
            patience=self._patience,
            notice=self._remark if self._report is not None else None,
        )
        with limited(limits):
            response = self._pool.request(
                method,
                url,
                body=sent,
                headers={**headers, **self._credentials()},
                timeout=urllib3.Timeout(connect=min(_CONNECT_SECONDS, read), read=read),
                retries=False,
                preload_content=False,
            )
        answer = content(response, limits)
        path = url.removeprefix(self.host)
        _log.debug("%s %s: %d in %.3f s", method, path, response.status, time.monotonic() - begun)
        if self._warnings is not None and sent is not None and "Warning" in response.headers:
            self._warnings.take(response.headers.getlist("Warning"), sent)
        after = response.headers.get("Retry-After", "")
        is_number = after.isascii() and after.isdecimal() and len(after) < 10
        return response.status, answer, float(after) if is_number else None

    def _remark(self) -> None:
        """Report once that the server is slow."""
        with self._renewal:
            report, self._report = self._report, None
        if report is not None:
            report(f"{self.host} does not answer yet")

    def _credentials(self) -> dict[str, str]:
        """Return the authorization header; an expiring token is renewed."""
        with self._renewal:
            if time.monotonic() - self._renewed > _TOKEN_SECONDS:
                self._token = self._connection.authorization()
                self._renewed = time.monotonic()
            return {"Authorization": self._token} if self._token else {}

    def _is_renewed(self) -> bool:
        """Reload the credentials, and report whether they changed."""
        before = self._token
        self._renewed = float("-inf")
        self._credentials()
        return self._token != before
