"""The real controllers of JobSet and Kueue, run beside the test control plane."""

from __future__ import annotations

import json
import shutil
import ssl
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError

import pytest

from control_plane.commands import LOOPBACK, certificate, certificates, unused_ports
from control_plane.controllers_build import Build, controller_build
from control_plane.credentials import token_of, write_kubeconfig
from control_plane.extensions import served
from control_plane.installation import installation
from control_plane.process import launch, stop
from control_plane.start import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from control_plane.installation import Installation, Manifest
    from control_plane.plane import ControlPlane

NAMESPACES = "/api/v1/namespaces"
HOOKS = "/apis/admissionregistration.k8s.io/v1"


class Controller(NamedTuple):
    """What a controller needs here beyond its published configuration."""

    settings: Mapping[str, Any]
    flags: tuple[str, ...] = ()


CONTROLLERS = {
    "jobset": Controller({"internalCertManagement": {"enable": False}}),
    "kueue": Controller(
        {
            # Unless it makes certificates, Kueue reads some from a fixed folder below /etc. It
            # would write its own authority into the webhooks of its service: this one has none.
            "internalCertManagement": {
                "enable": True,
                "webhookServiceName": "unused-webhook-service",
                "webhookSecretName": "kueue-webhook-server-cert",
            }
        },
        ("--feature-gates=VisibilityOnDemand=false",),
    ),
}


@contextmanager
def running(plane: ControlPlane, *names: str) -> Iterator[None]:
    """
    Run `jobset`, `kueue` or both, in any order.

    Afterwards their kinds and webhooks are removed from the cluster.
    """
    if not plane.owned:
        pytest.skip("only an API server on this machine reaches webhooks on loopback")
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(_running(plane, name, controller_build(name)))
        yield


@contextmanager
def _running(plane: ControlPlane, name: str, build: Build) -> Iterator[None]:
    health, port = unused_ports(2)
    published = plane.kubectl("kustomize", str(build.config / "default")).stdout
    parts = installation(published, port=port, authority=certificate(plane.folder))
    folder = plane.folder / name
    folder.mkdir(exist_ok=True)
    configuration = {
        **parts.configuration,
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{health}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": LOOPBACK, "port": port, "certDir": str(folder)},
        "leaderElection": {"leaderElect": False},
        **CONTROLLERS[name].settings,
    }
    with _namespace(plane, parts), served(plane, parts.definitions):
        server = launch(name, _command(plane, name, build, folder, configuration), folder)
        try:
            serves = partial(_serves, port, parts.hook_paths)
            wait_for(serves, [server], f"the webhooks of {name}")
            for hook in parts.hooks:
                plane.request("POST", _path(hook), hook)
            yield
        finally:
            # Webhooks without a server would refuse the writes that follow.
            for hook in parts.hooks:
                with suppress(HTTPError):
                    plane.request("DELETE", f"{_path(hook)}/{hook['metadata']['name']}")
            stop([server])
            for definition in parts.definitions:
                plane.eventually(partial(_emptied, plane, definition), within=60)


def _path(hook: Manifest) -> str:
    return f"{HOOKS}/{hook['kind'].lower()}s"


def _command(
    plane: ControlPlane, name: str, build: Build, folder: Path, configuration: Manifest
) -> Sequence[str]:
    """Write the files that a controller reads, and return its command line."""
    for suffix in ("crt", "key"):
        shutil.copyfile(
            certificates(plane.folder) / f"apiserver.{suffix}", folder / f"tls.{suffix}"
        )
    settings = folder / "configuration.json"
    settings.write_text(json.dumps(configuration), encoding="utf-8")
    kubeconfig = write_kubeconfig(
        folder / "kubeconfig", server=plane.server, ca=plane.ca, user=name, token=token_of(name)
    )
    return (
        str(build.program),
        f"--config={settings}",
        f"--kubeconfig={kubeconfig}",
        *CONTROLLERS[name].flags,
    )


@contextmanager
def _namespace(plane: ControlPlane, parts: Installation) -> Iterator[None]:
    """Create the namespace of a controller with its Secrets; its deletion is not awaited."""
    name = parts.namespace["metadata"]["name"]
    plane.eventually(partial(_created, plane, parts.namespace), within=60)
    for secret in parts.secrets:
        plane.request("POST", f"{NAMESPACES}/{name}/secrets", secret)
    try:
        yield
    finally:
        plane.request("DELETE", f"{NAMESPACES}/{name}")


def _created(plane: ControlPlane, namespace: Manifest) -> bool:
    """Create a namespace, unless one of this name is still being deleted."""
    try:
        plane.request("POST", NAMESPACES, namespace)
    except HTTPError as error:
        if error.code != 409:
            raise
        return False
    return True


def _serves(port: int, paths: set[str]) -> bool:
    """Check that a webhook responds at every path, whatever it says to an empty review."""
    context = ssl._create_unverified_context()
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    for path in paths:
        request = urllib.request.Request(f"https://{LOOPBACK}:{port}{path}", b"{}")
        request.add_header("Content-Type", "application/json")
        try:
            opener.open(request, timeout=5).close()
        except (urllib.error.URLError, OSError):
            return False
    return True


def _emptied(plane: ControlPlane, definition: Manifest) -> bool:
    """Delete the objects of a kind, without the finalizers that only its controller removes."""
    spec = definition["spec"]
    group = f"/apis/{spec['group']}/{spec['versions'][0]['name']}"
    plural = spec["names"]["plural"]
    remaining = plane.request("GET", f"{group}/{plural}")["items"]
    for live in remaining:
        metadata = live["metadata"]
        within = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
        path = f"{group}{within}/{plural}/{metadata['name']}"
        with suppress(HTTPError):
            if metadata.pop("finalizers", None):
                plane.request("PUT", path, live)
            if "deletionTimestamp" not in metadata:
                plane.request("DELETE", path)
    return not remaining
