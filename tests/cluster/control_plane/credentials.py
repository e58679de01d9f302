"""Write the files that let users and servers in: the token list and the kubeconfigs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ADMINISTRATORS = (
    *("admin", "harness", "controller-manager", "scheduler", "kubelet"),
    *("jobset", "kueue"),
)
USERS = ("runner", "reader", "nobody")


def token_of(user: str) -> str:
    """Derive a user's token, which protects nothing.

    The server listens on loopback and lives for one session.
    """
    return f"{user}-token"


def write_tokens(path: Path) -> None:
    """
    List every user.

    The servers have their own names, so the audit log can distinguish them from tests.
    """
    lines = [f'{token_of(name)},{name},{name},"system:masters"' for name in ADMINISTRATORS]
    lines += [f"{token_of(name)},{name},{name}" for name in USERS]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_kubeconfig(
    path: Path, *, server: str, ca: Path, user: str, token: str, namespace: str = "default"
) -> Path:
    """Write a kubeconfig with one context; JSON is YAML, so no YAML library is needed."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "test", "cluster": {"server": server, "certificate-authority": str(ca)}}
        ],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [
            {"name": "test", "context": {"cluster": "test", "user": user, "namespace": namespace}}
        ],
        "current-context": "test",
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    path.chmod(0o600)
    return path
