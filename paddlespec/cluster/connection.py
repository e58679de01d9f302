"""Which cluster: the kubeconfig, context and namespace that kubectl would use."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from kubernetes.client.configuration import Configuration
from kubernetes.config import ConfigException, load_incluster_config, load_kube_config

from paddlespec.backend import OperationFailed
from paddlespec.diagnostic import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DEFAULT = "~/.kube/config"
_CREDENTIALS = re.compile(r"(?<=://)[^/]*@")
_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


class Connection(NamedTuple):
    """An address with its credentials, and the namespace for objects that name none."""

    configuration: Configuration
    namespace: str


def resolve(
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    preferred: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Connection:
    """
    The connection that kubectl would make with these options and variables.

    A *preferred* context goes before the current one; in a pod without a kubeconfig there is none.
    """
    read = {path: _read(path) for path in _files(kubeconfig, environment)}
    # The client refuses empty files; to kubectl they say nothing.
    files = [path for path in read if read[path]]
    documents = [read[path] for path in files]
    if not documents:
        return _in_cluster(kubeconfig, context, namespace, environment)
    named = context or preferred or _current(documents)
    if named is None:
        raise OperationFailed(
            f"{_named(files)} sets no current context", "choose one with --context NAME"
        )
    try:
        chosen = _context(documents, named, files)
    except OperationFailed as error:
        if context is None and named == preferred:
            own = "the datacenter names it; --context chooses another"
            error.hint = f"{error.hint}; {own}" if error.hint else own
        raise
    configuration = Configuration()
    try:
        load_kube_config(  # type: ignore[no-untyped-call]
            os.pathsep.join(files), named, configuration, persist_config=False
        )
    except (ConfigException, OSError, ValueError, KeyError, TypeError, AttributeError):
        # The error quotes entries of the file, and those hold credentials.
        raise OperationFailed(
            f'context "{named}" of {_named(files)} is not usable: its cluster or user is '
            "missing, incomplete, or names a file that cannot be read",
            f"see what `kubectl --context {named} version` says",
        ) from None
    token_file = _token_file(read, chosen)
    if token_file is not None:
        # The client reads it once, and whoever writes it puts a new token there in time.
        hook = partial(_read_token, token_file)
        configuration.refresh_api_key_hook = hook  # type: ignore[assignment]
    if _CREDENTIALS.search(str(configuration.host)):
        _plain(configuration.refresh_api_key_hook, configuration)
    return Connection(configuration, namespace or chosen.get("namespace") or "default")


def _plain(renew: Callable[[Configuration], None] | None, configuration: Configuration) -> None:
    """
    Leave credentials out of the address, which messages name; they are sent to nobody.

    Whoever renews a token brings them back, and puts itself in the place of this.
    """
    if renew is not None:
        renew(configuration)
    configuration.refresh_api_key_hook = partial(_plain, renew)  # type: ignore[assignment]
    configuration.host = _CREDENTIALS.sub("", str(configuration.host))


def _token_file(read: Mapping[str, dict[str, Any]], chosen: dict[str, Any]) -> str | None:
    """The file that the token of a context's user is in, relative to the file that says so."""
    for path, document in read.items():
        listed = document.get("users")
        for each in listed if isinstance(listed, list) else ():
            if not isinstance(each, dict) or each.get("name") != chosen.get("user"):
                continue
            user = each.get("user")
            if not isinstance(user, dict) or "exec" in user or "auth-provider" in user:
                return None
            found = user.get("tokenFile")
            return os.path.join(os.path.dirname(path), str(found)) if found else None
    return None


def _read_token(path: str, configuration: Configuration) -> None:
    with suppress(OSError), open(path, encoding="utf-8") as file:
        configuration.api_key["BearerToken"] = f"Bearer {file.read().strip()}"


def _files(kubeconfig: str | None, environment: Mapping[str, str]) -> list[str]:
    if kubeconfig is not None:
        if not os.path.exists(os.path.expanduser(kubeconfig)):
            raise OperationFailed(f"there is no kubeconfig {kubeconfig}")
        return [os.path.expanduser(kubeconfig)]
    listed = environment.get("KUBECONFIG") or _DEFAULT
    paths = [os.path.expanduser(each) for each in listed.split(os.pathsep) if each]
    return [each for each in paths if os.path.exists(each)]


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = yaml.safe_load(file)
    except OSError as error:
        reason = (error.strerror or "not readable").lower()
        raise OperationFailed(f"kubeconfig {path} cannot be read: {reason}") from None
    except (yaml.YAMLError, ValueError):
        raise OperationFailed(f"kubeconfig {path} is not YAML") from None
    if found is not None and not isinstance(found, dict):
        raise OperationFailed(f"kubeconfig {path} is not a kubeconfig")
    return found or {}


def _current(documents: list[dict[str, Any]]) -> str | None:
    """The current context; as in kubectl, the first file that sets it wins."""
    found = (each.get("current-context") for each in documents)
    return next((str(each) for each in found if each), None)


def _context(documents: list[dict[str, Any]], name: str, files: list[str]) -> dict[str, Any]:
    contexts: dict[str, dict[str, Any]] = {}
    for document in documents:
        listed = document.get("contexts")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, dict) and isinstance(each.get("context"), dict):
                contexts.setdefault(str(each.get("name")), each["context"])
    if name not in contexts:
        hint = did_you_mean(name, contexts)
        hint = hint or (f"there is {', '.join(contexts)}" if contexts else None)
        raise OperationFailed(f'{_named(files)} has no context "{name}"', hint)
    return contexts[name]


def _in_cluster(
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    environment: Mapping[str, str],
) -> Connection:
    """The connection of a pod; without one there is no cluster to talk to."""
    inside = environment.get("KUBERNETES_SERVICE_HOST") and not kubeconfig and not context
    if not inside:
        looked = kubeconfig or environment.get("KUBECONFIG") or _DEFAULT
        raise OperationFailed(
            f"no cluster is configured: there is nothing in {looked}",
            "set KUBECONFIG or give --kubeconfig FILE, the one that kubectl uses",
        )
    configuration = Configuration()
    try:
        load_incluster_config(configuration)  # type: ignore[no-untyped-call]
        with open(_SERVICE_ACCOUNT, encoding="utf-8") as file:
            own = file.read().strip()
    except (ConfigException, OSError):
        raise OperationFailed(
            "this pod has no service account token, so it may not talk to its cluster",
            "set `automountServiceAccountToken: true`, or give --kubeconfig FILE",
        ) from None
    return Connection(configuration, namespace or own or "default")


def _named(files: list[str]) -> str:
    return f"kubeconfig {os.pathsep.join(files)}"
