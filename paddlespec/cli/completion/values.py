"""The values that an option or argument takes, as far as they are known."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from paddlespec.cli.completion.line import Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paddlespec.cli.completion.line import Given
    from paddlespec.spec.document import Document

# Nobody waits longer for a TAB.
_SECONDS = 1.0
_CHOICE = re.compile(r"[a-z][a-z0-9-]*")
_REVISIONS = ("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags")


def values(param: Any, given: Given, current: str) -> Offer:
    """Return the values of *param*; *current* is the beginning of one."""
    metavar = (param.metavar or "").strip("[]")
    source = _OF_OPTION.get(param.opts[-1]) or _OF_METAVAR.get(metavar)
    if param.param_type_name == "argument":
        source = _OF_ARGUMENT.get((given.command, metavar)) or _OF_METAVAR.get(metavar)
    if source is not None:
        return source(given, current)
    return _words(choice for choice in metavar.split("|") if _CHOICE.fullmatch(choice))


def _words(those: Iterable[str]) -> Offer:
    return Offer([(word, "") for word in dict.fromkeys(those)])


def _files(_given: Given, _current: str) -> Offer:
    return Offer(files=True)


def _folders(_given: Given, _current: str) -> Offer:
    return Offer(folders=True)


def _targets(_given: Given, _current: str) -> Offer:
    from paddlespec import targets

    return _words(targets.known())


def _datacenters(_given: Given, _current: str) -> Offer:
    from paddlespec.cli.shared import datacenters

    return _words(datacenters.names())


def _contexts(given: Given, _current: str) -> Offer:
    from paddlespec import backends

    contexts: Callable[[str | None], list[str]] | None = getattr(
        backends.load(backends.DEFAULT), "contexts", None
    )
    return _words(contexts(given.option("--kubeconfig"))) if contexts else Offer()


def _profiles(given: Given, _current: str) -> Offer:
    return _words(name for spec in _specs(given) for name in spec.at(("profiles",)) or ())


def _roles(given: Given, _current: str) -> Offer:
    from paddlespec.render.roles import PADDLE

    further = (name for spec in _specs(given) for name in spec.at(("spec", "roles")) or ())
    return _words([*PADDLE, *further])


def _specs(given: Given) -> Iterator[Document]:
    """Yield the specs on the command line, or those of the file in this folder."""
    from paddlespec.cli.shared.job_refs import is_path
    from paddlespec.cli.shared.session import SPEC
    from paddlespec.spec.files import Files

    files = Files()
    paths = [*given.arguments, *given.options.get("--file", ())]
    # A job on this machine may be given by name.
    specs = [path for path in paths if is_path(path) or os.path.exists(path)]
    for path in files.specs(specs or [SPEC])[0]:
        yield from files.read(path).documents


def _states(_given: Given, _current: str) -> Offer:
    from paddlespec.runs.state import Stage

    return _words(["ready", "complete", "deleted", *(stage.value for stage in Stage)])


def _scales(_given: Given, current: str) -> Offer:
    before, comma, _ = current.rpartition(",")
    return _words(["trainers=", "pservers="]).after(before + comma)


def _revisions(_given: Given, _current: str) -> Offer:
    import subprocess

    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            ["git", *_REVISIONS], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        return _words(f"git:{name}" for name in ("HEAD", *done.stdout.split()))._replace(
            folders=True
        )
    return Offer(folders=True)


def _settings(given: Given, current: str) -> Offer:
    """Fields to set; a value that is one of several words is offered after `=`."""
    from paddlespec.spec import fields
    from paddlespec.spec.update import split

    if given.command == "set" and not given.arguments:
        return Offer(files=True)
    key, has_value, _ = split(current)
    if not has_value:
        return _levels(current, "=")
    path = tuple(key.removesuffix("+").split("."))
    node = fields.find(path) or fields.find(("spec", *path)) or {}
    choices = [str(choice) for branch in fields.branches(node) for choice in branch.get("enum", ())]
    if "boolean" in fields.types(node):
        choices += ["true", "false"]
    return _words(choices).after(f"{key}=")


def _fields(_given: Given, current: str) -> Offer:
    return _levels(current, "")


def _levels(current: str, end: str) -> Offer:
    """Fields one level below what is typed; those without fields below end with *end*."""
    from paddlespec.spec import fields

    paths = [path.removeprefix("spec.") for path in fields.known()]
    inner = {path.rpartition(".")[0] for path in paths}
    depth = current.count(".")
    level = [path for path in paths if path.count(".") == depth and path.startswith(current)]
    return _words(f"{path}{'.' if path in inner else end}" for path in level)


def _jobs(given: Given, _current: str) -> Offer:
    return _words(_job_names(given))


def _jobs_and_files(given: Given, current: str) -> Offer:
    from paddlespec.cli.shared.job_refs import is_path

    return Offer(files=True) if is_path(current) else _jobs(given, current)._replace(files=True)


def _job_names(given: Given) -> Iterator[str]:
    """Jobs on this machine, and those of a cluster that answers at once."""
    from paddlespec import backends
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.options import Cluster, JobPlace
    from paddlespec.runs.failures import OperationFailed

    target, datacenter = given.option("--target"), given.option("--datacenter")
    options = ("--context", "--namespace", "--kubeconfig")
    cluster = Cluster(*(given.option(name) for name in options))
    with Engines(cluster.request(time.monotonic() + _SECONDS)) as engines:
        places = [target]
        if target is None and datacenter is None:
            every = [backends.load(backends.DEFAULT), *backends.others(backends.DEFAULT)]
            places = [backend.target for backend in every if backend.is_available()]
        for place in places:
            with suppress(OperationFailed):
                engine = engines.of_place(JobPlace(place, datacenter))
                yield from (job.name for job in engine.job_states(everywhere=False, over=True)[0])


def _schemas(_given: Given, _current: str) -> Offer:
    from paddlespec.cli.commands.schema import known

    return _words(known())


_OF_OPTION: dict[str, Callable[[Given, str], Offer]] = {
    "--target": _targets,
    "--datacenter": _datacenters,
    "--context": _contexts,
    "--profile": _profiles,
    "--role": _roles,
    "--update": _settings,
    "--scale": _scales,
    "--against": _revisions,
}
_OF_METAVAR: dict[str, Callable[[Given, str], Offer]] = {
    "FILE": _files,
    "PATH": _files,
    "PATH...": _files,
    "PATH=DIR": _files,
    "IMAGE|PATH": _files,
    "DIR": _folders,
    "DIR] [-- COMMAND...": _folders,
    "-- COMMAND...": _files,
    "NAME|PATH": _jobs_and_files,
    "NAME|PATH...": _jobs_and_files,
    "SPEC|NAME": _jobs_and_files,
    "ready|complete|deleted|STATE": _states,
    "source|effective|project|config|output/NAME": _schemas,
    "FIELD": _fields,
}
_OF_ARGUMENT: dict[tuple[str, str], Callable[[Given, str], Offer]] = {
    ("set", "KEY=VALUE..."): _settings,
    ("get jobs", "NAME..."): _jobs,
    ("config use", "NAME"): _datacenters,
    ("config delete", "NAME"): _datacenters,
    ("config check", "NAME"): _datacenters,
}
