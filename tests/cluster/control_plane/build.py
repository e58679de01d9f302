"""Build the control plane of the cluster tests from published Go modules.

Tests need a real API server, and a download page may be out of reach where a Go module proxy is
not. The binaries land in the user's cache folder under a key made from the module files and the
build flags, so a changed version never meets old binaries and an unchanged one is built once.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).resolve().parent
GO_MISSING = 3
PACKAGES: Mapping[str, str] = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
}


class GoMissingError(Exception):
    """Say that no Go toolchain was found, which callers turn into a skip or an exit code."""


def module_version(module: str) -> str:
    """Read a module's version from go.mod, the one place that pins it."""
    found = re.search(
        rf"^\s*{re.escape(module)} (v\S+)",
        (HERE / "go.mod").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    if found is None:
        raise LookupError(f"go.mod does not require {module}")
    return found[1]


def build_flags() -> tuple[str, ...]:
    """Give the flags of every `go build`.

    Without the version variables the servers call themselves v0.0.0-master, and clients that
    compare versions misbehave.
    """
    kubernetes = module_version("k8s.io/kubernetes")
    major, minor, _ = kubernetes.removeprefix("v").split(".", 2)
    variables = [f"sigs.k8s.io/kwok/pkg/consts.Version={module_version('sigs.k8s.io/kwok')}"]
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
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "paddlespec" / "control-plane" / cache_key()


def find_go() -> str:
    """Find the Go command.

    Looks on PATH, in GOROOT, and where Go's own instructions unpack its archive, in that order.
    """
    folders = (
        os.environ.get("PATH", ""),
        f"{os.environ.get('GOROOT', '')}/bin",
        "/usr/local/go/bin",
    )
    found = shutil.which("go", path=os.pathsep.join(folders))
    if found is None:
        raise GoMissingError(
            "Go is not installed: the test control plane is built with Go 1.26 or later"
        )
    return found


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file lock, which the system drops when the holder dies however it dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(line: str) -> None:
    """Report progress on stderr, because stdout carries the folder's name only."""
    print(line, file=sys.stderr, flush=True)


def compile_into(folder: Path) -> None:
    """Build each binary on its own, so that a ten-minute build shows where it is."""
    go = find_go()
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
    for position, (name, package) in enumerate(PACKAGES.items(), start=1):
        say(f"[{position}/{len(PACKAGES)}] building {name}")
        started = time.monotonic()
        command = [go, "build", *build_flags(), "-o", str(folder / name), package]
        subprocess.run(command, cwd=HERE, env=environment, check=True)
        say(f"[{position}/{len(PACKAGES)}] built {name} in {time.monotonic() - started:.0f} s")


def ensure_built() -> Path:
    """Return the folder of the binaries, building them first where they are absent.

    The folder appears by one rename, so its existence proves that it is complete.
    """
    folder = binaries_folder()
    if folder.is_dir():
        return folder
    find_go()
    with locked(folder.parent / f"{folder.name}.lock"):
        if folder.is_dir():
            return folder
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as scratch:
            complete = Path(scratch) / "bin"
            complete.mkdir()
            compile_into(complete)
            complete.rename(folder)
    return folder


def main() -> int:
    """Build, or with --print only name the folder."""
    parser = argparse.ArgumentParser(
        description="Build the control plane that the cluster tests run."
    )
    parser.add_argument(
        "--print", action="store_true", help="print the folder of the binaries and build nothing"
    )
    arguments = parser.parse_args()
    try:
        print(binaries_folder() if arguments.print else ensure_built())
    except GoMissingError as error:
        say(f"error: {error}")
        return GO_MISSING
    except subprocess.CalledProcessError as error:
        say(f"error: go build ended with exit code {error.returncode}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
