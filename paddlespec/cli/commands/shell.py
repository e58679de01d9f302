"""`shell`: a scratch container from a spec, a job or an image, for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from paddlespec.cli.shared import options
from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit, Stop
from paddlespec.cli.shared.values import deadline_of, one_of, role_of, seconds_of

if TYPE_CHECKING:
    from paddlespec.backends.capabilities import Executes, Scratch
    from paddlespec.backends.protocols import Engine
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.scratch import Chosen
    from paddlespec.pipeline import Choices, Loaded
    from paddlespec.render.manifest import Manifest
    from paddlespec.targets.shell import Source

_AFTER_DASHES = "paddlespec.command"
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
# The name of a Job has at most 63 characters, and its pod adds some.
_LONGEST = 40
_BASH = "if command -v bash > /dev/null 2>&1; then exec bash; fi; exec sh"
_FROM_IMAGE = b"""\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: scratch}
spec: {mode: parallel, command: "true", trainers: {replicas: 1}}
"""


class PARSER(TyperCommand):
    """Takes everything after `--` as a command, even if no argument precedes it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Split the words at `--`."""
        if "--" in args:
            split = args.index("--")
            ctx.meta[_AFTER_DASHES] = args[split + 1 :]
            args = args[:split]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


def shell(
    ctx: typer.Context,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC|NAME]", help="A spec, a job that exists, or a shell that was kept."
        ),
    ] = None,
    *,
    command: Annotated[
        str | None,
        typer.Option("--command", metavar="TEXT", help="Run this; -- COMMAND... does the same."),
    ] = None,
    role: Annotated[
        str,
        typer.Option("--role", metavar="ROLE", help="Be like a replica of this role."),
    ] = "trainers",
    time: Annotated[
        str, typer.Option("--for", metavar="DURATION", help="End the container after this long.")
    ] = "1h",
    image: Annotated[
        str | None,
        typer.Option("--image", metavar="IMAGE", help="Use this image, not the spec's."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the container until its time ends.")
    ] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="Print its manifests; contact no cluster.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="yaml|json", help="Format of the preview."),
    ] = None,
    layers: options.Layers,
    cluster: options.Cluster,
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout",
            metavar="DURATION",
            help="Give up if it does not run within this time [default: never].",
        ),
    ] = None,
    templates: options.TemplatesFolder = None,
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Open a shell in a scratch container like a job's replica.

    Needs a cluster. The container has the image, mounts, environment and code of the job, but is
    none of its replicas. Exits as its command does, and then deletes the container.

    \b
    paddlespec shell paddlejob.yaml
    paddlespec shell word2vec --role pservers --for 2h
    paddlespec shell --image paddlepaddle/paddle:3.1.0 -- nvidia-smi
    """
    from paddlespec.cli.shared import scratch
    from paddlespec.cli.shared.engines import Engines
    from paddlespec.cli.shared.job_refs import is_path, job_refs

    role = role_of(role) or "trainers"
    if output is not None:
        one_of("-o", output, ("yaml", "json"))
    if source is None and image is None:
        raise Stop(Exit.usage, "no spec given", "name a spec or a job, or give --image")
    seconds = seconds_of("--for", time)
    if not seconds:
        raise Stop(Exit.usage, "--for 0 leaves no time for a shell")
    run = ctx.meta.get(_AFTER_DASHES) or ["sh", "-c", command or _BASH]
    by_name = source is not None and not is_path(source)
    changed = layers.overlay or layers.profile or layers.update or templates
    if by_name and (preview or output or image or changed):
        message = f"{source} names a job that exists, which --preview and layers cannot change"
        raise Stop(Exit.usage, message, "give the path of its spec instead")
    with Engines(cluster.request(deadline_of(timeout))) as engines:
        if by_name:
            (job,) = job_refs([str(source)], None, layers.choices(), cluster.namespace)
            engine = engines.of_job(job)
            chosen = _of_job(engine, job.name, role, seconds)
        else:
            asked = layers.choices(_image_updates(role, image))
            loaded = _loaded(source, asked, quiet=quiet, no_color=no_color)
            engine = engines.of(loaded)
            _offers(engine, loaded.job.metadata.name)
            manifests = _rendered(loaded, role, image, templates, asked.allowed)
            if preview or output:
                name = loaded.job.metadata.name
                return _print(_scratch(manifests, name, role, seconds), output)
            chosen = _of_spec(engines, engine, loaded, manifests, role, seconds)
        return scratch.use(chosen, run, keep=keep, quiet=quiet, no_color=no_color)


