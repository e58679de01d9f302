"""Check that the program receives the variables the author meant."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec.checks import ENVIRONMENT, reads
from paddlespec.checks.written import has_unknown_keys, written
from paddlespec.diagnostic import did_you_mean
from paddlespec.quantity import canonical
from paddlespec.render import environment, roles
from paddlespec.render.devices import device
from paddlespec.render.runtime import Context

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paddlespec.checks import Env, Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import EnvFrom, EnvSource, Role
    from paddlespec.render.roles import RoleName

_KINDS = "`{secret, key}`, `{configMap, key}`, `{field}`, `{resource}` or `{value, sensitive}`"
_WHOLE = frozenset(("secret", "configMap", "prefix", "optional"))
_FIELDS = frozenset(
    ("secret", "configMap", "key", "field", "resource", "divisor", "value", "sensitive")
)
_WITH_KEY = frozenset(("secret", "configMap"))
# Fields of a pod that the API server accepts in variables, besides single labels and annotations.
POD_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_SIZES = ("1", *(f"1{unit}" for unit in "kMGTPE"), *(f"1{unit}i" for unit in "KMGTPE"))
_RESOURCES = ("cpu", "memory", "ephemeral-storage")
# The launcher would read the topology from these instead of from the runtime contract.
_MISLEADING = frozenset(("DISTRIBUTED_TRAINER_ENDPOINTS",))
_SET_BY_IMAGES = frozenset(("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "PWD", "USER"))
# Comparing names is slow: with more than this many, no similar name is suggested.
_MAX_CANDIDATES = 50


@reads("{env}", "spec.mode", "spec.allowManagedEnv")
def managed(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """Variables of the runtime contract must not be overridden by accident."""
    spec = facts.job.spec
    for name in env:
        if name in spec.allow_managed_env or not _is_managed(name, spec.mode):
            continue
        message = f"{name} is managed by paddlespec"
        hint = f"remove it, or add `allowManagedEnv: [{name}]` to override it"
        yield facts.error("managed-env", message, (*path, name), hint, key=True)


def _is_managed(name: str, mode: str) -> bool:
    if environment.is_managed(name):
        return True
    return (name == "OUTPUT" and mode == "legacy") or (name in _MISLEADING and mode == "collective")


@reads("spec.allowManagedEnv", "spec.mode")
def allowed(facts: Facts) -> Iterator[Diagnostic]:
    """`allowManagedEnv` names managed variables."""
    spec = facts.job.spec
    for index, name in enumerate(spec.allow_managed_env):
        if not _is_managed(name, spec.mode):
            message = f"{name} is not managed by paddlespec"
            path = ("spec", "allowManagedEnv", index)
            hint = (
                did_you_mean(name, environment.MANAGED_NAMES) or "remove it from `allowManagedEnv`"
            )
            yield facts.warning("allow-managed-env", message, path, hint)


@reads("{env}")
def source(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """A variable that is not a plain value has exactly one source."""
    for name, value in env.items():
        if isinstance(value, (str, int, float)):
            continue
        kinds = [
            kind
            for kind, source_value in (
                ("secret", value.secret),
                ("configMap", value.config_map),
                ("field", value.field),
                ("resource", value.resource),
                ("value", value.value),
            )
            if source_value is not None
        ]
        variable = (*path, name)
        if len(kinds) > 1:
            message = f"{name} has {len(kinds)} sources: {', '.join(kinds)}"
            yield facts.error("env-source", message, variable, f"use one of {_KINDS}", key=True)
        elif has_unknown_keys(facts.document, variable, _FIELDS):
            continue
        elif not kinds:
            message = f"{name} has no value"
            yield facts.error("env-source", message, variable, f"use one of {_KINDS}", key=True)
        else:
            yield from _members(facts, variable, kinds[0], value)


def _members(facts: Facts, variable: Path, kind: str, value: EnvSource) -> Iterator[Diagnostic]:
    """The members of a source belong to its kind, and a reference is complete."""
    name = str(variable[-1])
    what = "a value" if kind == "value" else f"a {kind}"
    if kind not in _WITH_KEY and value.key is not None:
        message = f"{name} has {what}, so `key` has no effect"
        where = (*variable, "key")
        yield facts.error("env-source", message, where, f"use one of {_KINDS}", key=True)
    elif kind in _WITH_KEY and value.key is None:
        message = f"{name} refers to a {kind} without naming a key"
        yield facts.error("env-source", message, variable, "add `key`", key=True)
    elif kind != "value" and value.sensitive:
        message = f"{name} is a reference, so `sensitive` has no effect"
        where = (*variable, "sensitive")
        yield facts.error("env-source", message, where, "remove `sensitive`", key=True)
    elif kind != "resource" and value.divisor is not None:
        message = f"{name} has {what}, so `divisor` has no effect"
        where = (*variable, "divisor")
        yield facts.error("env-source", message, where, "remove `divisor`", key=True)
    elif value.field is not None and not _is_field(value.field):
        message = f'variables cannot have the value of "{value.field}"'
        holder = _holder().match(value.field)
        hint = (
            f"use {holder[0]}['KEY']"
            if holder
            else did_you_mean(value.field, POD_FIELDS) or f"use one of {', '.join(POD_FIELDS)}"
        )
        yield facts.error("env-source", message, (*variable, "field"), hint)
    elif value.resource is not None and not _resource().fullmatch(value.resource):
        message = f'"{value.resource}" is not a request or limit of a container'
        names = [f"{kind}.{name}" for kind in ("limits", "requests") for name in _RESOURCES]
        hint = did_you_mean(value.resource, names) or f"use one of {', '.join(names)}"
        yield facts.error("env-source", message, (*variable, "resource"), hint)
    elif value.divisor is not None and canonical(value.divisor) not in _divisors(value.resource):
        message = f"{value.resource} cannot be counted in units of {value.divisor}"
        hint = f"use one of {', '.join(_divisors(value.resource))}"
        yield facts.error("env-source", message, (*variable, "divisor"), hint)


def _divisors(resource: str | None) -> tuple[str, ...]:
    """Return the divisors that the API server accepts, as it spells them."""
    return ("1m", "1") if resource and resource.endswith(".cpu") else _SIZES


def _is_field(path: str) -> bool:
    return path in POD_FIELDS or bool(_keyed().fullmatch(path))


@reads("spec.envFrom")
def whole_sources(facts: Facts) -> Iterator[Diagnostic]:
    """Each source of variables is one Secret or ConfigMap."""
    yield from _whole(facts, ("spec", "envFrom"), facts.job.spec.env_from)


@reads("spec.{role}.envFrom")
def whole_sources_of_role(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Check the sources of one role in the same way."""
    yield from _whole(facts, (*roles.path(name), "envFrom"), role.env_from)


