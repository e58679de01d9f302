"""Whether the variables of a job reach the program as they were meant."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec import contract
from paddlespec.checks import reads
from paddlespec.checks.written import has_unknown_keys, written
from paddlespec.contract import Context
from paddlespec.diagnostic import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.checks import Env, Facts
    from paddlespec.contract import RoleName
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Role

_KINDS = "`{secret, key}`, `{configMap, key}` or `{value, sensitive}`"
_FIELDS = frozenset(("secret", "configMap", "key", "value", "sensitive"))
# The launcher would take its job from these instead of from the contract.
_MISLEADING = frozenset(("DISTRIBUTED_TRAINER_ENDPOINTS",))
_OF_THE_IMAGE = frozenset(("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "PWD", "USER"))
# Similar names are looked for among at most so many: each one costs.
_MOST_NAMES = 50
_DEVICES = frozenset(("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"))


@reads("{env}", "spec.mode", "spec.allowManagedEnv")
def managed(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """The runtime contract sets what Paddle reads; nothing else may by accident."""
    spec = facts.job.spec
    for name in env:
        if name in spec.allow_managed_env or not _is_owned(name, spec.mode):
            continue
        message = f"{name} belongs to the runtime contract"
        hint = f"remove it, or write `allowManagedEnv: [{name}]` to take it over"
        yield facts.error("managed-env", message, (*path, name), hint, key=True)


def _is_owned(name: str, mode: str) -> bool:
    if contract.is_managed(name):
        return True
    return (name == "OUTPUT" and mode == "legacy") or (name in _MISLEADING and mode == "collective")


@reads("spec.allowManagedEnv", "spec.mode")
def allowed(facts: Facts) -> Iterator[Diagnostic]:
    """`allowManagedEnv` names managed variables."""
    spec = facts.job.spec
    for index, name in enumerate(spec.allow_managed_env):
        if not _is_owned(name, spec.mode):
            message = f"{name} is no managed variable: it may be set without leave"
            path = ("spec", "allowManagedEnv", index)
            hint = did_you_mean(name, contract.MANAGED_NAMES) or "remove it"
            yield facts.warning("allow-managed-env", message, path, hint)


@reads("{env}")
def source(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """A variable that is no plain value comes from exactly one place."""
    for name, value in env.items():
        if isinstance(value, (str, int, float)):
            continue
        kinds = [
            kind
            for kind, given in (
                ("secret", value.secret),
                ("configMap", value.config_map),
                ("value", value.value),
            )
            if given is not None
        ]
        own = (*path, name)
        if len(kinds) > 1:
            message = f"{name} comes from {' and '.join(kinds)} at once"
            yield facts.error("env-source", message, own, f"write {_KINDS}", key=True)
        elif has_unknown_keys(facts.document, own, _FIELDS):
            continue
        elif not kinds:
            yield facts.error(
                "env-source", f"{name} has no value", own, f"write {_KINDS}", key=True
            )
        elif kinds == ["value"] and value.key is not None:
            message = f"{name} has a value, so `key` means nothing"
            yield facts.error("env-source", message, (*own, "key"), f"write {_KINDS}", key=True)
        elif kinds != ["value"] and value.key is None:
            message = f"{name} does not say which key of the {kinds[0]} it is"
            yield facts.error("env-source", message, own, "add `key`", key=True)
        elif kinds != ["value"] and value.sensitive:
            message = f"{name} is a reference, which holds nothing to mask"
            where = (*own, "sensitive")
            yield facts.error("env-source", message, where, "remove `sensitive`", key=True)


@reads("{env}")
def spelling(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """Variables are text: a number or truth value may read otherwise than it was written."""
    for name, value in env.items():
        if not isinstance(value, (int, float)):
            continue
        text = str(value).lower() if isinstance(value, bool) else str(value)
        spelt = written(facts.document, (*path, name))
        if spelt is None or spelt == text or spelt.startswith("$") or _means_same(spelt, value):
            continue
        message = f'{name} becomes "{text}"'
        yield facts.warning("env-number", message, (*path, name), f'quote it: "{spelt}"')


def _means_same(spelt: str, value: object) -> bool:
    """Whether only the notation differs of what is surely a number: `1e-4`."""
    return isinstance(value, float) and "e" in spelt.lower()


@reads("{env}")
def case(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """Two names that differ in case alone; of proxies, programs read both."""
    if len(env) < 2:
        return
    seen: dict[str, str] = {}
    for name in env:
        folded = name.upper()
        if folded in seen and not folded.endswith("_PROXY"):
            message = f"{name} and {seen[folded]} are two variables"
            hint = "keep one of them"
            yield facts.warning("env-case", message, (*path, name), hint, key=True)
        seen.setdefault(folded, name)


@reads("{env}", "spec.trainers.resources.gpu", "spec.pservers.resources.gpu")
def devices(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """Which accelerators a replica sees is the device plugin's to say."""
    spec = facts.job.spec
    role = path[1] if path[1] == "pservers" else "trainers"
    own = spec.pservers if role == "pservers" else spec.trainers
    for name in _DEVICES.intersection(env) if own and own.resources.gpu else ():
        message = f"{name} overrides which accelerators the node assigned"
        hint = "remove it; `resources.gpu` says how many"
        yield facts.warning("visible-devices", message, (*path, name), hint, key=True)


@reads(
    "spec.env",
    "spec.{role}.env",
    "metadata.name",
    "spec.mode",
    "spec.trainers",
    "spec.pservers",
    "spec.legacy",
    "spec.parameters",
    "spec.command",
    "spec.package",
    "spec.workdir",
    "spec.workspace",
    "spec.input",
    "spec.output",
)
def references(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """`$(NAME)` is replaced only by what stands before it; `$NAME` by nothing at all."""
    general = facts.job.spec.env
    env = {**general, **role.env} if role.env else general
    texts = {key: _text(value) for key, value in env.items()}
    if not any("$" in each for each in texts.values()):
        return
    known = {"NS", "IDX", *contract.environment(facts.job, name, Context("any"))} - env.keys()
    for key, text in texts.items():
        path = ("spec", name, "env", key) if key in role.env else ("spec", "env", key)
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
            if match["shell"] in _OF_THE_IMAGE or match["shell"] == path[-1]:
                message = f"${match['shell']} stays as it is: no shell reads a variable's value"
                hint = "`export` it in `setup`, or write the whole value"
                yield facts.warning("env-reference", message, path, hint)
        elif word is not None and word not in known:
            message = f"$({word}) stays as it is: no variable of that name is set before"
            near = did_you_mean(word, known) if len(known) <= _MOST_NAMES else None
            if word in env:
                near = f"write {word} above {path[-1]}" if word != path[-1] else None
            yield facts.warning("env-reference", message, path, near)


@lru_cache(maxsize=1)
def _references() -> re.Pattern[str]:
    return re.compile(r"\$\$\(|\$\((?P<name>[^()\s]*)\)|\$\{?(?P<shell>[A-Za-z_][A-Za-z0-9_]*)\b")
