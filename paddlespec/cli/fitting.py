"""Which job is asked about, and the cluster that it would go to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.capacity.line import Line
    from paddlespec.capacity.need import Need
    from paddlespec.capacity.room import Room
    from paddlespec.cli.places import Engines
    from paddlespec.cluster.client import Client
    from paddlespec.pipeline import Built, Choices


class Question(NamedTuple):
    """What a place has, or with a job what of it is left for that."""

    client: Client
    namespace: str
    job: str | None = None
    need: Need | None = None

    def room(self, *, with_nodes: bool = False) -> Room:
        """Look at the place."""
        from paddlespec.cluster.room import room

        return room(self.client, self.namespace, job=self.job, with_nodes=with_nodes)

    def lines(self, room: Room) -> list[Line]:
        """What is in *room*, one line for each resource."""
        from paddlespec.capacity.room import lines, wanted

        return lines(room) if self.need is None else wanted(room, self.need)


def one_job(path: str, chosen: Choices, templates: str | None) -> Built:
    """The only job of a spec, rendered; findings go to stderr."""
    from paddlespec.cli.build import build_all
    from paddlespec.cli.session import load_valid
    from paddlespec.files import Files

    jobs = load_valid([path], Files(), chosen, quiet=True)
    if len(jobs) != 1:
        raise Stop(Exit.usage, f"{path} holds {len(jobs)} jobs", "ask for them one by one")
    return build_all(jobs, templates)[0]


def of_job(engines: Engines, built: Built) -> Question:
    """Whether a job fits where an apply would put it."""
    from paddlespec.capacity.need import need
    from paddlespec.cli import connect
    from paddlespec.cli.places import LOCAL, check_places
    from paddlespec.cluster.engine import Engine

    loaded = built.loaded
    name = loaded.job.metadata.name
    if loaded.target == LOCAL:
        raise Stop(Exit.usage, f"{name}: the target local has no cluster that could be full")
    check_places([loaded], engines.namespace)
    connect.agree([loaded], engines.context)
    client = cast("Engine", engines.of(loaded)).client
    space = loaded.job.metadata.namespace or client.namespace
    return Question(client, space, name, need(built.manifests))


def held(job: str, count: int) -> str:
    """What the pods of a job that runs already mean for whether it fits."""
    pods = "pod, which counts" if count == 1 else "pods, which count"
    return f"{job} has {count} {pods} as used: a replacement would free what they hold"
