"""Resolve the kubeconfig, context and namespace as kubectl does."""

from __future__ import annotations

import os
import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.backends.cluster.api.kubeconfig import DEFAULT, Kubeconfig, load
from paddlespec.backends.cluster.api.plain import plain
from paddlespec.runs.failures import NoCluster, OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import urllib3
    from kubernetes.client.configuration import Configuration

_CREDENTIALS = re.compile(r"(?<=://)[^/]*@")
_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


class Connection(NamedTuple):
    """
    An API server with credentials, and the namespace for objects that name none.

    `pool` opens a number of connections, `authorization` returns the current value of the header,
    and `library` the same connection for the official client.
    """

    host: str
    namespace: str
    pool: Callable[[int], urllib3.PoolManager]
    authorization: Callable[[], str | None]
    library: Callable[[], Configuration]

    @classmethod
    def of(cls, configuration: Configuration, namespace: str) -> Connection:
        """Return the connection that the official client makes with *configuration*."""
        return cls(
            str(configuration.host),
            namespace,
            partial(_pool, configuration),
            partial(_authorization, configuration),
            lambda: configuration,
        )


def resolve(
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    preferred: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Connection:
    """
    Resolve the connection that kubectl makes with these options and variables.

    A *preferred* context overrides the current one. Without a kubeconfig, a pod connects to its own
    cluster.
    """
    files = load(kubeconfig, environment)
    if not files.documents:
        return _in_cluster(kubeconfig, context, namespace, environment, context or preferred)
    named = context or preferred or files.current
    if named is None:
        raise OperationFailed(
            f"{files.label} has no current context", "choose one with --context NAME"
        )
    try:
        chosen = files.context(named)
    except OperationFailed as error:
        if context is None and named == preferred:
            own = "the datacenter names it; choose another with --context"
            error.hint = f"{error.hint}; {own}" if error.hint else own
        raise
    namespace = namespace or chosen.get("namespace") or "default"
    library = cache(partial(_library, files, named, chosen))
    simple = plain(files.cluster(chosen), files.user(chosen), environment)
    if simple is None:
        return Connection.of(library(), namespace)
    host = _CREDENTIALS.sub("", simple.cluster.content["server"]).rstrip("/")
    return Connection(host, namespace, simple.pool, simple.authorization, library)


def _library(files: Kubeconfig, named: str, context: dict[str, Any]) -> Configuration:
    """Load the context *named* with the official client."""
    from kubernetes.client.configuration import Configuration
    from kubernetes.config import ConfigException, load_kube_config

    configuration = Configuration()
    try:
        load_kube_config(  # type: ignore[no-untyped-call]  # a library without types
            os.pathsep.join(files.documents), named, configuration, persist_config=False
        )
    except (ConfigException, OSError, ValueError, KeyError, TypeError, AttributeError):
        # The error quotes entries of the file, which may contain credentials.
        raise OperationFailed(
            f'context "{named}" of {files.label} is unusable: its cluster or user is '
            "missing, incomplete, or names an unreadable file",
            f"for details, run: kubectl --context {named} version",
        ) from None
    user = files.user(context)
    if user is not None and not {"exec", "auth-provider"} & user.content.keys():
        token_file = user.path("tokenFile")
        if token_file is not None:
            # The token in the file is rotated, but the client library reads it only once.
            hook = partial(_read_token, token_file)
            # The library declares its hook as always None.
            configuration.refresh_api_key_hook = hook  # type: ignore[assignment]
    if _CREDENTIALS.search(str(configuration.host)):
        _without_credentials(configuration.refresh_api_key_hook, configuration)
    return configuration


def _pool(configuration: Configuration, size: int) -> urllib3.PoolManager:
    import urllib3
    from kubernetes.client.api_client import ApiClient

    configuration.connection_pool_maxsize = size
    if not configuration.verify_ssl:
        # The kubeconfig disables verification; a warning for every request adds nothing.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    pool: urllib3.PoolManager = ApiClient(configuration).rest_client.pool_manager
    return pool


def _authorization(configuration: Configuration) -> str | None:
    setting = configuration.auth_settings().get("BearerToken")
    return str(setting["value"]) if setting else None


def _without_credentials(
    renew: Callable[[Configuration], None] | None, configuration: Configuration
) -> None:
    """
    Remove credentials from the address, which appears in messages; they are never sent.

    A hook that renews the token restores them and replaces this hook, so it is wrapped.
    """
    if renew is not None:
        renew(configuration)
    hook = partial(_without_credentials, renew)
    # As above, the library declares its hook as always None.
    configuration.refresh_api_key_hook = hook  # type: ignore[assignment]
    configuration.host = _CREDENTIALS.sub("", str(configuration.host))


def _read_token(path: str, configuration: Configuration) -> None:
    from contextlib import suppress

    with suppress(OSError), open(path, encoding="utf-8") as file:
        configuration.api_key["BearerToken"] = f"Bearer {file.read().strip()}"


def _in_cluster(
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    environment: Mapping[str, str],
    wanted: str | None,
) -> Connection:
    """Resolve the connection of a pod to its own cluster; messages name the *wanted* context."""
    inside = environment.get("KUBERNETES_SERVICE_HOST") and not kubeconfig and not context
    if not inside:
        paths = kubeconfig or environment.get("KUBECONFIG") or DEFAULT
        raise NoCluster(
            f"no cluster is configured{f' for context {wanted}' if wanted else ''}: "
            f"kubeconfig {paths} is empty or does not exist",
            "set KUBECONFIG, or give --kubeconfig FILE",
        )
    from kubernetes.client.configuration import Configuration
    from kubernetes.config import ConfigException, load_incluster_config

    configuration = Configuration()
    try:
        load_incluster_config(configuration)  # type: ignore[no-untyped-call]  # as above
        with open(_SERVICE_ACCOUNT, encoding="utf-8") as file:
            own = file.read().strip()
    except (ConfigException, OSError):
        raise OperationFailed(
            "this pod has no service account token for its cluster",
            "set `automountServiceAccountToken: true`, or give --kubeconfig FILE",
        ) from None
    return Connection.of(configuration, namespace or own or "default")
