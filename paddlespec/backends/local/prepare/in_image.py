"""
A replica in a container of its image: the command that starts it, as a pure function.

Only the command differs from that of a process: the supervisor starts, watches and ends it. Values
of variables never appear in it, except those of variables that podman itself reads.
"""

from __future__ import annotations

import csv
import io
import re
import resource
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.images.reference import host_and_rest
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from paddlespec.backends.local.prepare.mounts import Place
    from paddlespec.backends.local.prepare.unpack import Code
    from paddlespec.backends.local.store.launch import Container

# Variables that podman and its helpers read.
_OF_PODMAN = re.compile(
    r"HOME|PATH|USER|LOGNAME|SHELL|TMPDIR|LANG|LC_\w+|LD_\w+|GO(DEBUG|GC|MAXPROCS|MEMLIMIT)|"
    r"XDG_\w+|_?CONTAINERS_\w+|CONTAINER_(HOST|CONNECTION|SSHKEY)|PODMAN_\w+|DOCKER_(CONFIG|HOST)|"
    r"REGISTRY_AUTH_FILE|STORAGE_(DRIVER|OPTS)|SSL_CERT_(FILE|DIR)|DBUS_SESSION_BUS_ADDRESS|"
    r"NOTIFY_SOCKET|LISTEN_\w+"
)
_PID_MAX = "/proc/sys/kernel/pid_max"
_MOST_FILES = 1_048_576
_GPUS = "nvidia.com/gpu=all"


class Limits(NamedTuple):
    """Soft and hard limits of open files and of processes."""

    files: tuple[int, int]
    processes: tuple[int, int]


def limits() -> Limits:
    """Return the limits of this process; podman's own may need privileges that it lacks."""
    with open(_PID_MAX, encoding="ascii") as file:
        most = int(file.read())
    return Limits(
        _at_most(resource.RLIMIT_NOFILE, _MOST_FILES), _at_most(resource.RLIMIT_NPROC, most)
    )


def qualified(image: str) -> str:
    """Return *image* with its registry, as the kubelet resolves it."""
    host, rest = host_and_rest(image)
    if host:
        return image
    return f"docker.io/{rest}" if "/" in rest else f"docker.io/library/{rest}"


def argv(
    podman: str,
    container: Container,
    image: str,
    command: Sequence[str],
    workdir: str | None,
    places: Sequence[Place],
    env: Mapping[str, str],
    *,
    limits: Limits,
    gpus: bool,
) -> tuple[str, ...]:
    """Return the command that runs *command* in *image*; `environment` has its variables."""
    words = [podman, "run", "--rm", "--replace", "--name", container.name]
    words += ["--conmon-pidfile", container.pid_file, "--pull=never", "--log-driver=none"]
    # An init process ends programs that handle no signals, and passes on those that others handle.
    words += ["--init", "--network=host", "--http-proxy=false", "--shm-size=0"]
    # Root in a container is the user of podman, who owns the folders.
    words += ["--user=0:0", "--security-opt=no-new-privileges", "--security-opt=label=disable"]
    for name, (soft, hard) in (("nofile", limits.files), ("nproc", limits.processes)):
        words.append(f"--ulimit={name}={soft}:{hard}")
    if gpus:
        words.append(f"--device={_GPUS}")
    if workdir is not None:
        words.append(f"--workdir={workdir}")
    words += [f"--mount={_mount(place)}" for place in places]
    words += [f"--env={variable}" for variable in _variables(env)]
    return (*words, f"--entrypoint={command[0]}", image, *command[1:])


def environment(
    env: Mapping[str, str], shell: Mapping[str, str], secret: Collection[str]
) -> dict[str, str]:
    """
    Return the variables of podman: those of the user's shell that it reads, and *env*.

    Raise `OperationFailed` for a secret that podman would read as its own.
    """
    for name in secret:
        if _OF_PODMAN.fullmatch(name):
            raise OperationFailed(
                f"variable {name} has the value of a Secret, and podman reads a variable of this name",
                "rehearse without --in-image",
            )
    return {
        **{name: value for name, value in env.items() if not _OF_PODMAN.fullmatch(name)},
        **{name: value for name, value in shell.items() if _OF_PODMAN.fullmatch(name)},
    }


def installing(command: Sequence[str], code: Code) -> list[str]:
    """Return *command* after the installation of the package's requirements, as in a pod."""
    packages = [quote(package) for package in code.packages]
    if code.requirements:
        packages = ["-r", quote(f"{code.folder}/{code.requirements}"), *packages]
    if not packages:
        return list(command)
    pip = f"{quote(code.python)} -m pip install --no-cache-dir --disable-pip-version-check"
    return ["sh", "-c", f'{pip} {" ".join(packages)} && exec "$@"', "sh", *command]


def _variables(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in env.items():
        yield f"{name}={value}" if _OF_PODMAN.fullmatch(name) else name


def _mount(place: Place) -> str:
    fields = ["type=bind", f"source={place.here}", f"destination={place.path}"]
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(
        [*fields, *(["readonly"] if place.read_only else [])]
    )
    return text.getvalue()


def _at_most(kind: int, most: int) -> tuple[int, int]:
    soft, hard = (
        most if limit == resource.RLIM_INFINITY else min(limit, most)
        for limit in resource.getrlimit(kind)
    )
    return soft, hard
