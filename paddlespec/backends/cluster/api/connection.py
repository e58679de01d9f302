"""Resolve the kubeconfig, context and namespace as kubectl does."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from kubernetes.client.configuration import Configuration
from kubernetes.config import ConfigException, load_incluster_config, load_kube_config

from paddlespec.diagnostic import did_you_mean
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DEFAULT = "~/.kube/config"
_CREDENTIALS = re.compile(r"(?<=://)[^/]*@")
_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


class Connection(NamedTuple):
    """An API server with credentials, and the namespace for objects that name none."""

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
    Resolve the connection that kubectl makes with these options and variables.

    A *preferred* context overrides the current one. Without a kubeconfig, a pod connects to its own
    cluster.
    """
    read = {path: _read(path) for path in _files(kubeconfig, environment)}
    # kubectl ignores empty files, but the client library refuses them.
    files = [path for path in read if read[path]]
    documents = [read[path] for path in files]
    if not documents:
        return _in_cluster(kubeconfig, context, namespace, environment)
    named = context or preferred or _current(documents)
    if named is None:
        raise OperationFailed(
            f"{_named(files)} has no current context", "choose one with --context NAME"
        )
    try:
        chosen = _context(documents, named, files)
    except OperationFailed as error:
        if context is None and named == preferred:
            own = "the datacenter names it; choose another with --context"
            error.hint = f"{error.hint}; {own}" if error.hint else own
        raise
    configuration = Configuration()
    try:
        load_kube_config(  # type: ignore[no-untyped-call]
            os.pathsep.join(files), named, configuration, persist_config=False
        )
    except (ConfigException, OSError, ValueError, KeyError, TypeError, AttributeError):
        # The error quotes entries of the file, which may contain credentials.
        raise OperationFailed(
            f'context "{named}" of {_named(files)} is unusable: its cluster or user is '
            "missing, incomplete, or names an unreadable file",
            f"for details, run: kubectl --context {named} version",
        ) from None
    token_file = _token_file(read, chosen)
    if token_file is not None:
        # The token in the file is rotated, but the client library reads it only once.
        hook = partial(_read_token, token_file)
        configuration.refresh_api_key_hook = hook  # type: ignore[assignment]
    if _CREDENTIALS.search(str(configuration.host)):
        _plain(configuration.refresh_api_key_hook, configuration)
    return Connection(configuration, namespace or chosen.get("namespace") or "default")


def _plain(renew: Callable[[Configuration], None] | None, configuration: Configuration) -> None:
    """
    Remove credentials from the address, which appears in messages; they are never sent.

    A hook that renews the token restores them and replaces this hook, so it is wrapped.
    """
    if renew is not None:
        renew(configuration)
    configuration.refresh_api_key_hook = partial(_plain, renew)  # type: ignore[assignment]
    configuration.host = _CREDENTIALS.sub("", str(configuration.host))


def _token_file(read: Mapping[str, dict[str, Any]], chosen: dict[str, Any]) -> str | None:
    """Return the token file of a context's user, relative to the kubeconfig that names it."""
    for path, document in read.items():
        listed = document.get("users")
        for entry in listed if isinstance(listed, list) else ():
            if not isinstance(entry, dict) or entry.get("name") != chosen.get("user"):
                continue
            user = entry.get("user")
            if not isinstance(user, dict) or "exec" in user or "auth-provider" in user:
                return None
            token_file = user.get("tokenFile")
            return os.path.join(os.path.dirname(path), str(token_file)) if token_file else None
    return None


def _read_token(path: str, configuration: Configuration) -> None:
    with suppress(OSError), open(path, encoding="utf-8") as file:
        configuration.api_key["BearerToken"] = f"Bearer {file.read().strip()}"


def _files(kubeconfig: str | None, environment: Mapping[str, str]) -> list[str]:
    if kubeconfig is not None:
        if not os.path.exists(os.path.expanduser(kubeconfig)):
            raise OperationFailed(f"kubeconfig {kubeconfig} does not exist")
        return [os.path.expanduser(kubeconfig)]
    listed = environment.get("KUBECONFIG") or _DEFAULT
    paths = [os.path.expanduser(path) for path in listed.split(os.pathsep) if path]
    return [path for path in paths if os.path.exists(path)]


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            document = yaml.safe_load(file)
    except OSError as error:
        reason = (error.strerror or "not readable").lower()
        raise OperationFailed(f"cannot read kubeconfig {path}: {reason}") from None
    except (yaml.YAMLError, ValueError):
        raise OperationFailed(f"kubeconfig {path} is not valid YAML") from None
    if document is not None and not isinstance(document, dict):
        raise OperationFailed(f"kubeconfig {path} is not a kubeconfig")
    return document or {}


def _current(documents: list[dict[str, Any]]) -> str | None:
    """Return the current context; as in kubectl, the first file that sets it wins."""
    names = (document.get("current-context") for document in documents)
    return next((str(name) for name in names if name), None)


def _context(documents: list[dict[str, Any]], name: str, files: list[str]) -> dict[str, Any]:
    contexts: dict[str, dict[str, Any]] = {}
    for document in documents:
        listed = document.get("contexts")
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("context"), dict):
                contexts.setdefault(str(entry.get("name")), entry["context"])
    if name not in contexts:
        hint = did_you_mean(name, contexts)
        hint = hint or (f"use one of: {', '.join(contexts)}" if contexts else None)
        raise OperationFailed(f'{_named(files)} has no context "{name}"', hint)
    return contexts[name]


def _in_cluster(
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    environment: Mapping[str, str],
) -> Connection:
    """Resolve the connection of a pod to its own cluster."""
    inside = environment.get("KUBERNETES_SERVICE_HOST") and not kubeconfig and not context
    if not inside:
        paths = kubeconfig or environment.get("KUBECONFIG") or _DEFAULT
        raise OperationFailed(
            f"no cluster is configured: kubeconfig {paths} is empty or does not exist",
            "set KUBECONFIG, or give --kubeconfig FILE",
        )
    configuration = Configuration()
    try:
        load_incluster_config(configuration)  # type: ignore[no-untyped-call]
        with open(_SERVICE_ACCOUNT, encoding="utf-8") as file:
            own = file.read().strip()
    except (ConfigException, OSError):
        raise OperationFailed(
            "this pod has no service account token for its cluster",
            "set `automountServiceAccountToken: true`, or give --kubeconfig FILE",
        ) from None
    return Connection(configuration, namespace or own or "default")


def _named(files: list[str]) -> str:
    return f"kubeconfig {os.pathsep.join(files)}"
