"""
The Python of a rehearsal: the user's own, or an environment with the package's requirements.

Environments are cached by what they are made from. They see the packages of their base interpreter,
so Paddle is not installed again.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_DESCRIBE = """\
import json, sys
paths = [path for path in sys.path if path.rstrip("/").endswith(("site-packages", "dist-packages"))]
print(json.dumps([sys.version, sys.prefix, "%d.%d" % sys.version_info[:2], paths]))
"""
_READY = ".ready"
_LAST_LINES = 15


class Requirements(NamedTuple):
    """What to install: the text of a requirements file, and further packages."""

    text: str = ""
    file: str | None = None
    packages: tuple[str, ...] = ()
    digest: str | None = None

    def __bool__(self) -> bool:
        return bool(self.text.strip() or self.packages)


class Base(NamedTuple):
    """An interpreter, as it describes itself."""

    python: str
    version: str
    prefix: str
    short: str
    packages: tuple[str, ...]


def own(asked: str | None, shell: Mapping[str, str]) -> str:
    """Return the interpreter for `python`: the requested one, else one that has Paddle."""
    path = shell.get("PATH", os.defpath)
    if asked is not None:
        program = shutil.which(os.path.expanduser(asked), path=path)
        if program is None:
            raise OperationFailed(f"--python {asked}: program not found")
        return os.path.abspath(program)
    from importlib.util import find_spec

    default = shutil.which("python", path=path) or shutil.which("python3", path=path)
    return sys.executable if default is None or find_spec("paddle") else default


def environment(
    python: str, requirements: Requirements, folder: str, cwd: str, shell: Mapping[str, str]
) -> str:
    """
    Return an interpreter with *requirements*, in an environment below *folder*.

    Paths in requirements are relative to *cwd*. One process creates the environment, others wait.
    """
    base = describe(python)
    path = os.path.join(folder, _key(base, requirements))
    interpreter = os.path.join(path, "bin", "python")
    with _locked(path):
        if not os.path.exists(os.path.join(path, _READY)):
            shutil.rmtree(path, ignore_errors=True)
            names = " and ".join(
                filter(None, [requirements.file, ", ".join(requirements.packages)])
            )
            sys.stderr.write(f"installing {names} into {path}\n")
            try:
                inherit(base, path)
                _install(interpreter, requirements, cwd, shell)
            except BaseException:  # an interrupt must not leave a partial one either
                shutil.rmtree(path, ignore_errors=True)
                raise
            with open(os.path.join(path, _READY), "w", encoding="ascii"):
                pass
    return interpreter


def inherit(base: Base, path: str) -> str:
    """Create an environment at *path* that sees the packages of *base*; return its interpreter."""
    _run([base.python, "-m", "venv", "--without-pip", path], "cannot create a virtual environment")
    packages = os.path.join(path, "lib", f"python{base.short}", "site-packages")
    with open(os.path.join(packages, "_inherited.pth"), "w", encoding="utf-8") as file:
        file.writelines(f"{folder}\n" for folder in base.packages)
    return os.path.join(path, "bin", "python")


def describe(python: str) -> Base:
    """Ask the interpreter *python* to describe itself."""
    answer = _run([python, "-I", "-c", _DESCRIBE], f"cannot run {python}")
    version, prefix, short, packages = json.loads(answer)
    return Base(python, version, prefix, short, tuple(packages))


def commands(python: str, names: Sequence[str], folder: str) -> str:
    """Create a folder where `python`, *names* and pip run *python*; return it."""
    os.makedirs(folder, exist_ok=True)
    from shlex import quote

    modules = {os.path.basename(program): "" for program in ("python", "python3", *names)}
    for name, module in {**modules, "pip": " -m pip", "pip3": " -m pip"}.items():
        script = os.path.join(folder, name)
        with open(script, "w", encoding="utf-8") as file:
            # A link does not work: an interpreter locates its environment by its own path.
            file.write(f'#!/bin/sh\nexec {quote(python)}{module} "$@"\n')
        os.chmod(script, 0o755)  # noqa: S103 - a command
    return folder


def _key(base: Base, requirements: Requirements) -> str:
    from hashlib import sha256

    # A line may include another file, whose text counts.
    lines = [line.strip() for line in requirements.text.splitlines()]
    refers = any(line.startswith(("-", ".", "/")) for line in lines)
    parts = [base.version, base.prefix, lines, requirements.packages]
    text = json.dumps([*parts, requirements.digest if refers else None])
    return sha256(text.encode()).hexdigest()[:16]


def _install(python: str, requirements: Requirements, cwd: str, shell: Mapping[str, str]) -> None:
    if not _runs([python, "-m", "pip", "--version"]):
        _run([python, "-m", "ensurepip", "--default-pip"], "cannot install pip")
    arguments = ["-r", requirements.file] if requirements.file and requirements.text.strip() else []
    _run(
        [
            python,
            *("-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"),
            *arguments,
            *requirements.packages,
        ],
        "cannot install the package's requirements",
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
    """Let only one process at a time create *path*."""
    from fcntl import LOCK_EX, flock

    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.lock", "a", encoding="ascii") as file:
        flock(file, LOCK_EX)
        yield
