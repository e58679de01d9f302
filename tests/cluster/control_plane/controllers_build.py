"""Build the controllers of JobSet and Kueue from their published Go modules.

A build keeps the module's `config` folder beside the binary: the definitions of its kinds and its
webhooks belong to that very version, and a cached build then needs neither Go nor a network.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

from control_plane.toolchain import cache, compile_package, download, filled_once, pinned_version

# The source is no checkout, whatever repository the cache folder may be in.
FLAGS = ("-trimpath", "-buildvcs=false", "-ldflags", "-s -w")


class Source(NamedTuple):
    """The module of a controller, and the package of it that is the program."""

    module: str
    package: str


SOURCES = {
    "jobset": Source("sigs.k8s.io/jobset", "."),
    "kueue": Source("sigs.k8s.io/kueue", "./cmd/kueue"),
}


class Build(NamedTuple):
    """A built controller: its program, and the `config` folder of its module."""

    program: Path
    config: Path


def build_folder(name: str) -> Path:
    """Name the folder of a controller's build, whether or not it exists yet."""
    source = SOURCES[name]
    digest = hashlib.sha256("\0".join([*source, *FLAGS]).encode())
    version = pinned_version(source.module)
    return cache() / "controllers" / f"{name}-{version}-{digest.hexdigest()[:8]}"


def controller_build(name: str) -> Build:
    """Return the build of a controller, building it first if necessary."""
    folder = filled_once(build_folder(name), partial(_build_into, name))
    return Build(folder / name, folder / "config")


def _build_into(name: str, folder: Path) -> None:
    source = SOURCES[name]
    module = download(source.module)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        # Go builds no main module inside its read-only module cache.
        copy = Path(shutil.copytree(module, Path(scratch) / name, copy_function=shutil.copyfile))
        for path in (copy, *copy.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
        compile_package(source.package, folder / name, module=copy, flags=FLAGS)
        shutil.copytree(copy / "config", folder / "config")
