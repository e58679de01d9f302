"""Check that a command reads only variables that exist."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec.checks import ENVIRONMENT, reads
from paddlespec.checks.command import program_of, shell_script
from paddlespec.checks.sidecars import listed
from paddlespec.diagnostic import did_you_mean
from paddlespec.render import environment, roles, runtime
from paddlespec.render.devices import device
from paddlespec.render.runtime import Context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role, Sidecar
    from paddlespec.render.roles import RoleName

# Paddle's launcher sets these for the processes it starts, not for the command itself.
_FOR_PROCESSES = frozenset(
    (
        "PADDLE_CURRENT_ENDPOINT",
        "PADDLE_GLOBAL_RANK",
        "PADDLE_GLOBAL_SIZE",
        "PADDLE_LOCAL_RANK",
        "PADDLE_LOCAL_SIZE",
        "PADDLE_RANK_IN_NODE",
        "PADDLE_TRAINER_ENDPOINTS",
    )
)

_OF_SIDECAR = "write the value, or set the variable in `env` of the sidecar"
_GENERAL = {
    "PADDLE_RANK": "PADDLESPEC_INDEX",
    "PADDLE_TRAINER_ID": "PADDLESPEC_INDEX",
    "PADDLE_NNODES": "PADDLESPEC_COUNT",
    "PADDLE_TRAINERS_NUM": "PADDLESPEC_COUNT",
}


@reads(
    "spec.env",
    "spec.envFrom",
    "spec.args",
    "spec.setup",
    "spec.teardown",
    "spec.{role}.env",
    "spec.{role}.command",
    "spec.{role}.args",
    *ENVIRONMENT,
)
def unset(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A variable of Paddle that the contract does not set expands to an empty word."""
    spec = facts.job.spec
    of_roles = (roles.role(spec, name).env_from for name in roles.names(spec))
    if spec.env_from or any(of_roles):
        return  # Whole Secrets and ConfigMaps may hold any variable.
    texts = [text for text in _texts(facts, name, role) if "$" in text[1] or "=" in text[1]]
    if not any("$" in text for _, text, _ in texts):
        return
    assigned = {"NS", "IDX"}
    for _, text, _ in texts:
        assigned |= {match[1] or match[2] for match in _assignments().finditer(text)}
    reported: set[str] = set()
    others = {path for path, _, _ in _texts(facts, "trainers", spec.trainers)}
    for path, text, has_shell in texts:
        # A text that roles share is reported once, and may read what only one of them has.
        shared = roles.under(path) != name
        if name != "trainers" and path in others:
            continue
        known = assigned.union(
            *(_set_for(facts, one) for one in (roles.names(spec) if shared else (name,)))
        )
        for match in _references().finditer(text):
            # Without a shell, only the kubelet expands references.
            variable = match[3] or (match[1] or match[2] if has_shell else "")
            if (
                not variable
                or variable in known
                or variable in reported
                or not environment.is_managed(variable)
            ):
                continue
            reported.add(variable)
            message = f"${variable} is not set in this job"
            yield facts.error("unset-variable", message, path, _hint(facts, variable, known))


def _set_for(facts: Facts, name: RoleName) -> set[str]:
    """Return the variables that the contract and the spec set for a role."""
    spec = facts.job.spec
    role = roles.role(spec, name)
    return {*environment.of(facts.job, name, Context("any")), *spec.env, *role.env}


def _texts(facts: Facts, name: RoleName, role: Role) -> Iterator[tuple[Path, str, bool]]:
    """Yield the texts in which a shell or, where that is False, only the kubelet expands names."""
    spec = facts.job.spec
    path, command = program_of(spec, name, role)
    if isinstance(command, str):
        yield path, command, True
    else:
        has_shell = bool(command and shell_script(path, command))
        yield from (((*path, index), word, has_shell) for index, word in enumerate(command or ()))
    for field, lines in (("setup", spec.setup), ("teardown", spec.teardown)):
        yield from ((("spec", field, index), line, True) for index, line in enumerate(lines))