def _whole(facts: Facts, path: Path, sources: Iterable[EnvFrom]) -> Iterator[Diagnostic]:
    for index, entry in enumerate(sources):
        if bool(entry.secret) == bool(entry.config_map):
            which = "two sources" if entry.secret else "no source"
            message = f"an entry of envFrom has {which}"
            if not entry.secret and has_unknown_keys(facts.document, (*path, index), _WHOLE):
                continue
            yield facts.error("env-source", message, (*path, index), "set `secret` or `configMap`")


@reads("{env}")
def spelling(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """Variables are text: an unquoted number or boolean may lose its spelling."""
    for name, value in env.items():
        if not isinstance(value, (int, float)):
            continue
        text = str(value).lower() if isinstance(value, bool) else str(value)
        original = written(facts.document, (*path, name))
        if original is None or original == text or original.startswith("$"):
            continue
        if _is_scientific(original, value):
            continue
        message = f'the value of {name} becomes "{text}"'
        yield facts.warning("env-number", message, (*path, name), f'quote it: "{original}"')


def _is_scientific(original: str, value: object) -> bool:
    """Whether the value is clearly meant as a number, such as `1e-4`."""
    return isinstance(value, float) and "e" in original.lower()


@reads("{env}")
def case(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """Two names that differ only in case are likely a mistake, except for proxy variables."""
    if len(env) < 2:
        return
    seen: dict[str, str] = {}
    for name in env:
        folded = name.upper()
        if folded in seen and not folded.endswith("_PROXY"):
            message = f"{name} and {seen[folded]} differ only in case"
            hint = "keep one of them"
            yield facts.warning("env-case", message, (*path, name), hint, key=True)
        seen.setdefault(folded, name)


@reads("{env}", "spec.trainers.resources", "spec.pservers.resources", "spec.roles")
def devices(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """The device plugin decides which accelerators a replica sees."""
    spec = facts.job.spec
    role = roles.declared(spec, roles.under(path) or "trainers")
    kind = device(role.resources.accelerator) if role and role.resources.gpu else None
    for name in (*kind.visible, kind.selected) if kind else ():
        if name not in env:
            continue
        message = f"{name} overrides the accelerators assigned by the node"
        hint = "remove it; `resources.gpu` sets the number of accelerators"
        yield facts.warning("visible-devices", message, (*path, name), hint, key=True)


@reads(
    "spec.env",
    "spec.{role}.env",
    *ENVIRONMENT,
)
def references(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """`$(NAME)` expands only to variables defined before it; `$NAME` never expands."""
    general = facts.job.spec.env
    env = {**general, **role.env} if role.env else general
    texts = {key: _text(value) for key, value in env.items()}
    if not any("$" in text for text in texts.values()):
        return
    known = {"NS", "IDX", *environment.of(facts.job, name, Context("any"))} - env.keys()
    for key, text in texts.items():
        path = (*roles.path(name), "env", key) if key in role.env else ("spec", "env", key)
        if "$" in text:
            yield from _unknown_references(facts, path, text, known, env)
        known.add(key)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else getattr(value, "value", None)
    return text if isinstance(text, str) else ""


def _unknown_references(
    facts: Facts, path: Path, text: str, known: set[str], env: Env
) -> Iterator[Diagnostic]:
    for match in _references().finditer(text):
        word = match["name"]
        if match["shell"]:
            if match["shell"] in _SET_BY_IMAGES or match["shell"] == path[-1]:
                message = f"${match['shell']} is not expanded: no shell processes variable values"
                hint = "export it in `setup`, or write the full value"
                yield facts.warning("env-reference", message, path, hint)
        elif word is not None and word not in known:
            message = f"$({word}) is not expanded: no earlier variable has this name"
            similar = did_you_mean(word, known) if len(known) <= _MAX_CANDIDATES else None
            if word in env:
                similar = f"define {word} before {path[-1]}" if word != path[-1] else None
            yield facts.warning("env-reference", message, path, similar)


@lru_cache(maxsize=1)
def _keyed() -> re.Pattern[str]:
    return re.compile(r"metadata\.(?:labels|annotations)\['[^'\s]+'\]")


@lru_cache(maxsize=1)
def _holder() -> re.Pattern[str]:
    return re.compile(r"metadata\.(?:labels|annotations)\b")


@lru_cache(maxsize=1)
def _resource() -> re.Pattern[str]:
    names = "|".join(_RESOURCES)
    return re.compile(rf"(?:limits|requests)\.(?:{names}|hugepages-[0-9A-Za-z]+)")


@lru_cache(maxsize=1)
def _references() -> re.Pattern[str]:
    return re.compile(r"\$\$\(|\$\((?P<name>[^()\s]*)\)|\$\{?(?P<shell>[A-Za-z_][A-Za-z0-9_]*)\b")
