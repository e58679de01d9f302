"""
What carries requests to the API server: patience with passing troubles, credentials, streams.

The official client gives the connection and the credentials; its models, which are slow, are not
used.
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
from kubernetes.client.api_client import ApiClient

from paddlespec import __version__
from paddlespec.backend import Interrupted, OperationFailed, TimeRanOut
from paddlespec.cluster.refusal import Refusal, Refused, Request, refusal
from paddlespec.cluster.unreachable import unreachable
from paddlespec.crew import Crew

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paddlespec.cluster.connection import Connection

_CONNECT_SECONDS = 10.0
_READ_SECONDS = 30.0
# A stream that says nothing for so long is asked for again: a dead connection does not tell.
_QUIET_SECONDS = 60.0
_BLOCK = 64 * 1024
_PAUSES = (0.1, 0.3, 1.0, 2.0, 4.0)
# An address that never answered is more likely wrong than down.
_PAUSES_AT_FIRST = _PAUSES[:2]
_LONGEST_RETRY_AFTER = 30.0
# How often is asked whether a token has to be renewed, which reads files.
_TOKEN_SECONDS = 1.0
# Requests of one job, or jobs, that are under way at the same time.
AT_ONCE = 8

# Without headers and bodies, which hold secrets.
_log = logging.getLogger("paddlespec.requests")

Query = dict[str, str]
Item = TypeVar("Item")
Result = TypeVar("Result")


class Transport:
    """
    Connections to one server, for any number of threads; close them at the end.

    `at_once`: how many requests of one job may be under way, where their order does not matter.
    """

    def __init__(self, connection: Connection) -> None:
        self.deadline: float | None = None
        self.at_once = AT_ONCE
        self._has_answered = self._is_down = False
        self._configuration = connection.configuration
        # Jobs have requests of their own under way, and locks that they renew.
        self._configuration.connection_pool_maxsize = 4 * AT_ONCE
        self._api = ApiClient(connection.configuration)
        self._cancelled = threading.Event()
        self._own = threading.local()
        self._renewal = threading.Lock()
        self._renewed = float("-inf")
        self._token: str | None = None
        if not connection.configuration.verify_ssl:
            # The kubeconfig says so; a warning with every request tells nothing new.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def close(self) -> None:
        """Close the connection."""
        self._api.close()  # type: ignore[no-untyped-call]

    @property
    def host(self) -> str:
        """The address of the API server."""
        return str(self._configuration.host)

    def cancel(self) -> None:
        """From now on every request, and every pause, of any thread raises `Interrupted`."""
        self._cancelled.set()

    @contextmanager
    def tidying(self) -> Iterator[None]:
        """Requests of this thread that have to be sent all the same, such as to give back a lock."""
        before = getattr(self._own, "tidies", False)
        self._own.tidies = True
        try:
            yield
        finally:
            self._own.tidies = before

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """
        What *work* makes of each of *items*, in their order, side by side where that is allowed.

        The first failure in that order is raised; nothing more is begun then.
        """
        listed = list(items)
        if self.at_once == 1 or len(listed) < 2:
            return [work(each) for each in listed]
        crew = Crew(work, listed, self.at_once)
        try:
            return list(crew.results())
        finally:
            crew.dismiss()

    def pause(self, seconds: float) -> None:
        """Wait a moment, but not beyond the deadline."""
        left = seconds if self.deadline is None else self.deadline - time.monotonic()
        if getattr(self._own, "tidies", False):
            time.sleep(max(0.0, min(seconds, left)))
        elif self._cancelled.wait(max(0.0, min(seconds, left))):
            raise Interrupted
        if self.deadline is not None and left <= seconds:
            raise TimeRanOut("time ran out")

    def json(
        self,
        request: Request,
        method: str,
        path: str,
        query: Query | None = None,
        body: object = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> dict[str, Any]:
        """Send as `send` does; the answer as data."""
        content = self.send(request, method, path, query, body, content_type, accept)
        try:
            found = json.loads(content)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise self._no_server()
        return found

    def stream(
        self, request: Request, path: str, query: Query, *, lasting: bool
    ) -> Iterator[bytes]:
        """
        An answer as it comes, in blocks; nothing of what is not there, or not yet.

        Whoever asks has to ask again: it raises `OperationFailed` when the connection drops, and
        when nothing came for so long that it may have.
        """
        headers = {"Accept": "*/*", "User-Agent": f"paddlespec/{__version__}"}
        try:
            response = self._api.rest_client.pool_manager.request(
                "GET",
                f"{self.host}{path}?{urlencode(query)}",
                headers={**headers, **self._credentials()},
                timeout=urllib3.Timeout(
                    connect=_CONNECT_SECONDS, read=_QUIET_SECONDS if lasting else _READ_SECONDS
                ),
                retries=False,
                preload_content=False,
            )
            _log.debug("GET %s: %d, as it comes", path, response.status)
            try:
                if response.status in (400, 404):
                    return
                if response.status != 200:
                    raise Refused(refusal(request, response.status, response.read()))
                yield from response.stream(_BLOCK, decode_content=False)
            finally:
                response.close()
        except urllib3.exceptions.HTTPError as error:
            raise unreachable(self.host, error) from None

    def websocket(self, path: str, protocols: str, connect: Callable[..., Any]) -> Any:
        """A connection for streams both ways, as *connect* of the official client makes it."""
        headers = {"sec-websocket-protocol": protocols}
        if token := self._credentials().get("Authorization"):
            headers["authorization"] = token
        # What follows the path is a command, and its words may be secret.
        _log.debug("GET %s: a stream both ways", path.partition("?")[0])
        url = f"ws{self.host.removeprefix('http')}{path}"
        return connect(self._configuration, url, headers)

    def _no_server(self) -> OperationFailed:
        told = f"what answers at {self.host} is no API server"
        return OperationFailed(told, "a proxy or a login page?")

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
        """Send until there is an answer that stays; every request of ours may be repeated."""
        url = f"{self.host}{path}{'?' + urlencode(query) if query else ''}"
        headers = {"Accept": accept, "User-Agent": f"paddlespec/{__version__}"}
        content = None
        if body is not None:
            content = json.dumps(body, ensure_ascii=False).encode()
            headers["Content-Type"] = content_type
        for attempt in count():
            if self._cancelled.is_set() and not getattr(self._own, "tidies", False):
                raise Interrupted
            trouble: OperationFailed
            after = None
            try:
                status, answer, after = self._once(method, url, headers, content)
            except urllib3.exceptions.HTTPError as error:
                trouble = unreachable(self.host, error)
                _log.debug("%s %s: %s", method, path, trouble.message)
                # What one job has tried in vain, the others need not try as long.
                passes = not isinstance(error, urllib3.exceptions.SSLError) and not self._is_down
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
                found: Refusal = refusal(request, status, answer)
                trouble, passes = Refused(found), found.may_pass
            pauses = _PAUSES if self._has_answered else _PAUSES_AT_FIRST
            if not passes or attempt >= len(pauses):
                raise trouble
            self._retry_in(after or pauses[attempt], trouble)
        raise AssertionError("not reached")

    def _retry_in(self, seconds: float, trouble: OperationFailed) -> None:
        try:
            self.pause(min(seconds, _LONGEST_RETRY_AFTER))
        except TimeRanOut:
            raise TimeRanOut(f"time ran out: {trouble.message}", trouble.hint) from None

    def _once(
        self, method: str, url: str, headers: dict[str, str], content: bytes | None
    ) -> tuple[int, bytes, float | None]:
        begun = time.monotonic()
        read = _READ_SECONDS
        if self.deadline is not None:
            read = max(0.5, min(read, self.deadline - time.monotonic()))
        response = self._api.rest_client.pool_manager.request(
            method,
            url,
            body=content,
            headers={**headers, **self._credentials()},
            timeout=urllib3.Timeout(connect=min(_CONNECT_SECONDS, read), read=read),
            retries=False,
        )
        path = url.removeprefix(self.host)
        _log.debug("%s %s: %d in %.3f s", method, path, response.status, time.monotonic() - begun)
        after = response.headers.get("Retry-After", "")
        return response.status, response.data, float(after) if after.isdigit() else None

    def _credentials(self) -> dict[str, str]:
        """The header that says who asks; a token that ages is renewed on the way."""
        with self._renewal:
            if time.monotonic() - self._renewed > _TOKEN_SECONDS:
                found = self._configuration.auth_settings().get("BearerToken")
                self._token = found["value"] if found else None
                self._renewed = time.monotonic()
            return {"Authorization": self._token} if self._token else {}

    def _is_renewed(self) -> bool:
        """Look for other credentials at once: those that were sent are not known any more."""
        before = self._token
        self._renewed = float("-inf")
        self._credentials()
        return self._token != before
