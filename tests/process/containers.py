"""Podman for tests: settings with which it runs on this machine, and a tiny image."""

from __future__ import annotations

import io
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import uuid
from pathlib import Path
from typing import NamedTuple

_PROGRAMS = (
    *("sh", "cat", "dd", "env", "head", "id", "kill", "ls", "nc", "ps", "pwd", "sed", "sleep"),
    *("sort", "tail", "test", "touch", "tr", "true"),
)
_PYTHON = '#!/bin/sh\necho "python of the image: $*"\n'
# A sandbox without cgroups of version 2 needs runc.
_SETTINGS = ("", '[engine]\nruntime = "runc"\n')


class Podman(NamedTuple):
    """Variables that podman needs here, and the name of an image."""

    environment: dict[str, str]
    image: str

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            ["podman", *arguments],
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def containers(self, label: str) -> list[str]:
        """Return the containers with *label* in their names."""
        names = self("ps", "--all", "--format", "{{.Names}}").split()
        return [name for name in names if label in name]


def provided(folder: Path) -> Podman | str:
    """Return podman with an image, or why tests cannot use it."""
    if sys.platform != "linux" or not shutil.which("podman"):
        return "podman is not installed: apt-get install podman crun catatonit"
    busybox = shutil.which("busybox")
    if busybox is None or b"statically linked" not in _kind(busybox):
        return "no static busybox for an image: apt-get install busybox-static"
    image = f"localhost/paddlespec-test-{uuid.uuid4().hex[:12]}:1"
    archive = folder / "image.tar"
    archive.write_bytes(_image(busybox))
    reason = ""
    for index, text in enumerate(_SETTINGS):
        settings = folder / f"containers-{index}.conf"
        settings.write_text(text, encoding="ascii")
        podman = Podman({"CONTAINERS_CONF": str(settings)} if text else {}, image)
        reason = _try(podman, archive)
        if not reason:
            return podman
    return f"podman cannot run a container here: {reason}"


def _try(podman: Podman, archive: Path) -> str:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        podman("import", "--quiet", str(archive), podman.image)
        limits = [f"--ulimit=nofile={files}:{files}", "--ulimit=nproc=1000:1000"]
        podman("run", "--rm", "--init", "--network=host", *limits, podman.image, "true")
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        return str(error).strip()
    return ""


def _kind(program: str) -> bytes:
    """Return the kind of *program*: a static one names no loader."""
    content = Path(program).read_bytes()
    return b"dynamically linked" if b"/ld-linux" in content[:4096] else b"statically linked"


def _image(busybox: str) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        tar.add(busybox, "bin/busybox")
        for name in _PROGRAMS:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
        for name, text in (("bin/python", _PYTHON), ("etc/mark", "of the image\n")):
            file = tarfile.TarInfo(name)
            file.mode, file.size = 0o755, len(text)
            tar.addfile(file, io.BytesIO(text.encode()))
    return content.getvalue()
