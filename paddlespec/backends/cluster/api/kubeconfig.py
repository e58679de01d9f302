"""
Read kubeconfigs: which files, which context, and the entries it names.

Several files are merged as kubectl merges them: the first file that has an entry wins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from paddlespec.diagnostic import did_you_mean
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT = "~/.kube/config"
_MAX_DEPTH = 64


class Entry(NamedTuple):
    """The content of a cluster or user, and the folder its relative paths start from."""

    content: dict[str, Any]
    folder: str

    def path(self, key: str) -> str | None:
        """Return the path under *key*, or None if it is not set."""
        value = self.content.get(key)
        return os.path.join(self.folder, str(value)) if value else None


class Kubeconfig(NamedTuple):
    """The files that exist and are not empty, in order, with their parsed content."""

    documents: dict[str, dict[str, Any]]

    @property
    def label(self) -> str:
        """The files, for messages."""
        return f"kubeconfig {os.pathsep.join(self.documents)}"

    @property
    def current(self) -> str | None:
        """The current context; the first file that sets it wins."""
        names = (document.get("current-context") for document in self.documents.values())
        return next((str(name) for name in names if name), None)

    @property
    def contexts(self) -> list[str]:
        """The names of all contexts."""
        return list(self._entries("contexts", "context"))

    def context(self, name: str) -> dict[str, Any]:
        """Return the context *name*; raises `OperationFailed` if there is none."""
        contexts = self._entries("contexts", "context")
        if name not in contexts:
            hint = did_you_mean(name, contexts)
            hint = hint or (f"use one of: {', '.join(contexts)}" if contexts else None)
            raise OperationFailed(f'{self.label} has no context "{name}"', hint)
        return contexts[name].content

    def user(self, context: dict[str, Any]) -> Entry | None:
        """Return the user of *context*, or None if no file has it."""
        return self._entries("users", "user").get(str(context.get("user")))

    def cluster(self, context: dict[str, Any]) -> Entry | None:
        """Return the cluster of *context*, or None if no file has it."""
        return self._entries("clusters", "cluster").get(str(context.get("cluster")))

    def _entries(self, section: str, key: str) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        for path, document in self.documents.items():
            listed = document.get(section)
            for item in listed if isinstance(listed, list) else ():
                if isinstance(item, dict) and isinstance(item.get(key), dict):
                    folder = os.path.dirname(os.path.abspath(path))
                    entries.setdefault(str(item.get("name")), Entry(item[key], folder))
        return entries


def load(kubeconfig: str | None, environment: Mapping[str, str]) -> Kubeconfig:
    """Read the files that kubectl reads; raises `OperationFailed` if one is unusable."""
    read = {path: _read(path) for path in _files(kubeconfig, environment)}
    return Kubeconfig({path: document for path, document in read.items() if document})


def _files(kubeconfig: str | None, environment: Mapping[str, str]) -> list[str]:
    if kubeconfig is not None:
        if not os.path.exists(os.path.expanduser(kubeconfig)):
            raise OperationFailed(f"kubeconfig {kubeconfig} does not exist")
        return [os.path.expanduser(kubeconfig)]
    listed = environment.get("KUBECONFIG") or DEFAULT
    paths = [os.path.expanduser(path) for path in listed.split(os.pathsep) if path]
    return [path for path in paths if os.path.exists(path)]


def _parsed(text: str) -> Any:
    """Parse YAML; libyaml builds data recursively, and deep nesting would overflow its stack."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    for event in yaml.parse(text, loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
    return yaml.load(text, loader)  # noqa: S506 - a safe one


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            document = _parsed(file.read())
    except OSError as error:
        reason = (error.strerror or "not readable").lower()
        raise OperationFailed(f"cannot read kubeconfig {path}: {reason}") from None
    except (yaml.YAMLError, ValueError):
        raise OperationFailed(f"kubeconfig {path} is not valid YAML") from None
    if document is not None and not isinstance(document, dict):
        raise OperationFailed(f"kubeconfig {path} is not a kubeconfig")
    return document or {}