@reads(
    "spec.command",
    "spec.args",
    "spec.setup",
    "spec.teardown",
    "spec.{role}.command",
    "spec.{role}.args",
    "spec.{role}.resources",
)
def chosen_devices(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """A command must not choose devices either: their numbers are those of another machine."""
    kind = device(role.resources.accelerator) if role.resources.gpu else None
    for path, text, _ in _texts(facts, name, role) if kind else ():
        for match in _assignments().finditer(text):
            if kind and match[1] in (*kind.visible, kind.selected):
                message = f"{match[1]} overrides the accelerators assigned by the node"
                hint = "remove it; `resources.gpu` sets the number of accelerators"
                yield facts.warning("visible-devices", message, path, hint)


def _hint(facts: Facts, variable: str, known: set[str]) -> str:
    if variable in _FOR_PROCESSES and facts.job.spec.mode == "collective":
        return "read it in the program: the launcher sets it for the processes that it starts"
    alone = facts.job.spec.mode == "collective" and not runtime.meets(facts.job)
    if alone and variable in ("POD_IP", "PADDLE_MASTER", "PADDLE_TRAINERS", "PADDLE_PORT"):
        return f"remove it, or write ${{{variable}:-}}: a single replica has no peers"
    if (general := _GENERAL.get(variable)) and variable not in known:
        return f"use ${general}"
    managed = {name for name in known if environment.is_managed(name)}
    return did_you_mean(variable, managed) or f"remove it, or give it a default: ${{{variable}:-}}"


@reads(
    "metadata.name",
    "spec.sidecars",
    "spec.trainers",
    "spec.pservers",
    "spec.roles",
    "spec.input",
    "spec.output",
    "spec.workspace",
)
def unset_in_sidecars(facts: Facts) -> Iterator[Diagnostic]:
    """Sidecars do not get the variables of Paddle."""
    for path, sidecar, having in listed(facts.job.spec):
        known = {"NS", "IDX", "PADDLE_CLOUD_CURRENT_DATACENTER", *sidecar.env}
        known |= set(environment.common(facts.job, having[0], Context("any")))
        for where, text, has_shell in _texts_of_sidecar(path, sidecar):
            assigned = {match[1] or match[2] for match in _assignments().finditer(text)}
            for match in _references().finditer(text):
                variable = match[3] or (match[1] or match[2] if has_shell else "")
                if (
                    variable
                    and environment.is_managed(variable)
                    and variable not in known | assigned
                ):
                    message = f"${variable} is not set in sidecars"
                    hint = f"use ${_GENERAL[variable]}" if variable in _GENERAL else _OF_SIDECAR
                    yield facts.error("unset-variable", message, where, hint)


def _texts_of_sidecar(path: Path, sidecar: Sidecar) -> Iterator[tuple[Path, str, bool]]:
    if isinstance(sidecar.command, str):
        yield (*path, "command"), sidecar.command, True
    else:
        script = sidecar.command and shell_script((*path, "command"), sidecar.command)
        for index, word in enumerate(sidecar.command or ()):
            yield (*path, "command", index), word, bool(script)
    yield from (((*path, "args", index), word, False) for index, word in enumerate(sidecar.args))
    for name, value in sidecar.env.items():
        if isinstance(value, str):
            yield (*path, "env", name), value, False


@lru_cache(maxsize=1)
def _references() -> re.Pattern[str]:
    """Match `$NAME`, `${NAME}` and `$(NAME)`; not a reference with a default, or a quoted dollar."""
    name = r"([A-Z][A-Z0-9_]*)"
    return re.compile(rf"(?<![\\$])\$(?:{name}\b|\{{{name}\}}|\({name}\))")


@lru_cache(maxsize=1)
def _assignments() -> re.Pattern[str]:
    return re.compile(r"\b([A-Za-z_]\w*)\+?=|\b(?:for|read|read -r) +([A-Za-z_]\w*)")
