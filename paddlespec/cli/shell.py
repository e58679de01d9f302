"""`shell`: a scratch container from a spec, a job or an image, for a while."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from paddlespec.cli import options, scratch
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.cli.places import Engine, Engines
    from paddlespec.cluster.client import Client
    from paddlespec.manifest import Manifest
    from paddlespec.pipeline import Choices, Loaded

_AFTER = "paddlespec.command"
_ROLES = ("trainers", "pservers")
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
# A Job may be called by 63 letters, and its pod has to have some of its own.
_LONGEST = 40
_BASH = "if command -v bash > /dev/null 2>&1; then exec bash; fi; exec sh"
_FROM_IMAGE = b"""\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: scratch}
spec: {mode: parallel, command: "true", trainers: {replicas: 1}}
"""


class Split(TyperCommand):
    """A command after whose `--` another one follows: nothing else need be given before it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            split = args.index("--")
            ctx.meta[_AFTER] = args[split + 1 :]
            args = args[:split]
        found: list[str] = super().parse_args(ctx, args)
        return found


def shell(
    ctx: typer.Context,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC|NAME]", help="A spec, a job that is there, or a shell that was kept."
        ),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option("--command", metavar="TEXT", help="Run this; also `-- COMMAND...`."),
    ] = None,
    role: Annotated[
        str, typer.Option("--role", metavar="|".join(_ROLES), help="Like a replica of this role.")
    ] = "trainers",
    time: Annotated[
        str, typer.Option("--for", metavar="DURATION", help="It is gone after so long.")
    ] = "1h",
    image: Annotated[
        str | None,
        typer.Option("--image", metavar="IMAGE", help="This image, instead of the spec's."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave it there afterwards, until its time is over.")
    ] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="Write its manifests, and contact no cluster.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="yaml|json", help="Form of the preview."),
    ] = None,
    overlay: options.Overlay = None,
    profile: options.Profile = None,
    update: options.Update = None,
    target: options.Target = None,
    datacenter: options.Datacenter = None,
    context: options.Context = None,
    namespace: options.Namespace = None,
    kubeconfig: options.Kubeconfig = None,
    timeout: options.Timeout = None,
    templates: options.TemplatesFolder = None,
    no_color: options.NoColor = False,
    quiet: options.Quiet = False,
) -> int:
    """
    Open a shell in a scratch container with the image, mounts, environment and code of a job.

    It is none of the job's replicas, and nothing waits for it. Exits as its command does, and
    removes it then; its time ends it in any case. --timeout is how long to wait until it runs.

    \b
    paddlespec shell paddlejob.yaml
    paddlespec shell word2vec --role pservers --for 2h
    paddlespec shell --image paddlepaddle/paddle:3.1.0 -- nvidia-smi
    """
    from paddlespec.cli import connect, places, seen
    from paddlespec.cli.session import choices

    if role not in _ROLES:
        raise Stop(Exit.usage, f"--role {role}: expected one of {', '.join(_ROLES)}")
    if output not in (None, "yaml", "json"):
        raise Stop(Exit.usage, f"-o {output}: expected one of yaml, json")
    if source is None and image is None:
        raise Stop(Exit.usage, "no spec given", "name a spec, a job, or an --image")
    seconds = places.seconds_of("--for", time)
    if not seconds:
        raise Stop(Exit.usage, "--for 0: there would be nothing to open")
    run = ctx.meta.get(_AFTER) or ["sh", "-c", command or _BASH]
    by_name = source is not None and not places.is_path(source)
    if by_name and (preview or output or image or overlay or profile or update or templates):
        told = f"{source} is a job that is there: it is taken as it is"
        raise Stop(Exit.usage, told, "to preview or to change it, give the path of its spec")
    if by_name and target == places.LOCAL:
        raise _no_container(str(source))
    asked = choices(overlay, profile, _updates(update, role, image), target, datacenter)
    with places.Engines(kubeconfig, context, namespace, places.deadline_of(timeout)) as engines:
        if by_name:
            job = seen.the_job(str(source), target, datacenter, namespace)
            found = _by_name(_client(engines.meant(job), job.name), job.name, role, seconds)
        else:
            loaded = _loaded(source, asked, quiet=quiet, no_color=no_color)
            manifests = _rendered(loaded, role, templates)
            if preview or output:
                return _write(_scratch(manifests, loaded.job.metadata.name, role, seconds), output)
            places.check_places([loaded], namespace)
            connect.agree([loaded], context)
            found = _of_spec(engines, loaded, manifests, role, seconds)
        return scratch.use(found, run, keep=keep, quiet=quiet, no_color=no_color)


