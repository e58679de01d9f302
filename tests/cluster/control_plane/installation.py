"""
The published manifests of a controller, without the parts that need pods and networks.

Roles, services and the Deployment are left out: the controller runs on this machine, as an
administrator, and its webhooks are called on loopback.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from control_plane.commands import LOOPBACK
from control_plane.extensions import newest_alone

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Manifest = dict[str, Any]
CONFIGURATION = "controller_manager_config.yaml"


class Installation(NamedTuple):
    """What the cluster needs before a controller can run, and the controller's configuration."""

    namespace: Manifest
    secrets: Sequence[Manifest]
    definitions: Sequence[Manifest]
    hooks: Sequence[Manifest]
    configuration: Manifest

    @property
    def hook_paths(self) -> set[str]:
        """Return the paths of the controller's webhooks."""
        return {
            urlsplit(webhook["clientConfig"]["url"]).path
            for hook in self.hooks
            for webhook in hook["webhooks"]
        }


def installation(published: str, *, port: int, authority: Path) -> Installation:
    """Read published manifests; webhooks call *port*, whose certificate *authority* vouches for."""
    manifests: list[Manifest] = list(yaml.load_all(published, yaml.CSafeLoader))

    def of_kind(*kinds: str) -> list[Manifest]:
        return [manifest for manifest in manifests if manifest["kind"] in kinds]

    bundle = base64.b64encode(authority.read_bytes()).decode()
    [namespace] = of_kind("Namespace")
    [settings] = of_kind("ConfigMap")
    return Installation(
        namespace,
        of_kind("Secret"),
        [_definition(manifest) for manifest in of_kind("CustomResourceDefinition")],
        [
            _on_loopback(manifest, port, bundle)
            for manifest in of_kind(
                "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"
            )
        ],
        yaml.safe_load(settings["data"][CONFIGURATION]),
    )


def _definition(published: Manifest) -> Manifest:
    """
    Return a definition with its newest version only, so nothing has to convert it.

    Kueue does not start before it has written its authority into the conversions.
    """
    definition = newest_alone(published)
    conversion = published["spec"].get("conversion", {"strategy": "None"})
    return {**definition, "spec": {**definition["spec"], "conversion": conversion}}


def _on_loopback(hook: Manifest, port: int, bundle: str) -> Manifest:
    def client(service: Manifest) -> Manifest:
        return {"url": f"https://{LOOPBACK}:{port}{service['path']}", "caBundle": bundle}

    webhooks = [
        {**webhook, "clientConfig": client(webhook["clientConfig"]["service"])}
        for webhook in hook["webhooks"]
    ]
    return {**hook, "webhooks": webhooks}
