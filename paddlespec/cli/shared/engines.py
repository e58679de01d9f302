"""The engines of one command: one for each place it goes to, closed at the end."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

from paddlespec import backends
from paddlespec.backends.protocols import Knowledge, Place
from paddlespec.cli.shared import datacenters
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.job_refs import backend_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backends.protocols import Backend, Engine, Request
    from paddlespec.cli.shared.job_refs import JobRef
    from paddlespec.cli.shared.options import JobPlace
    from paddlespec.pipeline import Loaded


class Engines:
    """Opens engines on demand, from any thread, with what the command line says."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._open: dict[tuple[str, Place], Engine] = {}
        self._opening = threading.Lock()
        self._jobs = 1

    def __enter__(self) -> Engines:
        # State is consistent at every moment: ending means closing connections, nothing more.
        signal.signal(signal.SIGTERM, _terminated)
        return self

    def __exit__(self, *_: object) -> None:
        for engine in self._open.values():
            engine.close()

    def share(self, jobs: int) -> None:
        """Divide what may be under way at once among *jobs* parallel operations."""
        with self._opening:
            self._jobs = jobs
            for engine in self._open.values():
                engine.share(jobs)

    def cancel(self) -> None:
        """End every operation at its next request."""
        for engine in self._open.values():
            engine.cancel()

    def of(self, loaded: Loaded) -> Engine:
        """The engine that runs a job."""
        backend = backend_of(loaded.target)
        return self._engine(backend, datacenters.place_of(loaded, backend))

    def of_job(self, job: JobRef) -> Engine:
        """The engine of a job that is given by name or spec."""
        return self._engine(self.backend_of_job(job), Place(job.context, job.namespace))

    def of_target(self, target: str | None) -> Engine:
        """Where to look for all jobs: the place of *target*, else the first that is available."""
        if target is not None:
            return self._engine(backend_of(target), Place())
        default = self._default()
        if self._is_asked_for(default) or default.is_available():
            return self._engine(default, Place())
        available = (other for other in backends.others(default.name) if other.is_available())
        return self._engine(next(available, default), Place())

    def of_place(self, place: JobPlace) -> Engine:
        """Where to look for all jobs: a target, or a datacenter of the default backend."""
        is_elsewhere = place.target is not None and not backend_of(place.target).has_datacenters
        if place.datacenter is None or is_elsewhere:
            return self.of_target(place.target)
        return self.of_datacenter(place.datacenter)

    def of_datacenter(self, name: str | None = None) -> Engine:
        """The engine of a datacenter; without a name where kubectl, or `config use`, points."""
        if name is None:
            return self._engine(self._default(), Place())
        return self.of_connection(name)[0]

    def of_connection(self, name: str | None) -> tuple[Engine, str | None]:
        """The engine of the datacenter *name* or the current one, and the datacenter's name."""
        chosen = self.request.option("--context") is not None
        found = datacenters.connection(name, datacenters.valid_project(), chosen=chosen)
        place = Place(found.context.value, found.namespace.value)
        return self._engine(self._default(), place), found.datacenter.value

    def backend_of_job(self, job: JobRef) -> Backend:
        """
        Which backend a job is in.

        Without a target it is the one where a job of that name runs, as far as that is known
        without a request; else the default one if there is such a place.
        """
        if job.target is not None:
            return backend_of(job.target)
        default = self._default()
        if job.context or self._is_asked_for(default):
            return default
        namespace = self.request.namespace or job.namespace
        known = {
            other.name: (other.knowledge(job.name, namespace), other)
            for other in backends.others(default.name)
        }
        most, backend = max(
            known.values(), key=lambda pair: pair[0], default=(Knowledge.nothing, default)
        )
        elsewhere = most is Knowledge.running or (
            most is not Knowledge.nothing and not default.is_available()
        )
        return backend if elsewhere else default

    def target_when_over(self, job: JobRef) -> str | None:
        """What --target must be to find a job again by name after it ended."""
        default, backend = self._default(), self.backend_of_job(job)
        is_hidden = backend.name != default.name and default.is_available()
        return backend.target if is_hidden else None

    def hint_elsewhere(self, job: JobRef) -> str | None:
        """How to look for a job in another place that knows its name."""
        namespace = self.request.namespace or job.namespace
        for other in backends.others(self.backend_of_job(job).name):
            if other.knowledge(job.name, namespace) >= Knowledge.finished:
                return f"look on {other.where} with --target {other.target}"
        return None

    def refuse_foreign_options(self, jobs: Sequence[Loaded]) -> None:
        """Raise `Stop` for an option that the backend of a job does not take, or its value."""
        given = self.request.options.keys()
        special = (
            {
                option: other
                for other in backends.others(backends.DEFAULT)
                for option in other.options
            }
            if given
            else {}
        )
        for job in jobs:
            backend = backend_of(job.target)
            for option in special.keys() & given - backend.options:
                other = special[option]
                raise Stop(
                    Exit.usage,
                    f"{option} is for target {other.target}, but {job.file} is for {job.target}",
                    f"add --target {other.target}",
                )
            backend.check(self.request)

    def _engine(self, backend: Backend, place: Place) -> Engine:
        if backend.has_datacenters:
            place = self._completed(place)
        key = (backend.name, place)
        with self._opening:
            if key not in self._open:
                engine = backend.open_engine(self.request, place)
                engine.share(self._jobs)
                self._open[key] = engine
            return self._open[key]

    def _completed(self, place: Place) -> Place:
        """*place* with the current datacenter's connection, unless options name another one."""
        if self.request.option("--context") is not None:
            return place._replace(context=None)
        if self.request.option("--kubeconfig") is not None:
            return place
        usual = datacenters.current()
        return place._replace(
            context=place.context or usual.context, namespace=place.namespace or usual.namespace
        )

    def _default(self) -> Backend:
        return backends.load(backends.DEFAULT)

    def _is_asked_for(self, backend: Backend) -> bool:
        return not backend.options.isdisjoint(self.request.options)


def _terminated(*_: object) -> None:
    raise SystemExit(Exit.terminated)
