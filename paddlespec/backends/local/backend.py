"""The backend `local`: processes of this machine, run by a supervisor."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from paddlespec.backends.protocols import Knowledge
from paddlespec.runs.failures import InvalidOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.local.prepare.options import Options
    from paddlespec.backends.protocols import Engine, Place, Request

name = "local"
target = "local"
where = "this machine"
options = frozenset({"--scale", "--mount", "--python", "--cpu-only", "--in-image"})
has_datacenters = False
is_foreground = True


def check(request: Request) -> None:
    """Raise `InvalidOption` for an invalid or missing folder, and for two sources of Python."""
    if "--in-image" in request.options and request.option("--python"):
        raise InvalidOption("--python has no effect with --in-image", "remove one of the two")
    _mounts(request.options.get("--mount", ()))


def open_engine(request: Request, place: Place) -> Engine:
    """Return an engine; the folders of *place* replace claims that no --mount maps."""
    from paddlespec.backends.local.engine import Engine as LocalEngine

    return LocalEngine(
        request.namespace or place.namespace,
        _options(request, place),
        attached=request.attached,
        deadline=request.deadline,
        report=request.report,
    )


def is_available() -> bool:
    """Report whether processes can be supervised on this system."""
    return sys.platform != "win32"


def knowledge(name: str, namespace: str | None) -> Knowledge:
    """Return what the state folder of the user records about the job *name*."""
    if not is_available():
        return Knowledge.nothing
    from paddlespec.backends.local.store.job_folder import DEFAULT_NAMESPACE, JobFolder, jobs

    folder = JobFolder(namespace or DEFAULT_NAMESPACE, name)
    if not folder.exists:
        return Knowledge.other_jobs if jobs() else Knowledge.nothing
    return Knowledge.running if folder.alive() else Knowledge.finished


def _options(request: Request, place: Place) -> Options:
    from paddlespec.backends.local.prepare.options import Options

    return Options(
        _mounts(request.options.get("--mount", ())),
        dict(place.folders),
        request.option("--python"),
        "--cpu-only" in request.options,
        os.environ,
        in_image="--in-image" in request.options,
    )


def _mounts(given: Sequence[str]) -> dict[str, str]:
    """Parse `PATH=DIR` options to absolute folders, keyed by path."""
    mounts = {}
    for text in given:
        path, separator, folder = text.partition("=")
        if not separator or not path.startswith("/") or not folder:
            hint = "for example --mount /pfs/dc1/home/alice=./data"
            raise InvalidOption(f"--mount {text}: expected PATH=DIR", hint)
        if not os.path.isdir(folder):
            raise InvalidOption(f"--mount {text}: folder {folder} does not exist")
        mounts[path] = os.path.abspath(folder)
    return mounts
