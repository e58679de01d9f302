"""
From a rendered rehearsal to a launch: decide everything, and report all that is missing before
anything runs.

A process has the variables of its pod, with these substitutions and no others:
- hosts become addresses of this machine; a port that Paddle opens on all addresses is replaced if it is
  in use (`addresses`); `$(NAME)` is resolved as the kubelet does it;
- OMP_NUM_THREADS and the like follow the CPU request, CUDA_VISIBLE_DEVICES the devices, unless the
  spec sets them (`limits`);
- PATH begins with the Python of the rehearsal, and a few variables come from the user's shell, as they
  would from the image (`variables.HOST`);
- /tmp/paddle-log is a folder of the replica; without true paths, so are mounts (`view`).
With `--in-image`, the command is one of podman, and the image provides its own variables (`container`).
"""

from __future__ import annotations

import os
import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from paddlespec.backends.local.machine import devices, podman
from paddlespec.backends.local.prepare import (
    addresses,
    attempt,
    container,
    limits,
    mounts,
    output_policy,
    paddle_version,
    python_env,
    unpack,
    variables,
    view,
)
from paddlespec.backends.local.store.launch import Fresh, Launch, Process
from paddlespec.render import runtime
from paddlespec.render.manifest import role
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paddlespec.backends.local.prepare.addresses import Addresses
    from paddlespec.backends.local.prepare.mounts import Place
    from paddlespec.backends.local.prepare.options import Options
    from paddlespec.backends.local.prepare.unpack import Code
    from paddlespec.render.manifest import Manifest
    from paddlespec.runs.values import Work

_LOGS = runtime.LOG_FOLDER
_ARCHIVE = "code.tar"
_INSTALLS = re.compile(r"\bpip[0-9.]*\b")


class _Own(NamedTuple):
    """The folder where a process starts, and what is fresh for each attempt."""

    folder: str
    fresh: tuple[Fresh, ...]


class _Run(NamedTuple):
    """What all processes of one run share."""

    uid: str
    folder: str
    options: Options
    namespace: str
    addresses: Addresses
    code: Code
    visible: dict[str, str]
    true_paths: bool
    podman: str | None = None


def prepare(
    work: Work, options: Options, folder: str, report: Callable[[str], None] = lambda _: None
) -> Launch:
    """
    Return the launch of *work*, with its files in *folder*, the folder of the run.

    Raise `OperationFailed` with everything that is missing; *report* receives remarks.
    """
    (rehearsal,) = (
        manifest["spec"] for manifest in work.manifests if manifest["kind"] == "Rehearsal"
    )
    processes = [manifest for manifest in work.manifests if manifest["kind"] == "Process"]
    engine = podman.program(options.environment) if options.in_image else None
    folder = os.path.abspath(folder)
    uid = str(uuid4())
    namespace = options.namespace or addresses.namespace(processes)
    hosts = addresses.addresses(processes, namespace, folder, os.path.join(options.cache, "ports"))
    places = {_name(process): _places(process, options, folder) for process in processes}
    results = output_policy.read(rehearsal, list(places.values()))
    visible = limits.devices(
        processes, devices.present(options.environment), cpu_only=options.cpu_only
    )
    _refuse(
        work.name,
        [
            *_missing(processes, namespace, options),
            *mounts.faults(processes, mounts.Maps(options.mounts, options.claims)),
            *visible.faults,
            *hosts.faults,
            *results.faults(),
        ],
    )
    python = "" if engine else python_env.own(options.python, options.environment)
    needed = [folder, python, os.path.realpath(python), view.HELPER]
    covering = [
        *(mounts.Place(process["spec"]["workdir"], folder) for process in processes),
        *(place for own in places.values() for place in own),
    ]
    true_paths = options.true_paths and not engine and not view.hides(covering, needed)
    root = os.path.join(folder, "root")
    os.makedirs(root, exist_ok=True)
    run = _Run(
        uid,
        folder,
        options,
        namespace,
        hosts,
        unpack.read(rehearsal),
        visible.visible,
        true_paths and view.can_mount(root),
        engine,
    )
    if run.code.content is not None:
        with open(os.path.join(folder, _ARCHIVE), "wb") as file:
            file.write(run.code.content)
    folders = {_name(process): _own(process, places[_name(process)], run) for process in processes}
    if engine:
        container.provide(engine, processes, options.environment)
    else:
        python = _python(run, python, processes, places, folders)
        for remark in paddle_version.remarks(processes, python, folder, options.environment):
            report(remark)
    launch = Launch(
        work.name,
        uid,
        tuple(
            _process(process, run, python, places[_name(process)], folders[_name(process)])
            for process in processes
        ),
        timeout=rehearsal.get("timeout"),
        retries=rehearsal.get("retries", 0),
        keep=rehearsal.get("keepFinished"),
        grace=rehearsal.get("grace", 60.0),
        meets=bool(rehearsal.get("meets")),
        independent=rehearsal.get("mode") == "parallel",
        output=results.first,
    )
    container.probe(launch.processes[0])
    results.claim(uid)
    return launch


