"""What tests can do with the control plane."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from dataclasses import dataclass
from email.message import Message
from functools import cached_property
from http import HTTPStatus
from io import BytesIO
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.error import HTTPError

import pytest
from urllib3 import PoolManager
from urllib3.exceptions import HTTPError as UrllibError

from control_plane.audit import AuditLog
from control_plane.credentials import USERS, token_of, write_kubeconfig
from control_plane.failure import StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Found = TypeVar("Found")


@dataclass(frozen=True)
class ControlPlane:
    """
    A running cluster, with administrator access.

    `owned` is false for a cluster that is run by someone else: its audit log and its extra users
    are unavailable.
    """

    kubeconfig: Path
    server: str
    ca: Path
    token: str
    folder: Path
    kubectl_binary: str
    owned: bool = True
    restarts: Callable[[str], None] | None = None
    pod_port: int = 0

    def restart(self, server: str) -> None:
        """Kill a server of the control plane and start it again; no data is lost."""
        if not self.owned:
            pytest.skip("a cluster of somebody else is not ours to restart")
        if self.restarts is None:
            raise ValueError("others use this control plane: move the test to exclusive/")
        self.restarts(server)

    @property
    def behind_pods(self) -> tuple[str, int]:
        """The address that all ports of all pods lead to, for a test that serves there."""
        if not self.pod_port:
            pytest.skip("what pods of somebody else's cluster serve is not ours to say")
        return "127.0.0.1", self.pod_port

    @property
    def log_file(self) -> Path:
        """
        Return the file behind `kubectl logs` of every pod.

        Its lines are `<RFC 3339 time> stdout F <text>`.
        """
        return self.folder / "pod.log"

    def kubectl(
        self,
        *arguments: str,
        input: str | None = None,  # noqa: A002
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl as the administrator.

        The discovery cache is the session's own, since the port may serve another cluster soon.
        """
        environment = {
            **os.environ,
            "KUBECONFIG": str(self.kubeconfig),
            "KUBECACHEDIR": str(self.folder / "kubectl-cache"),
        }
        command = [self.kubectl_binary, *arguments]
        ended = subprocess.run(
            command,
            input=input,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if check and ended.returncode != 0:
            raise AssertionError(
                f"kubectl {' '.join(arguments)} ended with {ended.returncode}:\n{ended.stderr}"
            )
        return ended

    def get(self, *arguments: str) -> Any:
        """Return the JSON that `kubectl get` prints."""
        return json.loads(self.kubectl("get", *arguments, "-o", "json").stdout)

    def request(
        self, method: str, path: str, body: object = None, *, token: str | None = None
    ) -> Any:
        """
        Send one request without kubectl, whose start-up alone takes longer than most requests.

        A refusal is an HTTPError; StageError means that there was no response.
        """
        headers = {"Authorization": f"Bearer {token or self.token}"}
        content = None if body is None else json.dumps(body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        url = self.server + path
        try:
            answer = self._connections.request(
                method, url, body=content, headers=headers, timeout=30, retries=False
            )
        except UrllibError as error:
            raise StageError(f"the control plane did not answer: {error}") from error
        if answer.status >= HTTPStatus.BAD_REQUEST:
            message = answer.reason or ""
            raise HTTPError(url, answer.status, message, Message(), BytesIO(answer.data))
        text = answer.data.decode()
        return json.loads(text) if text.startswith("{") else text

    @cached_property
    def _connections(self) -> PoolManager:
        """Keep connections: a handshake takes longer than most requests, and tests poll."""
        return PoolManager(ca_certs=str(self.ca), maxsize=16)

    def kubeconfig_for(self, user: str, namespace: str = "default") -> Path:
        """
        Write a kubeconfig for `admin` or for one of USERS.

        A user has no rights until `allow` or a RoleBinding grants some.
        """
        if not self.owned:
            pytest.skip("a cluster of somebody else has no users for tests")
        if user not in ("admin", *USERS):
            raise ValueError(f"no user {user!r}: there are admin, {', '.join(USERS)}")
        path = self.folder / f"{user}.{namespace}.kubeconfig"
        return write_kubeconfig(
            path,
            server=self.server,
            ca=self.ca,
            user=user,
            token=token_of(user),
            namespace=namespace,
        )

    def allow(
        self, user: str, namespace: str, rules: Sequence[Mapping[str, Sequence[str]]]
    ) -> None:
        """Grant a user exactly these RBAC rules in one namespace."""
        group = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
        self.request("POST", f"{group}/roles", {"metadata": {"name": user}, "rules": list(rules)})
        binding = {
            "metadata": {"name": user},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        }
        self.request("POST", f"{group}/rolebindings", binding)

    def audit(
        self, *, user: str | None = None, namespace: str | None = None
    ) -> list[dict[str, Any]]:
        """
        List the requests so far, oldest first, without those of the control plane itself.

        Requests are logged in the order in which they end: when ours is there, all earlier ones are
        too.
        """
        if not self.owned:
            pytest.skip("a cluster of somebody else has no audit log to read")
        mark = f"mark-{uuid.uuid4().hex}"
        self.request("GET", f"/api/v1/namespaces/{mark}/pods")
        self.eventually(lambda: self._audit_log.holds(mark), what="our request in the audit log")
        return self._audit_log.events(user, namespace)

    @cached_property
    def _audit_log(self) -> AuditLog:
        return AuditLog(self.folder / "audit.jsonl")

    def eventually(
        self, probe: Callable[[], Found], *, within: float = 60.0, what: str = ""
    ) -> Found:
        """Poll until the result is true, and return it: controllers act in their own time."""
        deadline = monotonic() + within
        pause = 0.02
        while True:
            result = probe()
            if result:
                return result
            if monotonic() > deadline:
                raise AssertionError(
                    f"not within {within:g} s: {what or probe}; last answer {result!r}"
                )
            sleep(pause)
            pause = min(1.3 * pause, 0.25)
