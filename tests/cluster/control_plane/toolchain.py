"""The Go command, the module versions that go.mod pins, and a build cache filled once per key."""

from __future__ import annotations

import contextlib
import fcntl
import json
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
    from collections.abc import Callable, Iterator, Sequence

HERE = Path(__file__).resolve().parent
MODULES = HERE / "crds"


class GoMissingError(Exception):
    """No Go toolchain is installed, which callers turn into a skip or an exit code."""


def find_go() -> str:
    """Find the Go command.

    Looks on PATH, in GOROOT, and where Go's own instructions unpack its archive, in that order.
    """
    folders = (
        os.environ.get("PATH", ""),
        f"{os.environ.get('GOROOT', '')}/bin",
        "/usr/local/go/bin",
    )
    go = shutil.which("go", path=os.pathsep.join(folders))
    if go is None:
        raise GoMissingError(
            "Go is not installed: the test control plane is built with Go 1.26 or later"
        )
    return go


def pinned_version(module: str, folder: Path = MODULES) -> str:
    """Read a module's version from the go.mod in *folder*, the one place that pins it."""
    requirement = re.search(
        rf"^\s*{re.escape(module)} (v\S+)",
        (folder / "go.mod").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    if requirement is None:
        raise LookupError(f"{folder.name}/go.mod does not require {module}")
    return requirement[1]


def download(module: str) -> Path:
    """Download a module in its pinned version; Go compares its checksum with go.sum."""
    version = pinned_version(module)
    say(f"downloading {module} {version}")
    ended = subprocess.run(
        [find_go(), "mod", "download", "-json", f"{module}@{version}"],
        cwd=MODULES,
        env={**os.environ, "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{module} {version}:\n{ended.stdout}{ended.stderr}"
    return Path(json.loads(ended.stdout)["Dir"])


def compile_package(package: str, output: Path, *, module: Path, flags: Sequence[str]) -> None:
    """Build one package of the module in folder *module*, without C and without workspaces."""
    say(f"building {output.name}")
    started = time.monotonic()
    subprocess.run(
        [find_go(), "build", *flags, "-o", str(output), package],
        cwd=module,
        env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off"},
        check=True,
    )
    say(f"built {output.name} in {time.monotonic() - started:.0f} s")


def cache() -> Path:
    """Return the folder of everything built for the tests."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "paddlespec"


def filled_once(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Return *folder*, calling *fill* with a scratch folder first if it does not exist yet.

    The folder appears by one rename, so its existence proves that it is complete.
    """
    if folder.is_dir():
        return folder
    find_go()
    with locked(folder.parent / f"{folder.name}.lock"):
        if folder.is_dir():
            return folder
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as scratch:
            complete = Path(scratch) / "complete"
            complete.mkdir()
            fill(complete)
            complete.rename(folder)
    return folder


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file lock, which the system releases however the holder ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(line: str) -> None:
    """Report progress on stderr, because stdout contains only names of folders."""
    print(line, file=sys.stderr, flush=True)
