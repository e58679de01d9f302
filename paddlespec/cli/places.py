"""Where jobs are: the cluster, the namespace, and the names of what a command is about."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli import connect
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.cli.local import Here
    from paddlespec.cluster.engine import Engine as ClusterEngine
    from paddlespec.local.engine import Engine as LocalEngine
    from paddlespec.pipeline import Choices, Loaded

    Engine = ClusterEngine | LocalEngine

LOCAL = "local"
_DURATION = re.compile(r"([0-9]+[dhms])+\Z")


class Engines:
    """The connections of one command: one for each place, closed at the end."""

    def __init__(
        self,
        kubeconfig: str | None,
        context: str | None,
        namespace: str | None,
        deadline: float | None,
        here: Here | None = None,
        *,
        force_unlock: bool = False,
    ) -> None:
        self.kubeconfig, self.context, self.namespace = kubeconfig, context, namespace
        self.deadline, self.here, self.force_unlock = deadline, here, force_unlock
        self._open: dict[tuple[str | None, str | None, str], Engine] = {}
        self._clusters: list[ClusterEngine] = []
        self._opening = threading.Lock()
        self._jobs = 1

    def __enter__(self) -> Engines:
        # State in the cluster is consistent at every moment: all that is left to do at the end
        # is to close connections.
        signal.signal(signal.SIGTERM, _terminated)
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._open.values():
            each.close()

    def share(self, jobs: int) -> None:
        """From now on this many jobs at the same time send requests."""
        self._jobs = jobs
        for each in self._clusters:
            each.share(jobs)

    def cancel(self) -> None:
        """Let every job end at its next request."""
        for each in self._clusters:
            each.cancel()

    def of(self, loaded: Loaded) -> Engine:
        """The engine that runs a job: this machine, or the cluster of its datacenter."""
        if loaded.target == LOCAL:
            return self.local(loaded.job.metadata.namespace, loaded)
        return self.at(context_of(loaded), connect.namespace_for(loaded))

    def meant(self, job: Meant) -> Engine:
        """The engine for a job that a command names."""
        if self._is_local(job):
            return self.local(job.namespace)
        return self.at(job.context, job.namespace)

    def at(self, preferred: str | None, namespace: str | None = None) -> Engine:
        """The engine for a datacenter's context and a job's namespace."""
        from paddlespec.cluster.engine import open_engine

        if self.context is None and self.kubeconfig is None:
            usual = connect.usual()
            preferred, namespace = preferred or usual.context, namespace or usual.namespace
        key = (None if self.context else preferred, namespace, "")
        with self._opening:
            if key not in self._open:
                engine = open_engine(
                    self.kubeconfig, self.context, self.namespace or namespace, key[0]
                )
                engine.until(self.deadline)
                engine.share(self._jobs)
                engine.force_unlock = self.force_unlock
                self._open[key] = engine
                self._clusters.append(engine)
            return self._open[key]

    def local(self, namespace: str | None, loaded: Loaded | None = None) -> Engine:
        """The engine of this machine; a datacenter may say where its mounts are here."""
        from paddlespec.cli.local import open_local

        key = (None, self.namespace or namespace, f"{LOCAL} {loaded.datacenter if loaded else ''}")
        if key not in self._open:
            engine = open_local(key[1], self.here, loaded)
            engine.until(self.deadline)
            self._open[key] = engine
        return self._open[key]

    def _is_local(self, job: Meant) -> bool:
        """Whether a job is the rehearsal: its target says so, or for a bare name what runs here."""
        if job.target is not None:
            return job.target == LOCAL
        if self.context or self.kubeconfig or job.context:
            return False
        from paddlespec.cli.local import is_here

        return is_here(job.name, self.namespace or job.namespace)


def _terminated(*_: object) -> None:
    raise SystemExit(Exit.terminated)


class Meant(NamedTuple):
    """A job that a command names, and where it is."""

    name: str
    namespace: str | None = None
    context: str | None = None
    target: str | None = None


def meant(
    names: Sequence[str] | None,
    file: Sequence[str] | None,
    chosen: Choices,
    namespace: str | None,
) -> list[Meant]:
    """The jobs that are named; a spec need not be valid to say which job it is."""
    bare = [each for each in names or () if not is_path(each)]
    found = [_named(each, chosen) for each in bare]
    paths = [*(each for each in names or () if is_path(each)), *(file or ())]
    found += _of_specs(paths, chosen, namespace)
    if not found:
        raise Stop(Exit.usage, "no job given", "name a job, or its spec")
    return list(dict.fromkeys(found))


def _named(name: str, chosen: Choices) -> Meant:
    """A job without its spec is where the datacenter that is named says, if one is."""
    if chosen.datacenter is None or chosen.target == LOCAL:
        return Meant(name, target=chosen.target)
    place = connect.place_of(chosen.datacenter, connect.here())
    return Meant(name, place.namespace.value, place.context.value, chosen.target)


def _of_specs(paths: list[str], chosen: Choices, namespace: str | None) -> Iterator[Meant]:
    from paddlespec.files import Files
    from paddlespec.pipeline import load

    files = Files()
    names, faults = files.specs(paths)
    for path in names:
        jobs, wrong = load(path, files, chosen)
        faults += wrong
        for each in jobs:
            name = getattr(each.job.metadata, "name", None)
            if not isinstance(name, str):
                raise Stop(Exit.usage, f"{path} names no job", "metadata.name is missing")
            check_places([each], namespace)
            own = getattr(each.job.metadata, "namespace", None)
            if each.target != LOCAL:
                own = own or connect.namespace_for(each)
            yield Meant(name, own, context_of(each), each.target)
    if faults:
        raise Stop(Exit.usage, str(faults[0]))


def is_path(word: str) -> bool:
    """Whether a word names a spec, and not a job."""
    return (
        word in ("-", ".", "..")
        or "/" in word
        or os.sep in word
        or word.endswith((".yaml", ".yml"))
    )


def check_places(jobs: Sequence[Loaded], namespace: str | None) -> None:
    """Refuse what would run somewhere else than its spec says, or twice in one place."""
    seen: dict[tuple[str | None, str | None, str], str] = {}
    for each in jobs:
        metadata = each.job.metadata
        own = getattr(metadata, "namespace", None)
        if own and namespace and own != namespace:
            raise Stop(
                Exit.usage,
                f"{each.file}: job {metadata.name} belongs to namespace {own}, not {namespace}",
                f"leave out -n, or move the job: -u metadata.namespace={namespace}",
            )
        key = (context_of(each), own or namespace, metadata.name)
        if key in seen:
            raise Stop(
                Exit.usage,
                f"{seen[key]} and {each.file} both call their job {metadata.name}",
                "give the jobs different names",
            )
        seen[key] = each.file


def context_of(loaded: Loaded) -> str | None:
    """The context of the datacenter that the job was rendered for: one's own, or the project's."""
    if loaded.datacenter is None or loaded.target == LOCAL:
        return None
    return connect.context_for(loaded)


def deadline_of(timeout: str | None) -> float | None:
    return None if timeout is None else time.monotonic() + seconds_of("--timeout", timeout)


def seconds_of(option: str, text: str) -> int:
    """The value of an option that is a duration."""
    from paddlespec.quantity import seconds

    if not _DURATION.match(text):
        raise Stop(Exit.usage, f"{option} {text}: expected a duration such as 90s or 1h30m")
    return seconds(text)
