"""
Checks work on any document the gate leaves, and read only the paths they declare.

The gate removes invalid parts, so any combination of parts may be missing.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlespec import checks
from paddlespec.checks import Facts, catalogue, declared
from paddlespec.diagnostic import Severity
from paddlespec.render import roles
from paddlespec.spec import gate, interpolate, source
from paddlespec.spec.document import Document, remove, walk
from paddlespec.spec.frozen import Record, job_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.diagnostic import Path as Keys

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "examples").glob("*/paddlejob.yaml")),
    *sorted((ROOT / "tests" / "golden").glob("*/*.yaml")),
]
CORPUS = [
    document
    for file in FILES
    for document in source.read(file.read_bytes(), file.name).documents
    if isinstance(document.data, dict) and "spec" in document.data
]
JUNK: list[Any] = [
    *[None, True, 0, 1, 7, -1, 1.5, 1e18, 10_000, "", "x", "/", "/data", "//data/../x", "latest"],
    *["$(A)", "${{", "${A}", "$", "4Gi", "0", "0s", "a/b:c@d", "-", "--", "python train.py", "'"],
    *["é", " \n", "x" * 300, [], {}, [""], ["python"], [[]], {"": ""}, {"name": "x"}, {"A": None}],
    *[{"secret": "s"}, {"value": "v"}, {"size": "1Gi"}, [{"name": "a", "mountPath": "/a"}]],
]


def facts_of(document: Document) -> tuple[Facts, set[Keys]]:
    """Return the input of the checks, and the paths that are unreadable."""
    document = Document(remove(document.data, {("profiles",)}), document.place)
    whole, _, unresolved, used = interpolate.interpolate(document)
    refusal = gate.check(Document(remove(whole.data, unresolved), whole.place), gate.EFFECTIVE)
    unreadable = refusal.unreadable | unresolved
    usable = remove(whole.data, unreadable | refusal.unknown)
    job = job_of(
        {"metadata": {}, "spec": {}, **{key: part for key, part in usable.items() if part}}
    )
    return Facts(job, whole, "kubernetes", used), unreadable


def mutated(document: Document, seed: int) -> Document:
    """Replace, remove or add a few values of *document*."""
    chance = random.Random(seed)
    data = document.data
    for _ in range(chance.randint(1, 4)):
        paths = [path for path, _ in walk(data)]
        path = chance.choice(paths or [()])
        path = path[: chance.randint(1, len(path))] if path else ("spec",)
        data = _changed(data, path, chance)
    return Document(data, document.place)


def _changed(data: Any, path: Keys, chance: random.Random) -> Any:
    if not path:
        return chance.choice(JUNK)
    copy = dict(data) if isinstance(data, dict) else list(data)
    part: Any = path[0]
    if len(path) == 1 and chance.random() < 0.3:
        del copy[part]
    elif len(path) == 1 and isinstance(copy, dict) and chance.random() < 0.2:
        copy[f"{part}x"] = chance.choice(JUNK)
    else:
        copy[part] = _changed(data[part], path[1:], chance)
    return copy


@given(st.sampled_from(CORPUS), st.integers())
def test_no_document_breaks_a_check_or_is_reported_twice(document: Document, seed: int) -> None:
    facts, unreadable = facts_of(mutated(document, seed))
    for diagnostic in checks.run(facts, unreadable):
        assert diagnostic.message
        assert not any(diagnostic.path[: len(bad)] == bad for bad in unreadable), diagnostic


@given(st.sampled_from(CORPUS), st.integers())
def test_diagnostics_do_not_depend_on_the_order_of_keys(document: Document, seed: int) -> None:
    """Shuffle keys, except where order has a meaning: in variables and volumes."""
    facts, unreadable = facts_of(document)
    chance = random.Random(seed)
    turned = facts_of(Document(_shuffled(document.data, chance), document.place))
    assert unreadable == turned[1]
    assert _formatted(checks.run(facts, unreadable)) == _formatted(checks.run(*turned))


def _shuffled(value: Any, chance: random.Random, key: str = "") -> Any:
    if isinstance(value, list):
        return [_shuffled(item, chance) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    if key not in ("env", "ports"):
        chance.shuffle(keys)
    return {name: _shuffled(value[name], chance, name) for name in keys}


def _formatted(diagnostics: Iterator[Any]) -> list[str]:
    return sorted(f"{diagnostic.path} {diagnostic}" for diagnostic in diagnostics)


def twin(value: Any, path: Keys, log: set[Keys]) -> Any:
    """A record that logs which of its fields are read."""
    if isinstance(value, list):
        return [twin(item, (*path, index), log) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: twin(member, (*path, key), log) for key, member in value.items()}
    if not isinstance(value, Record):
        return value
    fields = frozenset(type(value).__slots__)

    def note(self: Any, name: str) -> Any:
        if name in fields:
            log.add((*path, camel(name)))
        return object.__getattribute__(self, name)

    made = type("Twin", (type(value),), {"__slots__": (), "__getattribute__": note})()
    for name in fields:
        child = twin(getattr(value, name), (*path, camel(name)), log)
        object.__setattr__(made, name, child)
    return made


def camel(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def undeclared(log: set[Keys], *paths: str) -> list[Keys]:
    """Return the innermost logged fields that are neither above nor below one of *paths*."""
    known = [tuple(dotted.split(".")) for dotted in paths]
    inner = [path for path in log if not any(path == other[: len(path)] != other for other in log)]
    return [
        path
        for path in inner
        if not any(path[: len(one)] == one or one[: len(path)] == path for one in known)
    ]


@pytest.mark.parametrize("document", CORPUS, ids=lambda spec: spec.place.origin.source)
def test_checks_read_only_declared_paths(document: Document) -> None:
    facts, unreadable = facts_of(document)
    if unreadable:
        return
    log: set[Keys] = set()
    job = twin(facts.job, (), log)
    facts = facts._replace(job=job)
    for check in catalogue.CHECKS:
        log.clear()
        list(check(facts))
        assert undeclared(log, *declared(check)) == [], check.__name__
    for name in roles.names(job.spec):
        role, place = roles.role(job.spec, name), roles.path(name)
        for role_check in checks_of(name):
            log.clear()
            list(role_check(facts, name, role))
            known = [
                path.format(role=".".join(map(str, place[1:]))) for path in declared(role_check)
            ]
            assert undeclared(log, *known) == [], role_check.__name__
        for env_check in catalogue.ENV_CHECKS:
            env = role.env
            log.clear()
            list(env_check(facts, (*place, "env"), env))
            where = ".".join(map(str, (*place, "env")))
            known = [path.format(env=where) for path in declared(env_check)]
            assert undeclared(log, *known) == [], env_check.__name__


def checks_of(name: str) -> list[checks.RoleCheck]:
    """Return the checks of the role *name*."""
    own = catalogue.PADDLE_ROLE_CHECKS if name in roles.PADDLE else ()
    return [*catalogue.ROLE_CHECKS, *own]


def test_the_recorder_detects_an_undeclared_read() -> None:
    log: set[Keys] = set()
    job = twin(facts_of(CORPUS[0])[0].job, (), log)
    assert job.spec.trainers.processes_per_replica is None
    assert undeclared(log, "spec.trainers.replicas") == [
        ("spec", "trainers", "processesPerReplica")
    ]
    assert undeclared(log, "spec.trainers") == []


def test_every_check_reports_something() -> None:
    """A check without a diagnostic in the corpus is either useless or broken."""
    spoke = set()
    for document in CORPUS:
        facts, unreadable = facts_of(document)
        for check in catalogue.CHECKS:
            if not unreadable and list(check(facts)):
                spoke.add(check.__name__)
        for name in roles.names(facts.job.spec) if not unreadable else ():
            role = roles.role(facts.job.spec, name)
            for role_check in checks_of(name):
                if list(role_check(facts, name, role)):
                    spoke.add(role_check.__name__)
        for env_check in catalogue.ENV_CHECKS if not unreadable else ():
            if list(env_check(facts, ("spec", "env"), facts.job.spec.env)):
                spoke.add(env_check.__name__)
    every = {
        check.__name__
        for check in (*catalogue.CHECKS, *checks_of("trainers"), *catalogue.ENV_CHECKS)
    }
    assert every - spoke == set()


def test_only_errors_make_a_spec_invalid() -> None:
    severities = {
        diagnostic.severity
        for document in CORPUS
        for facts, unreadable in [facts_of(document)]
        for diagnostic in checks.run(facts, unreadable)
    }
    assert severities == {Severity.error, Severity.warning}