def _name(process: Manifest) -> str:
    name: str = process["metadata"]["name"]
    return name


def _places(process: Manifest, options: Options, folder: str) -> list[Place]:
    scratch = os.path.join(folder, "scratch", _name(process))
    return mounts.places(process, mounts.Maps(options.mounts, options.claims), scratch)


def _missing(processes: Sequence[Manifest], namespace: str, options: Options) -> list[str]:
    return variables.described(
        [
            reference
            for process in processes
            for reference in variables.resolve(process, namespace, options.environment).missing
        ]
    )


def _refuse(job: str, faults: list[str]) -> None:
    """Raise `OperationFailed` with everything that is missing."""
    if len(faults) == 1:
        raise OperationFailed(faults[0])
    if faults:
        head = f"{job} cannot run on this machine for {len(faults)} reasons:"
        raise OperationFailed("\n  ".join([head, *faults]))


def _own(process: Manifest, places: list[Place], run: _Run) -> _Own:
    """Create the folder where *process* starts: its copy of the code, or the mapped folder."""
    workdir = process["spec"]["workdir"]
    made = mounts.scratch(process, places)
    kept = _kept_logs(process, places, run)
    if kept is None:
        made.append(Fresh(_logs(run, process)))
        if run.podman:
            places.append(mounts.Place(_LOGS, _logs(run, process), scratch=True))
    here = mounts.here_of(places, workdir)
    if run.podman and run.code.content is None:
        here = here or run.folder
    elif run.code.content is not None or here is None:
        here = os.path.join(run.folder, "code", _name(process))
        archive = None if run.code.content is None else os.path.join(run.folder, _ARCHIVE)
        made.append(Fresh(here, archive))
        places.append(mounts.Place(mounts.clean(workdir), here, scratch=True))
    for fresh in made:
        attempt.make(fresh)
    os.makedirs(here, exist_ok=True)
    if kept is not None:
        os.makedirs(kept, exist_ok=True)
        os.makedirs(os.path.dirname(_logs(run, process)), exist_ok=True)
        os.symlink(kept, _logs(run, process))
    return _Own(here, tuple(made))


def _kept_logs(process: Manifest, places: Sequence[Place], run: _Run) -> str | None:
    """Return the folder on a mount for the launcher's logs, or None if they go with the run."""
    resolved = variables.resolve(process, run.namespace, run.options.environment)
    folder = resolved.values.get("PADDLE_LOG_DIR", _LOGS)
    return None if folder == _LOGS else mounts.here_of(places, folder)


def _logs(run: _Run, process: Manifest) -> str:
    """Return the folder for the launcher's logs."""
    return os.path.join(run.folder, "paddle-log", _name(process))


