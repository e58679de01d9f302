"""Build the control plane of the cluster tests from published Go modules.

Tests need a real API server, and a download page may be out of reach where a Go module proxy is
not. The binaries land in the user's cache folder under a key made from the module files and the
build flags, so a changed version never meets old binaries and an unchanged one is built once.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from control_plane.toolchain import HERE, cache, compile_package, filled_once, pinned_version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PACKAGES: Mapping[str, str] = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
}


def build_flags() -> tuple[str, ...]:
    """Give the flags of every `go build`.

    Without the version variables the servers call themselves v0.0.0-master, and clients that
    compare versions misbehave.
    """
    kubernetes = pinned_version("k8s.io/kubernetes", HERE)
    major, minor, _ = kubernetes.removeprefix("v").split(".", 2)
    kwok = pinned_version("sigs.k8s.io/kwok", HERE)
    variables = [f"sigs.k8s.io/kwok/pkg/consts.Version={kwok}"]
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        variables += [
            f"{package}.gitVersion={kubernetes}",
            f"{package}.gitMajor={major}",
            f"{package}.gitMinor={minor}",
        ]
    return (
        "-trimpath",
        "-ldflags",
        " ".join(["-s", "-w", *(f"-X {variable}" for variable in variables)]),
    )


def cache_key() -> str:
    """Hash all that decides the bytes of the binaries."""
    digest = hashlib.sha256()
    for name in ("go.sum", "go.mod"):
        digest.update((HERE / name).read_bytes())
    digest.update("\0".join(build_flags()).encode())
    return digest.hexdigest()[:16]


def binaries_folder() -> Path:
    """Name the folder of the binaries, whether or not it exists yet."""
    return cache() / "control-plane" / cache_key()


def compile_into(folder: Path) -> None:
    """Build each binary on its own, so that a ten-minute build shows its progress."""
    for name, package in PACKAGES.items():
        compile_package(package, folder / name, module=HERE, flags=build_flags())


def ensure_built() -> Path:
    """Return the folder of the binaries, building them first if they are absent."""
    return filled_once(binaries_folder(), compile_into)
