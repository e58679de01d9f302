"""
From a rendered rehearsal to what a supervisor starts: everything is decided here, and all that is
missing is told at once, before anything runs.

A process has the variables of its pod with these substitutions, and no others:
- hosts become addresses of this machine, and a port that every address of it shares and somebody
  has is exchanged for another (`addresses`); `$(NAME)` is resolved as the kubelet does it;
- OMP_NUM_THREADS and its kin follow the CPU request, CUDA_VISIBLE_DEVICES the devices, unless the
  spec sets them (`resources`);
- PATH begins with the Python of the rehearsal, and a few variables come from the user's shell, as
  they would from the image (`variables.HOST`);
- /tmp/paddle-log is the replica's own folder, and where true paths cannot be had, so are mounts
  (`view`).
"""

from __future__ import annotations

import os
import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from paddlespec.backend import OperationFailed
from paddlespec.local import (
    addresses,
    code,
    fresh,
    mounts,
    output,
    python_env,
    resources,
    variables,
    view,
)
from paddlespec.local.fresh import Fresh
from paddlespec.local.launch import Launch, Process
from paddlespec.manifest import role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paddlespec.backend import Work
    from paddlespec.local.addresses import Addresses
    from paddlespec.local.code import Code
    from paddlespec.local.mounts import Place
    from paddlespec.local.options import Options
    from paddlespec.manifest import Manifest

_LOGS = "/tmp/paddle-log"
_ARCHIVE = "code.tar"
_INSTALLS = re.compile(r"\bpip[0-9.]*\b")


class _Own(NamedTuple):
    """Where a process starts, and what is made anew for each attempt."""

    folder: str
    fresh: tuple[Fresh, ...]


class _Run(NamedTuple):
    """What the processes of one run share."""

    uid: str
    folder: str
    options: Options
    namespace: str
    addresses: Addresses
    code: Code
    visible: dict[str, str]
    true_paths: bool


def prepare(work: Work, options: Options, folder: str) -> Launch:
    """
    Everything that is needed to run *work* here; its files go into *folder*, the run's own.

    Raises `OperationFailed` with all that is missing.
    """
    rehearsal = next(each for each in work.manifests if each["kind"] == "Rehearsal")["spec"]
    processes = [each for each in work.manifests if each["kind"] == "Process"]
    folder = os.path.abspath(folder)
    uid = str(uuid4())
    namespace = options.namespace or addresses.namespace(processes)
    found = addresses.addresses(processes, namespace, folder, os.path.join(options.cache, "ports"))
    places = {_name(each): _places(each, options, folder) for each in processes}
    results = output.read(rehearsal, list(places.values()))
    seen = resources.devices(
        processes, resources.present(options.environment), cpu_only=options.cpu_only
    )
    _refuse(
        work.name,
        [
            *_missing(processes, namespace, options),
            *mounts.faults(processes, mounts.Maps(options.mounts, options.claims)),
            *seen.faults,
            *found.faults,
            *results.faults(),
        ],
    )
    python = python_env.own(options.python, options.environment)
    needed = [folder, python, os.path.realpath(python), view.HELPER]
    workdirs = [mounts.Place(each["spec"]["workdir"], folder) for each in processes]
    hidden = view.hides([*workdirs, *(each for own in places.values() for each in own)], needed)
    root = os.path.join(folder, "root")
    os.makedirs(root, exist_ok=True)
    run = _Run(
        uid,
        folder,
        options,
        namespace,
        found,
        code.read(rehearsal),
        seen.visible,
        options.true_paths and not hidden and view.can_mount(root),
    )
    if run.code.content is not None:
        with open(os.path.join(folder, _ARCHIVE), "wb") as file:
            file.write(run.code.content)
    folders = {_name(each): _own(each, places[_name(each)], run) for each in processes}
    python = _python(run, python, processes, places, folders)
    launch = Launch(
        work.name,
        uid,
        tuple(
            _process(each, run, python, places[_name(each)], folders[_name(each)])
            for each in processes
        ),
        timeout=rehearsal.get("timeout"),
        retries=rehearsal.get("retries", 0),
        keep=rehearsal.get("keepFinished"),
        grace=rehearsal.get("grace", 60.0),
        meets=bool(rehearsal.get("meets")),
        independent=rehearsal.get("mode") == "parallel",
        output=results.first,
    )
    results.claim(uid)
    return launch


def _name(process: Manifest) -> str:
    name: str = process["metadata"]["name"]
    return name


def _places(process: Manifest, options: Options, folder: str) -> list[Place]:
    scratch = os.path.join(folder, "scratch", _name(process))
    return mounts.places(process, mounts.Maps(options.mounts, options.claims), scratch)