def _python(
    run: _Run,
    python: str,
    processes: Sequence[Manifest],
    places: Mapping[str, Sequence[Place]],
    folders: Mapping[str, _Own],
) -> str:
    """Return an interpreter with the package's requirements."""
    code = run.code
    if run.options.python or not (code.requirements or code.packages):
        return python
    first = processes[0]
    cwd = mounts.here_of(places[_name(first)], code.folder) or folders[_name(first)].folder
    text = ""
    if code.requirements:
        path = os.path.join(cwd, code.requirements)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError as error:
            name = posixpath.join(code.folder, code.requirements)
            reason = (error.strerror or str(error)).lower()
            raise OperationFailed(
                f"cannot read {name} ({path} on this machine): {reason}"
            ) from None
    requirements = python_env.Requirements(text, code.requirements, code.packages, code.digest)
    if not requirements:
        return python
    cache = os.path.join(run.options.cache, "python")
    return python_env.environment(python, requirements, cache, cwd, run.options.environment)


def _process(
    process: Manifest, run: _Run, python: str, places: Sequence[Place], made: _Own
) -> Process:
    spec, name = process["spec"], _name(process)
    address = run.addresses.own[name]
    resolved = variables.resolve(process, run.namespace, run.options.environment, address)
    command = [
        run.addresses.text(variables.expanded(word, resolved.values)) for word in spec["command"]
    ]
    logs = [] if run.podman else [mounts.Place(_LOGS, _logs(run, process))]
    log_paths = mounts.Rewriting(logs)
    command = log_paths.command(command)
    if run.podman:
        seen = view.Seen(tuple(command), made.folder, mounts.Rewriting([]))
    elif run.true_paths:
        root = os.path.join(run.folder, "root")
        seen = view.at_true_paths(command, process["spec"]["workdir"], made.folder, places, root)
    else:
        seen = view.under_other_paths(command, made.folder, places)

    def here(text: str) -> str:
        return seen.rewriting.text(log_paths.text(run.addresses.text(text)))

    own = {
        key: value if key in resolved.secret else here(value)
        for key, value in resolved.values.items()
    }
    if port := addresses.own_port(resolved.values, process, run.addresses, run.namespace):
        own["PADDLE_PORT"] = port
    env = {
        **({} if run.podman else variables.of_this_machine(run.options.environment)),
        # As the container runtime sets it: pods of an indexed Job have the names of these processes.
        "HOSTNAME": name,
        **limits.threads(process),
        **({devices.VISIBLE: run.visible[name]} if name in run.visible else {}),
        **own,
    }
    started = container.Started(seen.argv, env)
    if run.podman:
        shared = container.Shared(
            run.podman, run.folder, run.uid, run.code, run.options.environment
        )
        started = container.started(
            shared, process, places, started, resolved.secret, gpus=bool(run.visible.get(name))
        )
    else:
        path = env.get("PATH") or os.defpath
        env["PATH"] = os.pathsep.join([*_commands(run, process, python), path])
    return Process(
        name,
        role(process) or "",
        spec["index"],
        started.argv,
        started.env,
        seen.cwd,
        addresses.listens(process, run.addresses, run.namespace),
        addresses.waits_for(process, run.addresses, run.namespace),
        limits.memory(process),
        resolved.secret,
        made.fresh,
        started.container,
    )


def _commands(run: _Run, process: Manifest, python: str) -> list[str]:
    """Return the folders where the commands of *process* find their Python."""
    name = "shared"
    if any(_INSTALLS.search(word) for word in process["spec"]["command"]):
        # What a command installs is discarded with the run, as with a container.
        name = _name(process)
        place = os.path.join(run.folder, "python", name)
        python = python_env.inherit(python_env.describe(python), place)
    folder = os.path.join(run.folder, "bin", name)
    if not os.path.isdir(folder):
        python_env.commands(python, [run.code.python], folder)
    return [folder, os.path.dirname(python)]
