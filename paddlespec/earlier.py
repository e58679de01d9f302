"""
What earlier clients wrote down about places to run.

Read are three forms of `~/.paddle/config` and OpenPAI's `clusters.yaml`. Values of credentials are
looked at by nobody: only their keys are told, as what could not be carried over.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Diagnostic, InvalidSpec, Span
from paddlespec.source import read as read_yaml

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.document import Document

_SECRETS = frozenset(("password", "token", "passwd", "secret"))
_WHY = {
    "username": "who you are is said by the context of the kubeconfig",
    "user": "who you are is said by the context of the kubeconfig",
    "usercert": "a certificate belongs into the kubeconfig",
    "userkey": "a key belongs into the kubeconfig",
    "endpoint": "there is no such server any more: the kubeconfig has the address of the cluster",
    "paddleServer": "there is no such server any more: the kubeconfig has the address of the "
    "cluster",
    "pai_uri": "there is no such server any more: the kubeconfig has the address of the cluster",
    "dockerRegistry": "a pull secret does that: paddlespec registry add NAME --server SERVER "
    "--username USER --password-stdin",
    "info": "a note of that client",
    "workspace": "a spec says it: spec.workspace",
    "storage_name": "a spec says it: spec.volumes",
    "type": "a note of that client",
}
_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 63


class Found(NamedTuple):
    """Datacenters as plain data, the current one, and what has no place with us."""

    datacenters: list[dict[str, Any]]
    current: str | None
    losses: list[tuple[Span, str]]


def read(content: bytes, name: str) -> Found:
    """Read a file of an earlier client; raises `InvalidSpec` for any other."""
    reading = read_yaml(content, name)
    if reading.diagnostics or len(reading.documents) != 1:
        # What the reader finds may quote the text, and there are passwords in it.
        spans = [each.span for each in reading.diagnostics] or [Span(name)]
        raise InvalidSpec([Diagnostic("syntax", "is not usable YAML", spans[0])])
    document = reading.documents[0]
    data = document.data
    found = Found([], None, [])
    if isinstance(data, list) and all(isinstance(each, dict) for each in data):
        return _openpai(document, found)
    if isinstance(data, dict) and isinstance(data.get("datacenters"), list):
        return _paddlectl(document, found)
    if isinstance(data, dict) and {"paddleServer", "dockerRegistry"} & data.keys():
        return _paddle(document, found)
    if isinstance(data, dict) and any(
        isinstance(each, dict) and {"endpoint", "username"} & each.keys() for each in data.values()
    ):
        return _paddlecloud(document, found)
    hint = "known are the forms of ~/.paddle/config and OpenPAI's clusters.yaml"
    message = "is no configuration of an earlier client"
    raise InvalidSpec([Diagnostic("shape", message, Span(name), (), hint)])


def _paddlectl(document: Document, found: Found) -> Found:
    names: dict[Any, str] = {}
    for index, each in enumerate(document.data["datacenters"]):
        path: Path = ("datacenters", index)
        if not isinstance(each, dict):
            found.losses.append((document.locate(path), "an entry that is no mapping"))
            continue
        name = _add(document, (*path, "name"), each.get("name"), found)
        _lose(document, path, each, ("name",), found)
        if name and isinstance(each.get("name"), str):
            names[each["name"]] = name
    _lose(document, (), document.data, ("datacenters", "current-datacenter"), found)
    return _with_current(document, names, found)


def _paddlecloud(document: Document, found: Found) -> Found:
    names: dict[Any, str] = {}
    for key, each in document.data.items():
        if key == "current-datacenter":
            continue
        if not isinstance(each, dict):
            _lose(document, (), {key: each}, (), found)
            continue
        name = _add(document, (key,), key, found)
        _lose(document, (key,), each, (), found)
        if name:
            names[key] = name
    return _with_current(document, names, found)


def _paddle(document: Document, found: Found) -> Found:
    """The one server of the first client, which gave it no name."""
    if "paddleServer" in document.data:
        _add(document, ("paddleServer",), "paddle", found)
    registry = document.data.get("dockerRegistry")
    if isinstance(registry, dict):
        inner = {key: each for key, each in registry.items() if key in _SECRETS}
        _lose(document, ("dockerRegistry",), inner, (), found)
    _lose(document, (), document.data, ("apiVersion",), found)
    return found._replace(current="paddle" if found.datacenters else None)


def _openpai(document: Document, found: Found) -> Found:
    for index, each in enumerate(document.data):
        name = _add(document, (index, "cluster_alias"), each.get("cluster_alias"), found)
        kept = ("cluster_alias", "virtual_clusters", "storages")
        _lose(document, (index,), each, kept, found)
        if name is None:
            continue
        queues = _labels(document, (index, "virtual_clusters"), found, None)
        storages = _labels(document, (index, "storages"), found, "storage_name")
        found.datacenters[-1]["queues"] = {each: each for each in queues}
        found.datacenters[-1]["storages"] = {each: {"claim": each} for each in storages}
    return found


def _with_current(document: Document, names: dict[Any, str], found: Found) -> Found:
    current = document.at(("current-datacenter",))
    if current is None:
        return found
    if not isinstance(current, str) or current not in names:
        span = document.locate(("current-datacenter",))
        found.losses.append((span, "current-datacenter: it is none of those in the file"))
        return found
    return found._replace(current=names[current])


def _add(document: Document, path: Path, name: Any, found: Found) -> str | None:
    """A datacenter under the nearest name that may stand in a label."""
    span = document.locate(path)
    label = _label(name)
    if label is None:
        found.losses.append((span, "a datacenter without a usable name"))
        return None
    if any(each["name"] == label for each in found.datacenters):
        found.losses.append((span, f"a second datacenter that would be called {label}"))
        return None
    if label != name:
        found.losses.append((span, f"its name as it is written; it is called {label}"))
    found.datacenters.append({"name": label, "place": str(span)})
    return label


def _lose(
    document: Document, path: Path, data: dict[str, Any], kept: tuple[str, ...], found: Found
) -> None:
    """Tell each key that has no place with us; never its value."""
    for key in data:
        if key in kept:
            continue
        span = document.locate_key((*path, key))
        if key in _SECRETS:
            told = f"{key}: it is neither kept nor shown; remove it from this file"
        else:
            told = f"{_shown(key)}: {_WHY.get(key, 'nothing here means the same')}"
        found.losses.append((span, told))


def _labels(document: Document, path: Path, found: Found, key: str | None) -> list[str]:
    """The usable names in a list of names, or of mappings that have one."""
    listed = document.at(path)
    labels: list[str] = []
    for index, each in enumerate(listed if isinstance(listed, list) else ()):
        name = each.get(key or "name", each.get("name")) if isinstance(each, dict) else each
        label = _label(name)
        if label is None or label != name:
            told = f"{path[-1]}: a name that Kubernetes would not take"
            found.losses.append((document.locate((*path, index)), told))
        else:
            labels.append(label)
            rest = [inner for inner in each if inner not in (key, "name")] if key else []
            if isinstance(each, dict) and rest:
                told = f"{path[-1]}: all but the name of {label}; it is taken for a claim"
                found.losses.append((document.locate((*path, index)), told))
    return list(dict.fromkeys(labels))


def _label(name: Any) -> str | None:
    if isinstance(name, (dict, list)) or name is None:
        return None
    return _OTHER.sub("-", str(name).lower()).strip("-")[:_LONGEST].strip("-") or None


def _shown(key: str) -> str:
    """A key is no secret, but who knows what somebody has put there."""
    return key if re.fullmatch(r"[\w.-]{1,40}", key) else "a key"
