"""`config`: datacenters, how a person reaches them, and which one is current."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddlespec.cli import config_check, config_discover, config_import, listing
from paddlespec.cli.config_file import Edited, InProject, faults, opened, the_project
from paddlespec.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from paddlespec.project import Project
    from paddlespec.settings import Settings

group = typer.Typer(
    name="config",
    help="Datacenters of the project, and your own connections to them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a datacenter.")]
_DATA = ("yaml", "json")


def _both() -> tuple[Settings, Project | None]:
    from paddlespec.cli import connect

    return connect.own(), the_project() if connect.here() else None


def _known(settings: Settings, project: Project | None) -> list[str]:
    return list(dict.fromkeys([*settings.connections, *(project.datacenters if project else ())]))


def _unknown(name: str, known: list[str]) -> Stop:
    from paddlespec.diagnostic import did_you_mean

    hint = did_you_mean(name, known) or (f"there is {', '.join(known)}" if known else None)
    hint = hint or f"paddlespec config add {name} --context CONTEXT"
    return Stop(Exit.usage, f'no datacenter is called "{name}"', hint)


@group.command("list")
def list_datacenters(output: listing.Form = "table") -> int:
    """
    Show the datacenters: the project's, and those of your own configuration.

    The current one has a star.

    \b
    paddlespec config list
    paddlespec config list -o name
    """
    from paddlespec.report.table import Column, table
    from paddlespec.settings import place

    listing.check(output)
    settings, project = _both()
    current = place(settings, project).datacenter.value
    found = []
    for name in _known(settings, project):
        there = place(settings, project, name)
        files = ["project"] if project and name in project.datacenters else []
        files += ["own"] if name in settings.connections else []
        found.append(
            {
                "name": name,
                "current": name == current,
                "context": there.context.value,
                "namespace": there.namespace.value,
                "from": files,
            }
        )
    columns = (Column(""), *map(Column, ("NAME", "CONTEXT", "NAMESPACE", "FROM")))
    rows = [
        (
            "*" if each["current"] else "",
            str(each["name"]),
            str(each["context"] or ""),
            str(each["namespace"] or ""),
            "+".join(each["from"]),  # type: ignore[arg-type]
        )
        for each in found
    ]
    listing.show(
        output,
        lambda: {"datacenters": found},
        lambda: [str(each["name"]) for each in found],
        lambda wide, width: table(columns, rows, wide=wide, width=width),
    )
    return Exit.done


@group.command()
def use(name: Name) -> int:
    """
    Choose the datacenter that commands speak to.

    That is a connection only: what is rendered depends on the project file and on --datacenter. A
    job that is rendered for another one is neither compared nor applied.

    \b
    paddlespec config use dc1
    """
    from paddlespec.cli.tell import note
    from paddlespec.diagnostic import Span

    settings, project = _both()
    known = _known(settings, project)
    if name not in known:
        raise _unknown(name, known)
    file = opened(project=False).put(("datacenter",), name, Span(name))
    file.write()
    note(f"{settings.path}: the current datacenter is {name}")
    rendered = project.chosen(None) if project else None
    if project and rendered not in (None, name):
        more = f"; --datacenter {name} renders for it" if name in project.datacenters else ""
        note(f"specs below {project.path} are rendered for {rendered}{more}")
    return Exit.done


@group.command()
def add(
    name: Name,
    context: Annotated[
        str | None,
        typer.Option("--context", metavar="NAME", help="Context of the kubeconfig."),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option("-n", "--namespace", metavar="NAME", help="Namespace.")
    ] = None,
    project: InProject = False,
) -> int:
    """
    Add a datacenter: your own connection to one, or with --project a place for everybody.

    \b
    paddlespec config add dc1 --context alice@dc1 -n alice
    paddlespec config add dc2 --context k8s-dc2 -n ads --project
    """
    file = opened(project=project)
    if file.position_of(name) is not None:
        hint = f"change it: paddlespec config set '{file.holder}[{name}].context=NAME'"
        raise Stop(Exit.usage, f'{file.path} has "{name}" already', hint)
    values = {"name": name, "context": context, "namespace": namespace}
    value = {key: each for key, each in values.items() if each is not None}
    action: Any = "append" if file.data.get(file.holder) else "set"
    _put(file, (file.holder,), value if action == "append" else [value], action)
    return Exit.done


@group.command()
def delete(name: Name, project: InProject = False) -> int:
    """
    Forget a datacenter; nothing that runs there is touched.

    \b
    paddlespec config delete dc1
    """
    from paddlespec.diagnostic import Span

    file = opened(project=project)
    index = file.position_of(name)
    if index is None:
        raise _unknown(name, [each["name"] for each in file.data.get(file.holder) or ()])
    span = Span(name)
    if len(file.data[file.holder]) == 1:
        file = file.put((file.holder,), None, span, "remove")
    else:
        file = file.put((file.holder, index), None, span, "remove")
    if file.data.get("datacenter") == name:
        file = file.put(("datacenter",), None, span, "remove")
    _write(file)
    return Exit.done


@group.command()
def edit(project: InProject = False) -> int:
    """
    Open a configuration in $VISUAL or $EDITOR; what is not valid is not kept.

    \b
    paddlespec config edit
    paddlespec config edit --project
    """
    import shlex
    import subprocess
    import tempfile

    from paddlespec.diagnostic import InvalidSpec, has_errors
    from paddlespec.edit import Source

    file = opened(project=project)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        draft = os.path.join(folder, os.path.basename(file.path))
        with open(draft, "wb") as opened_draft:
            opened_draft.write(file.source.with_text(file.text))
        try:
            code = subprocess.call([*shlex.split(editor), draft])
        except OSError as error:
            hint = "set EDITOR to the command of an editor"
            raise Stop(Exit.refused, f"{editor}: {error.strerror}", hint) from None
        if code:
            raise Stop(Exit.refused, f"{editor} ended with {code}; nothing is changed")
        with open(draft, "rb") as opened_draft:
            source = Source.of(opened_draft.read(), file.path)
    found = faults(source.text, file.path, file.schema)
    if has_errors(found):
        raise InvalidSpec(found)
    _write(file._replace(text=source.text))
    return Exit.done


@group.command()
def view(
    show_origin: Annotated[
        bool, typer.Option("--show-origin", help="Say which file supplied each value.")
    ] = False,
    datacenter: Annotated[
        str | None,
        typer.Option("--datacenter", metavar="NAME", help="Not the current one, but this."),
    ] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="yaml|json", help="Form of the output.")
    ] = "yaml",
) -> int:
    """
    Show where commands go without options: datacenter, context and namespace.

    \b
    paddlespec config view --show-origin
    """
    from paddlespec.settings import place

    listing.check(output, _DATA)
    settings, project = _both()
    known = _known(settings, project)
    if datacenter is not None and datacenter not in known:
        raise _unknown(datacenter, known)
    found = place(settings, project, datacenter)
    values = found._asdict()
    if show_origin and output == "yaml":
        width = max(len(f"{key}: {each.value}") for key, each in values.items())
        for key, each in values.items():
            sys.stdout.write(f"{key + ': ' + str(each.value or '-'):<{width}}  # {each.origin}\n")
        return Exit.done
    data: Any = {key: each.value for key, each in values.items()}
    if show_origin:
        data = {key: each._asdict() for key, each in values.items()}
    listing.write_data(output, data)
    return Exit.done


@group.command("set")
def set_value(
    changes: Annotated[
        list[str], typer.Argument(metavar="KEY=VALUE...", help="KEY+=VALUE appends to a list.")
    ],
    project: InProject = False,
) -> int:
    """
    Set values of your own configuration, or with --project of the project file.

    Comments survive. All changes are made or none.

    \b
    paddlespec config set defaults.namespace=alice
    paddlespec config set 'datacenters[dc1].queues.default=ads' --project
    """
    file = opened(project=project)
    for each in changes:
        file = _changed(file, each)
    _write(file)
    return Exit.done


@group.command()
def unset(
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="Values to remove.")],
    project: InProject = False,
) -> int:
    """
    Remove values of your own configuration, or with --project of the project file.

    \b
    paddlespec config unset datacenter
    """
    from paddlespec.diagnostic import Span
    from paddlespec.update import Update, parts_of

    file = opened(project=project)
    for each in keys:
        path = parts_of(each, Update(each, (), "remove", option=""))
        file = file.put(path, None, Span(each), "remove")
    _write(file)
    return Exit.done


group.command("import")(config_import.import_file)
group.command()(config_check.check)
group.command()(config_discover.discover)


def _changed(file: Edited, text: str) -> Edited:
    """One `KEY=VALUE`: the value is what it reads as, or else the text that it is."""
    from paddlespec.diagnostic import InvalidSpec, Span
    from paddlespec.source import read
    from paddlespec.update import Update, parts_of, split

    left, splits, right = split(text)
    if not splits:
        raise Stop(Exit.usage, f"{text}: expected KEY=VALUE", "`config unset KEY` removes")
    path = parts_of(left.removesuffix("+"), Update(text, (), "set", option=""))
    action: Any = "append" if left.endswith("+") else "set"
    reading = read(right, text)
    plain = reading.documents[0].data if reading.documents and not reading.diagnostics else right
    try:
        return file.put(path, plain, Span(text), action)
    except InvalidSpec:
        if isinstance(plain, (str, dict, list)):
            raise
        return file.put(path, right, Span(text), action)


def _put(file: Edited, path: tuple[str | int, ...], value: Any, action: Any = "set") -> None:
    from paddlespec.diagnostic import Span

    named = value[-1] if isinstance(value, list) else value
    word = named["name"] if isinstance(named, dict) else str(named)
    _write(file.put(path, value, Span(word), action))


def _write(file: Edited) -> None:
    from paddlespec.cli.tell import note

    file.write()
    note(f"{file.path}: {'changed' if file.is_changed else 'nothing to change'}")
