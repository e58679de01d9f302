"""The command of podman for a replica: all that it names, and no value that it must not."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from paddlespec.backends.local.machine import podman
from paddlespec.backends.local.prepare import in_image
from paddlespec.backends.local.prepare.mounts import Place
from paddlespec.backends.local.prepare.unpack import Code
from paddlespec.backends.local.store import launch
from paddlespec.backends.local.store.launch import Container, Launch, Process
from paddlespec.runs.failures import OperationFailed

OWN = Container("paddlespec-1-fit-trainer-0", "/run/pid")
LIMITS = in_image.Limits((10, 20), (30, 40))


def argv(**changes: Any) -> tuple[str, ...]:
    given: dict[str, Any] = {
        "image": "docker.io/paddlepaddle/paddle:3.0.0",
        "command": ["sh", "-c", "true"],
        "workdir": "/workspace",
        "places": [],
        "env": {},
        "limits": LIMITS,
        "gpus": False,
        **changes,
    }
    return in_image.argv("/bin/podman", OWN, **given)


def test_the_command_replaces_the_entry_point() -> None:
    words = argv()
    assert words[:2] == ("/bin/podman", "run")
    assert words[-4:] == ("--entrypoint=sh", "docker.io/paddlepaddle/paddle:3.0.0", "-c", "true")
    assert "--workdir=/workspace" in words
    assert {"--ulimit=nofile=10:20", "--ulimit=nproc=30:40"} <= set(words)
    assert not any(word.startswith("--device") for word in words)
    assert "--device=nvidia.com/gpu=all" in argv(gpus=True)


def test_the_folder_of_the_image_stays_without_a_folder() -> None:
    assert not any(word.startswith("--workdir") for word in argv(workdir=None))


def test_only_variables_that_podman_reads_have_values_in_the_command() -> None:
    words = argv(env={"COLOUR": "blue", "PATH": "/opt/bin", "LD_LIBRARY_PATH": "/opt/lib"})
    assert [word for word in words if word.startswith("--env")] == [
        "--env=COLOUR",
        "--env=PATH=/opt/bin",
        "--env=LD_LIBRARY_PATH=/opt/lib",
    ]


def test_podman_keeps_its_own_variables() -> None:
    inner = {"COLOUR": "blue", "HOME": "/root", "STORAGE_DRIVER": "none", "GOOGLE_PROJECT": "a"}
    shell = {"HOME": "/home/alice", "XDG_RUNTIME_DIR": "/run/user/1", "EDITOR": "vi"}
    assert in_image.environment(inner, shell, ()) == {
        "COLOUR": "blue",
        "GOOGLE_PROJECT": "a",
        "HOME": "/home/alice",
        "XDG_RUNTIME_DIR": "/run/user/1",
    }


def test_a_secret_that_podman_would_read_is_refused() -> None:
    with pytest.raises(OperationFailed, match="REGISTRY_AUTH_FILE has the value of a Secret"):
        in_image.environment({"REGISTRY_AUTH_FILE": "x"}, {}, ["REGISTRY_AUTH_FILE"])


@pytest.mark.parametrize(
    ("place", "option"),
    [
        (Place("/data", "/here"), "--mount=type=bind,source=/here,destination=/data"),
        (Place("/d", "/h", True), "--mount=type=bind,source=/h,destination=/d,readonly"),
        (Place("/d", "/a, b:c"), '--mount=type=bind,"source=/a, b:c",destination=/d'),
    ],
)
def test_folders_are_mounted_whatever_their_names(place: Place, option: str) -> None:
    assert option in argv(places=[place])


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("paddlepaddle/paddle:3.0.0", "docker.io/paddlepaddle/paddle:3.0.0"),
        ("busybox", "docker.io/library/busybox"),
        ("registry.test:5000/paddle:1", "registry.test:5000/paddle:1"),
        ("localhost/tiny:1", "localhost/tiny:1"),
    ],
)
def test_an_image_has_the_registry_that_the_kubelet_assumes(image: str, name: str) -> None:
    assert in_image.qualified(image) == name


def test_requirements_are_installed_before_the_command() -> None:
    code = Code(b"", "/workspace", "python3", "requirements.txt", ("a>1",))
    command = in_image.installing(["sh", "-c", "exit 3"], code)
    assert command[2] == (
        "python3 -m pip install --no-cache-dir --disable-pip-version-check "
        "-r /workspace/requirements.txt 'a>1' && exec \"$@\""
    )
    assert command[3:] == ["sh", "sh", "-c", "exit 3"]
    assert in_image.installing(["true"], Code(b"", "/workspace")) == ["true"]


def test_limits_never_exceed_those_of_this_process() -> None:
    import resource

    files, processes = in_image.limits()
    for own, kind in ((files, resource.RLIMIT_NOFILE), (processes, resource.RLIMIT_NPROC)):
        for given, limit in zip(own, resource.getrlimit(kind), strict=True):
            assert given > 0
            assert limit == resource.RLIM_INFINITY or given <= limit


def test_a_launch_keeps_its_containers() -> None:
    process = Process("fit-trainer-0", "trainers", 0, argv(), {}, "/", container=OWN)
    known = Launch("fit", "uid", (process, process._replace(container=None)))
    assert launch.parse(launch.dump(known)) == known


def test_without_podman_the_error_names_what_to_install() -> None:
    with pytest.raises(OperationFailed, match="needs podman, which is not installed") as error:
        podman.program({"PATH": "/nowhere"})
    assert error.value.hint is not None
    assert "apt-get install podman" in error.value.hint


@pytest.mark.skipif(sys.platform != "linux", reason="needs no podman elsewhere")
def test_elsewhere_podman_is_not_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(podman, "_PLATFORM", "darwin")
    with pytest.raises(OperationFailed, match="needs Linux"):
        podman.program({})
