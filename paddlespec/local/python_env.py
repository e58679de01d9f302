"""
The Python of a rehearsal: the user's own, or an environment with what the package requires.

Environments are kept by what they were made from. They see what the interpreter below them has, so
that Paddle is not installed again where it is there.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_DESCRIBE = """\
import json, sys
paths = [each for each in sys.path if each.rstrip("/").endswith(("site-packages", "dist-packages"))]
print(json.dumps([sys.version, sys.prefix, "%d.%d" % sys.version_info[:2], paths]))
"""
_READY = ".ready"
_LAST_LINES = 15


class Wanted(NamedTuple):
    """What is to be installed: the text of a requirements file, and further packages."""

    requirements: str = ""
    file: str | None = None
    packages: tuple[str, ...] = ()
    digest: str | None = None

    def __bool__(self) -> bool:
        return bool(self.requirements.strip() or self.packages)


class Base(NamedTuple):
    """An interpreter, as it describes itself."""

    python: str
    version: str
    prefix: str
    short: str
    packages: tuple[str, ...]


def own(asked: str | None, shell: Mapping[str, str]) -> str:
    """The interpreter that `python` means: the one asked for, else one that has Paddle."""
    path = shell.get("PATH", os.defpath)
    if asked is not None:
        found = shutil.which(os.path.expanduser(asked), path=path)
        if found is None:
            raise OperationFailed(f"--python {asked}: there is no such program")
        return os.path.abspath(found)
    from importlib.util import find_spec

    there = shutil.which("python", path=path) or shutil.which("python3", path=path)
    return sys.executable if there is None or find_spec("paddle") else there


def environment(
    python: str, wanted: Wanted, folder: str, cwd: str, shell: Mapping[str, str]
) -> str:
    """
    An interpreter that has what is *wanted*, made below *folder* unless it is there.

    Paths in requirements are relative to *cwd*. One process makes it, others wait for that.
    """
    base = describe(python)
    path = os.path.join(folder, _key(base, wanted))
    found = os.path.join(path, "bin", "python")
    with _locked(path):
        if not os.path.exists(os.path.join(path, _READY)):
            shutil.rmtree(path, ignore_errors=True)
            names = " and ".join(filter(None, [wanted.file, ", ".join(wanted.packages)]))
            sys.stderr.write(f"installing {names}, to be kept in {path}\n")
            try:
                inherit(base, path)
                _install(found, wanted, cwd, shell)
            except BaseException:  # an interrupt as well leaves no half of it
                shutil.rmtree(path, ignore_errors=True)
                raise
            with open(os.path.join(path, _READY), "w", encoding="ascii"):
                pass
    return found


def inherit(base: Base, path: str) -> str:
    """A new environment at *path* that sees the packages of *base*; its interpreter."""
    _run([base.python, "-m", "venv", "--without-pip", path], "no environment could be made")
    packages = os.path.join(path, "lib", f"python{base.short}", "site-packages")
    with open(os.path.join(packages, "_inherited.pth"), "w", encoding="utf-8") as file:
        file.writelines(f"{each}\n" for each in base.packages)
    return os.path.join(path, "bin", "python")


def describe(python: str) -> Base:
    """What *python* is."""
    told = _run([python, "-I", "-c", _DESCRIBE], f"{python} does not run")
    version, prefix, short, packages = json.loads(told)
    return Base(python, version, prefix, short, tuple(packages))


def commands(python: str, names: Sequence[str], folder: str) -> str:
    """A folder where `python` and *names* are *python*, and pip is its own."""
    os.makedirs(folder, exist_ok=True)
    from shlex import quote

    wanted = {os.path.basename(each): "" for each in ("python", "python3", *names)}
    for name, module in {**wanted, "pip": " -m pip", "pip3": " -m pip"}.items():
        script = os.path.join(folder, name)
        with open(script, "w", encoding="utf-8") as file:
            # Not a link: an interpreter finds its environment by its own path.
            file.write(f'#!/bin/sh\nexec {quote(python)}{module} "$@"\n')
        os.chmod(script, 0o755)  # noqa: S103 - a command, for whoever may look into the folder
    return folder


def _key(base: Base, wanted: Wanted) -> str:
    from hashlib import sha256

    # A line that names another file means what that file says.
    lines = [each.strip() for each in wanted.requirements.splitlines()]
    elsewhere = any(each.startswith(("-", ".", "/")) for each in lines)
    parts = [base.version, base.prefix, lines, wanted.packages]
    text = json.dumps([*parts, wanted.digest if elsewhere else None])
    return sha256(text.encode()).hexdigest()[:16]


def _install(python: str, wanted: Wanted, cwd: str, shell: Mapping[str, str]) -> None:
    if not _runs([python, "-m", "pip", "--version"]):
        _run([python, "-m", "ensurepip", "--default-pip"], "pip could not be installed")
    arguments = ["-r", wanted.file] if wanted.file and wanted.requirements.strip() else []
    _run(
        [
            python,
            *("-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"),
            *arguments,
            *wanted.packages,
        ],
        "what the package requires could not be installed",
        cwd,
        {key: value for key, value in shell.items() if key not in ("PYTHONPATH", "PYTHONHOME")},
    )


def _runs(argv: Sequence[str]) -> bool:
    from subprocess import DEVNULL, run

    return run(argv, stdout=DEVNULL, stderr=DEVNULL, check=False).returncode == 0


def _run(
    argv: Sequence[str], fault: str, cwd: str | None = None, env: Mapping[str, str] | None = None
) -> str:
    from subprocess import run

    try:
        done = run(argv, cwd=cwd, env=env, capture_output=True, check=False)
    except OSError as error:
        raise OperationFailed(f"{fault}: {(error.strerror or str(error)).lower()}") from None
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
        raise OperationFailed("\n  ".join([f"{fault}:", *lines]))
    return done.stdout.decode("utf-8", "replace")


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Be the only one who makes *path*."""
    from fcntl import LOCK_EX, flock

    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.lock", "a", encoding="ascii") as file:
        flock(file, LOCK_EX)
        yield