def _missing(processes: Sequence[Manifest], namespace: str, options: Options) -> list[str]:
    return variables.told(
        [
            each
            for process in processes
            for each in variables.resolve(process, namespace, options.environment).missing
        ]
    )


def _refuse(job: str, faults: list[str]) -> None:
    """Tell everything that is missing."""
    if len(faults) == 1:
        raise OperationFailed(faults[0])
    if faults:
        head = f"{len(faults)} things are missing before {job} can run here:"
        raise OperationFailed("\n  ".join([head, *faults]))


def _own(process: Manifest, places: list[Place], run: _Run) -> _Own:
    """Where *process* starts: in its own copy of the code, or where the spec's folder is here."""
    workdir = process["spec"]["workdir"]
    made = [*mounts.scratch(process, places), Fresh(_logs(run, process))]
    here = mounts.here_of(places, workdir)
    if run.code.content is not None or here is None:
        here = os.path.join(run.folder, "code", _name(process))
        archive = None if run.code.content is None else os.path.join(run.folder, _ARCHIVE)
        made.append(Fresh(here, archive))
        places.append(mounts.Place(mounts.clean(workdir), here, scratch=True))
    for each in made:
        fresh.make(each)
    os.makedirs(here, exist_ok=True)
    return _Own(here, tuple(made))


def _logs(run: _Run, process: Manifest) -> str:
    """What stands for the folder of the launcher's logs."""
    return os.path.join(run.folder, "paddle-log", _name(process))


def _python(
    run: _Run,
    python: str,
    processes: Sequence[Manifest],
    places: Mapping[str, Sequence[Place]],
    folders: Mapping[str, _Own],
) -> str:
    """The interpreter that has what the package requires."""
    said = run.code
    if run.options.python or not (said.requirements or said.packages):
        return python
    first = processes[0]
    cwd = mounts.here_of(places[_name(first)], said.folder) or folders[_name(first)].folder
    text = ""
    if said.requirements:
        path = os.path.join(cwd, said.requirements)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError as error:
            name = posixpath.join(said.folder, said.requirements)
            reason = (error.strerror or str(error)).lower()
            raise OperationFailed(f"{name}, which is {path} here: {reason}") from None
    wanted = python_env.Wanted(text, said.requirements, said.packages, said.digest)
    if not wanted:
        return python
    cache = os.path.join(run.options.cache, "python")
    return python_env.environment(python, wanted, cache, cwd, run.options.environment)


def _process(
    process: Manifest, run: _Run, python: str, places: Sequence[Place], made: _Own
) -> Process:
    spec, name = process["spec"], _name(process)
    found = variables.resolve(process, run.namespace, run.options.environment)
    command = [
        run.addresses.text(variables.expanded(each, found.values)) for each in spec["command"]
    ]
    log_paths = mounts.Rewriting([mounts.Place(_LOGS, _logs(run, process))])
    command = log_paths.command(command)
    if run.true_paths:
        root = os.path.join(run.folder, "root")
        seen = view.at_true_paths(command, spec["workdir"], made.folder, places, root)
    else:
        seen = view.under_other_paths(command, made.folder, places)

    def here(text: str) -> str:
        return seen.rewriting.text(log_paths.text(run.addresses.text(text)))

    own = {
        key: value if key in found.secret else here(value) for key, value in found.values.items()
    }
    if port := addresses.own_port(found.values, process, run.addresses, run.namespace):
        own["PADDLE_PORT"] = port
    env = {
        **variables.of_this_machine(run.options.environment),
        **resources.threads(process),
        **({resources.VISIBLE: run.visible[name]} if name in run.visible else {}),
        **own,
    }
    env["PATH"] = os.pathsep.join([*_commands(run, process, python), env.get("PATH") or os.defpath])
    return Process(
        name,
        role(process) or "",
        spec["index"],
        seen.argv,
        env,
        seen.cwd,
        addresses.listens(process, run.addresses, run.namespace),
        addresses.waits_for(process, run.addresses, run.namespace),
        resources.memory(process),
        found.secret,
        made.fresh,
    )


def _commands(run: _Run, process: Manifest, python: str) -> list[str]:
    """The folders where the commands of *process* find their Python."""
    name = "every"
    if any(_INSTALLS.search(each) for each in process["spec"]["command"]):
        # What a command installs goes into a container that is thrown away, not to the user.
        name = _name(process)
        place = os.path.join(run.folder, "python", name)
        python = python_env.inherit(python_env.describe(python), place)
    folder = os.path.join(run.folder, "bin", name)
    if not os.path.isdir(folder):
        python_env.commands(python, [run.code.python], folder)
    return [folder, os.path.dirname(python)]
