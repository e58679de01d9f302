"""Whether a job fits into what its place has left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.shared.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.backends.capabilities import Capacity
    from paddlespec.backends.protocols import Engine
    from paddlespec.capacity.line import Line
    from paddlespec.capacity.need import Need
    from paddlespec.capacity.room import Room
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.pipeline import Built, Choices


class Question(NamedTuple):
    """What a place has; with a job, what of it is left for that job."""

    engine: Engine
    capacity: Capacity
    namespace: str
    job: str | None = None
    need: Need | None = None

    def room(self, *, nodes: bool = False) -> Room:
        """Ask the place."""
        return self.capacity.room(self.namespace, job=self.job, nodes=nodes)

    def lines(self, room: Room) -> list[Line]:
        """What *room* has, one line for each resource."""
        from paddlespec.capacity.room import lines, lines_with_need

        return lines(room) if self.need is None else lines_with_need(room, self.need)


def only_job(path: str, chosen: Choices, templates: str | None) -> Built:
    """The only job of a spec, rendered; diagnostics go to stderr."""
    from paddlespec.cli.shared.build import build_all
    from paddlespec.cli.shared.session import load_valid

    jobs = load_valid([path], chosen.files(), chosen, quiet=True)
    if len(jobs) != 1:
        raise Stop(Exit.usage, f"{path} holds {len(jobs)} jobs", "give the path of one of them")
    return build_all(jobs, templates, chosen.allowed)[0]


def question_of(engines: Engines, built: Built, command: str) -> Question:
    """Whether a job fits where an apply would put it."""
    from paddlespec.capacity.need import need
    from paddlespec.cli.shared.capabilities import needed
    from paddlespec.cli.shared.datacenters import refuse_other_datacenter
    from paddlespec.cli.shared.job_refs import refuse_namesakes

    loaded = built.loaded
    name = loaded.job.metadata.name
    engine = engines.of(loaded)
    capacity = needed(engine.capabilities.capacity, engine, command, name)
    refuse_namesakes([loaded], engines.request.namespace)
    refuse_other_datacenter([loaded], engines.request.option("--context"))
    namespace = loaded.job.metadata.namespace or engine.namespace
    return Question(engine, capacity, namespace, name, need(built.manifests))


def note_of(job: str, pods: int) -> str:
    """What it means that pods of the job exist already."""
    are = "1 pod that counts" if pods == 1 else f"{pods} pods that count"
    return f"{job} has {are} as used; replacing it would free their resources"