def _offers(engine: Engine, job: str) -> tuple[Scratch, Executes]:
    """What a shell needs; raises `Stop` where there are no containers."""
    from paddlespec.cli.shared.capabilities import needed

    scratch, executes = engine.capabilities.scratch, engine.capabilities.executes
    return needed(scratch, engine, "shell", job), needed(executes, engine, "exec", job)


def _of_job(engine: Engine, name: str, role: str, seconds: int) -> Chosen:
    """A shell that was kept, or a new one like a replica of a job that exists."""
    from paddlespec.cli.shared.scratch import Chosen

    scratch, executes = _offers(engine, name)
    kept = scratch.find(name)
    if kept is not None:
        return Chosen(engine, scratch, executes, kept)
    live = scratch.source(name, role)
    manifests = _container(live, [], name, seconds, _unique(name))
    return Chosen(engine, scratch, executes, None, manifests)


def _of_spec(
    engines: Engines,
    engine: Engine,
    loaded: Loaded,
    manifests: list[Manifest],
    role: str,
    seconds: int,
) -> Chosen:
    """A new shell like a replica of a spec."""
    from paddlespec.cli.shared.datacenters import refuse_other_datacenter
    from paddlespec.cli.shared.job_refs import refuse_namesakes
    from paddlespec.cli.shared.scratch import Chosen

    name = loaded.job.metadata.name
    refuse_namesakes([loaded], engines.request.namespace)
    refuse_other_datacenter([loaded], engines.request.option("--context"))
    scratch, executes = _offers(engine, name)
    scratch.check_claims(manifests)
    container = _scratch(manifests, name, role, seconds, _unique(name))
    return Chosen(engine, scratch, executes, None, container)


def _image_updates(role: str, image: str | None) -> list[str]:
    """--image as updates of the spec."""
    from paddlespec.render.roles import PADDLE

    if not image:
        return []
    # To set a field of a role that does not exist would add it.
    return [f"image={image}", *([f"{role}.image={image}"] if role in PADDLE else [])]


def _loaded(source: str | None, asked: Choices, *, quiet: bool, no_color: bool) -> Loaded:
    """The one valid job of *source*; without a spec it is made of an image."""
    from paddlespec.cli.shared.session import load_valid
    from paddlespec.spec.files import STDIN, Files

    files = Files(_FROM_IMAGE if source is None else None, asked.allowed)
    jobs = load_valid([source or STDIN], files, asked, quiet=quiet, no_color=no_color)
    if len(jobs) != 1:
        raise Stop(Exit.usage, f"{source} holds {len(jobs)} jobs", "name the file of one of them")
    return jobs[0]


def _rendered(
    loaded: Loaded,
    role: str,
    image: str | None,
    templates: str | None,
    allowed: tuple[str, ...],
) -> list[Manifest]:
    """The objects of a job; one container needs nothing that other targets add."""
    from paddlespec.cli.shared.build import builder
    from paddlespec.render.roles import declared

    own = declared(loaded.job.spec, role)
    if own is None:
        raise Stop(Exit.usage, f"{loaded.job.metadata.name} has no {role}")
    if image and own.image not in (None, image):
        hint = f"set it instead: -u roles.{role}.image={image}"
        raise Stop(Exit.usage, f"{role} has an image of its own", hint)
    return builder(templates, allowed)(loaded._replace(target="kubernetes"))


def _scratch(
    manifests: list[Manifest], job: str, role: str, seconds: int, name: str | None = None
) -> list[Manifest]:
    from paddlespec.targets.shell import workload

    live = workload(manifests, role)
    if live is None:
        raise Stop(Exit.usage, f"no rendered object of {job} runs its {role}")
    code = [manifest for manifest in manifests if manifest["kind"] == "ConfigMap"]
    return _container(live, code, job, seconds, name or f"{job[:_LONGEST]}-shell")


def _container(
    source: Source, code: list[Manifest], job: str, seconds: int, name: str
) -> list[Manifest]:
    from paddlespec.targets.shell import scratch

    return scratch(source, code, job, name, seconds)


def _unique(job: str) -> str:
    """A name that no other shell has."""
    import secrets

    drawn = "".join(secrets.choice(_LETTERS) for _ in range(5))
    return f"{job[:_LONGEST].rstrip('-')}-shell-{drawn}"


def _print(manifests: list[Manifest], form: str | None) -> int:
    from paddlespec.spec.emit import dump_all

    if form == "json":
        import json

        whole = {"apiVersion": "v1", "kind": "List", "items": manifests}
        write.data(json.dumps(whole, indent=2, ensure_ascii=False) + "\n")
    else:
        write.data(dump_all(manifests))
    return Exit.done