def _by_name(client: Client, name: str, role: str, seconds: int) -> scratch.Found:
    """A shell that was kept, or a new one like a replica of a job that is there."""
    from paddlespec.cluster import shell as shells

    kept = shells.find(client, name)
    if kept is not None:
        return scratch.Found(client, kept)
    live = shells.source_of(client, name, role)
    manifests = _made(live, [], name, seconds, _named(name))
    return scratch.Found(client, None, manifests)


def _of_spec(
    engines: Engines, loaded: Loaded, manifests: list[Manifest], role: str, seconds: int
) -> scratch.Found:
    from paddlespec.cluster import shell as shells

    name = loaded.job.metadata.name
    client = _client(engines.of(loaded), name)
    shells.check_claims(client, manifests)
    return scratch.Found(client, None, _scratch(manifests, name, role, seconds, _named(name)))


def _client(engine: Engine, name: str) -> Client:
    """The connection of a cluster's engine; processes of this machine have no image to open."""
    from paddlespec.cluster.engine import Engine as ClusterEngine

    if not isinstance(engine, ClusterEngine):
        raise _no_container(name)
    return engine.client


def _no_container(name: str) -> Stop:
    told = "a shell is a container, and a rehearsal has none"
    return Stop(Exit.usage, told, f"beside a process of it: paddlespec exec {name} -- bash")


def _updates(update: list[str] | None, role: str, image: str | None) -> list[str]:
    """What is given in other words as updates of the spec."""
    named = [f"image={image}", f"{role}.image={image}"] if image else []
    return [*(update or ()), *named]


def _loaded(source: str | None, asked: Choices, *, quiet: bool, no_color: bool) -> Loaded:
    """The one job that is meant, valid; without a spec it is made of an image."""
    from paddlespec.cli.places import LOCAL
    from paddlespec.cli.session import load_valid
    from paddlespec.files import STDIN, Files

    files = Files(_FROM_IMAGE if source is None else None)
    jobs = load_valid([source or STDIN], files, asked, quiet=quiet, no_color=no_color)
    if len(jobs) != 1:
        raise Stop(Exit.usage, f"{source} holds {len(jobs)} jobs", "name the file of one of them")
    if jobs[0].target == LOCAL:
        raise _no_container(jobs[0].job.metadata.name)
    return jobs[0]


def _rendered(loaded: Loaded, role: str, templates: str | None) -> list[Manifest]:
    """The objects of a job; one container needs nothing of what other targets offer."""
    from paddlespec.cli.build import builder

    if getattr(loaded.job.spec, role) is None:
        raise Stop(Exit.usage, f"{loaded.job.metadata.name} has no {role}")
    return builder(templates)(loaded._replace(target="kubernetes"))


def _scratch(
    manifests: list[Manifest], job: str, role: str, seconds: int, name: str | None = None
) -> list[Manifest]:
    from paddlespec.targets.shell import workload

    found = workload(manifests, role)
    if found is None:
        raise Stop(Exit.usage, f"nothing that is rendered of {job} runs its {role}")
    code = [each for each in manifests if each["kind"] == "ConfigMap"]
    return _made(found, code, job, seconds, name or f"{job[:_LONGEST]}-shell")


def _made(
    source: Manifest, code: list[Manifest], job: str, seconds: int, name: str
) -> list[Manifest]:
    from paddlespec.targets.shell import scratch as made

    return made(source, code, job, name, seconds)


def _named(job: str) -> str:
    """A name that no other shell has."""
    import secrets

    drawn = "".join(secrets.choice(_LETTERS) for _ in range(5))
    return f"{job[:_LONGEST].rstrip('-')}-shell-{drawn}"


def _write(manifests: list[Manifest], form: str | None) -> int:
    from paddlespec.emit import dump_all

    if form == "json":
        import json

        whole = {"apiVersion": "v1", "kind": "List", "items": manifests}
        sys.stdout.write(json.dumps(whole, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(dump_all(manifests))
    return Exit.done
