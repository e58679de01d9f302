"""
Read the configurations of earlier clients.

Supported are three formats of `~/.paddle/config`, and `clusters.yaml` of OpenPAI. Credential values
are never read; only their keys are reported as not imported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.diagnostic import Diagnostic, InvalidSpec, Span
from paddlespec.spec.source import read as read_yaml

if TYPE_CHECKING:
    from paddlespec.diagnostic import Path
    from paddlespec.spec.document import Document

_SECRETS = frozenset(("password", "token", "passwd", "secret"))
_NO_SERVER = "this server no longer exists; the kubeconfig contains the address of the cluster"
_REASONS = {
    "username": "the kubeconfig context identifies the user",
    "user": "the kubeconfig context identifies the user",
    "usercert": "add the certificate to the kubeconfig",
    "userkey": "add the key to the kubeconfig",
    "endpoint": _NO_SERVER,
    "paddleServer": _NO_SERVER,
    "pai_uri": _NO_SERVER,
    "dockerRegistry": "create a pull secret instead: paddlespec registry add NAME --server SERVER "
    "--username USER --password-stdin",
    "info": "used only by that client",
    "workspace": "set spec.workspace in the spec",
    "storage_name": "set spec.volumes in the spec",
    "type": "used only by that client",
}
_DEFAULT = "default_storage_alias"
_NAMES, _URL = ("storage_name", "storage_alias", "name"), "web_hdfs_uri"
# A URL with a user may hold a password, and one with a query a token.
_PLAIN_URL = re.compile(r"[a-z][a-z0-9+]*://[\w.-]+(:[0-9]+)?(/[\w./-]*)?\Z")
_OTHER = re.compile(r"[^a-z0-9]+")
_MAX_LENGTH = 63


class Imported(NamedTuple):
    """The imported datacenters, the current one, and the settings that are not imported."""

    datacenters: list[dict[str, Any]]
    current: str | None
    losses: list[tuple[Span, str]]


def read(content: bytes, name: str) -> Imported:
    """Read a configuration of an earlier client; raises `InvalidSpec` for any other file."""
    reading = read_yaml(content, name)
    if reading.diagnostics or len(reading.documents) != 1:
        # The diagnostics are not shown: they may quote the text, which contains passwords.
        spans = [diagnostic.span for diagnostic in reading.diagnostics] or [Span(name)]
        raise InvalidSpec([Diagnostic("syntax", "not a valid YAML document", spans[0])])
    document = reading.documents[0]
    data = document.data
    imported = Imported([], None, [])
    if isinstance(data, list) and all(isinstance(item, dict) for item in data):
        return _openpai(document, imported)
    if isinstance(data, dict) and isinstance(data.get("datacenters"), list):
        return _paddlectl(document, imported)
    if isinstance(data, dict) and {"paddleServer", "dockerRegistry"} & data.keys():
        return _paddle(document, imported)
    if isinstance(data, dict) and any(
        isinstance(member, dict) and {"endpoint", "username"} & member.keys()
        for member in data.values()
    ):
        return _paddlecloud(document, imported)
    hint = "use a ~/.paddle/config, or a clusters.yaml of OpenPAI"
    message = "not a configuration of an earlier client"
    raise InvalidSpec([Diagnostic("shape", message, Span(name), (), hint)])


def _paddlectl(document: Document, imported: Imported) -> Imported:
    names: dict[Any, str] = {}
    for index, datacenter in enumerate(document.data["datacenters"]):
        path: Path = ("datacenters", index)
        if not isinstance(datacenter, dict):
            imported.losses.append((document.locate(path), "an entry that is not a mapping"))
            continue
        name = _add(document, (*path, "name"), datacenter.get("name"), imported)
        _lose(document, path, datacenter, ("name",), imported)
        if name and isinstance(datacenter.get("name"), str):
            names[datacenter["name"]] = name
    _lose(document, (), document.data, ("datacenters", "current-datacenter"), imported)
    return _with_current(document, names, imported)


def _paddlecloud(document: Document, imported: Imported) -> Imported:
    names: dict[Any, str] = {}
    for key, value in document.data.items():
        if key == "current-datacenter":
            continue
        if not isinstance(value, dict):
            _lose(document, (), {key: value}, (), imported)
            continue
        name = _add(document, (key,), key, imported)
        _lose(document, (key,), value, (), imported)
        if name:
            names[key] = name
    return _with_current(document, names, imported)


def _paddle(document: Document, imported: Imported) -> Imported:
    """Read the configuration of the first client, which had one server without a name."""
    if "paddleServer" in document.data:
        _add(document, ("paddleServer",), "paddle", imported)
    registry = document.data.get("dockerRegistry")
    if isinstance(registry, dict):
        inner = {key: value for key, value in registry.items() if key in _SECRETS}
        _lose(document, ("dockerRegistry",), inner, (), imported)
    _lose(document, (), document.data, ("apiVersion",), imported)
    return imported._replace(current="paddle" if imported.datacenters else None)


def _openpai(document: Document, imported: Imported) -> Imported:
    for index, entry in enumerate(document.data):
        name = _add(document, (index, "cluster_alias"), entry.get("cluster_alias"), imported)
        kept = ("cluster_alias", "virtual_clusters", "storages", _DEFAULT)
        _lose(document, (index,), entry, kept, imported)
        if name is None:
            continue
        queues = _labels(document, (index, "virtual_clusters"), imported)
        imported.datacenters[-1]["queues"] = {queue: queue for queue in queues}
        storages = _storages(document, (index, "storages"), imported)
        imported.datacenters[-1]["storages"] = storages
        if _DEFAULT in entry:
            _add_default(document, (index, _DEFAULT), storages, imported)
    return imported


def _with_current(document: Document, names: dict[Any, str], imported: Imported) -> Imported:
    current = document.at(("current-datacenter",))
    if current is None:
        return imported
    if not isinstance(current, str) or current not in names:
        span = document.locate(("current-datacenter",))
        imported.losses.append((span, "current-datacenter: not one of the datacenters of the file"))
        return imported
    return imported._replace(current=names[current])


def _add(document: Document, path: Path, name: Any, imported: Imported) -> str | None:
    """Add a datacenter, with its name converted to a label value."""
    span = document.locate(path)
    label = _label(name)
    if label is None:
        imported.losses.append((span, "a datacenter without a valid name"))
        return None
    if any(datacenter["name"] == label for datacenter in imported.datacenters):
        imported.losses.append((span, f"a second datacenter with the name {label}"))
        return None
    if label != name:
        imported.losses.append((span, f"the original name; the datacenter is named {label}"))
    imported.datacenters.append({"name": label, "place": str(span)})
    return label


def _lose(
    document: Document, path: Path, data: dict[str, Any], kept: tuple[str, ...], imported: Imported
) -> None:
    """Report the keys that are not imported, without their values."""
    for key in data:
        if key in kept:
            continue
        span = document.locate_key((*path, key))
        if key in _SECRETS:
            reason = f"{key}: credentials are neither read nor stored; remove it from this file"
        else:
            reason = f"{_shown(key)}: {_REASONS.get(key, 'there is no equivalent setting')}"
        imported.losses.append((span, reason))


def _storages(document: Document, path: Path, imported: Imported) -> dict[str, dict[str, str]]:
    """Return the storages of a cluster by name; a storage without a URL becomes a claim."""
    entries = document.at(path)
    storages: dict[str, dict[str, str]] = {}
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        span = document.locate((*path, index))
        settings = entry if isinstance(entry, dict) else {"name": entry}
        name = next((settings[key] for key in _NAMES if settings.get(key)), None)
        label = _label(name)
        if label is None or label in storages:
            imported.losses.append((span, f"{path[-1]}: a storage without a name of its own"))
            continue
        if label != name:
            imported.losses.append((span, f"the original name; the storage is named {label}"))
        url = settings.get(_URL)
        is_url = isinstance(url, str) and bool(_PLAIN_URL.match(url))
        storages[label] = {"url": str(url)} if is_url else {"claim": label}
        rest = settings.keys() - {*_NAMES, *((_URL,) if is_url else ())}
        if rest:
            kept = "its URL is kept" if is_url else "its name is used as a claim"
            imported.losses.append((span, f"{path[-1]}: other settings of {label}; {kept}"))
    return storages


def _add_default(
    document: Document, path: Path, storages: dict[str, dict[str, str]], imported: Imported
) -> None:
    """Name the default storage `default`, too, so volumes need not know its name."""
    name = _label(document.at(path))
    if name in storages:
        storages.setdefault("default", storages[name])
    else:
        reason = f"{path[-1]}: not one of the storages of the cluster"
        imported.losses.append((document.locate(path), reason))


def _labels(document: Document, path: Path, imported: Imported) -> list[str]:
    """Return the valid names in a list of names, or of mappings with a name."""
    entries = document.at(path)
    labels: list[str] = []
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        name = entry.get("name") if isinstance(entry, dict) else entry
        label = _label(name)
        if label is None or label != name:
            reason = f"{path[-1]}: a name that is not valid in Kubernetes"
            imported.losses.append((document.locate((*path, index)), reason))
        else:
            labels.append(label)
    return list(dict.fromkeys(labels))


def _label(name: Any) -> str | None:
    if isinstance(name, (dict, list)) or name is None:
        return None
    return _OTHER.sub("-", str(name).lower()).strip("-")[:_MAX_LENGTH].strip("-") or None


def _shown(key: str) -> str:
    """Return *key* if it looks like a key; anything else could be a secret."""
    return key if re.fullmatch(r"[\w.-]{1,40}", key) else "a key"
