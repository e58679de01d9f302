"""
Checks hold on whatever passes the gate, and read nothing but what they say.

The gate prunes what it refuses, so a check meets every mixture of present and absent parts.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlespec import checks, gate, interpolate, source
from paddlespec.checks import Facts, catalogue, declared
from paddlespec.contract import ROLES
from paddlespec.diagnostic import Severity
from paddlespec.document import Document, remove, walk
from paddlespec.record import Record, job_of

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
    """What the checks are given of a document, and what the gate spoiled in it."""
    document = Document(remove(document.data, {("profiles",)}), document.place)
    whole, _, unresolved, used = interpolate.interpolate(document)
    refusal = gate.check(Document(remove(whole.data, unresolved), whole.place), gate.EFFECTIVE)
    spoiled = refusal.spoiled | unresolved
    usable = remove(whole.data, spoiled | refusal.unknown)
    job = job_of(
        {"metadata": {}, "spec": {}, **{key: each for key, each in usable.items() if each}}
    )
    return Facts(job, whole, "kubernetes", used), spoiled


def mutated(document: Document, seed: int) -> Document:
    """*document* with a few of its values replaced, removed or added."""
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
def test_no_document_breaks_a_check_or_is_told_of_twice(document: Document, seed: int) -> None:
    facts, spoiled = facts_of(mutated(document, seed))
    for each in checks.run(facts, spoiled):
        assert each.message
        assert not any(each.path[: len(bad)] == bad for bad in spoiled), each


@given(st.sampled_from(CORPUS), st.integers())
def test_findings_do_not_depend_on_the_order_of_keys(document: Document, seed: int) -> None:
    """Except where order has a meaning: among variables and among volumes."""
    facts, spoiled = facts_of(document)
    chance = random.Random(seed)
    turned = facts_of(Document(_shuffled(document.data, chance), document.place))
    assert spoiled == turned[1]
    assert _told(checks.run(facts, spoiled)) == _told(checks.run(*turned))


def _shuffled(value: Any, chance: random.Random, key: str = "") -> Any:
    if isinstance(value, list):
        return [_shuffled(each, chance) for each in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    if key not in ("env", "ports"):
        chance.shuffle(keys)
    return {each: _shuffled(value[each], chance, each) for each in keys}


def _told(found: Iterator[Any]) -> list[str]:
    return sorted(f"{each.path} {each}" for each in found)


def twin(value: Any, path: Keys, log: set[Keys]) -> Any:
    """A record that notes which of its fields are read."""
    if isinstance(value, list):
        return [twin(each, (*path, index), log) for index, each in enumerate(value)]
    if isinstance(value, dict):
        return {key: twin(each, (*path, key), log) for key, each in value.items()}
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
    return first + "".join(each.capitalize() for each in rest)


def undeclared(log: set[Keys], *paths: str) -> list[Keys]:
    """The innermost fields of *log* that are neither on the way to one of *paths* nor below it."""
    known = [tuple(each.split(".")) for each in paths]
    inner = [each for each in log if not any(each == other[: len(each)] != other for other in log)]
    return [
        each
        for each in inner
        if not any(each[: len(one)] == one or one[: len(each)] == each for one in known)
    ]


@pytest.mark.parametrize("document", CORPUS, ids=lambda each: each.place.origin.source)
def test_checks_read_what_they_declare(document: Document) -> None:
    facts, spoiled = facts_of(document)
    if spoiled:
        return
    log: set[Keys] = set()
    job = twin(facts.job, (), log)
    facts = facts._replace(job=job)
    for check in catalogue.CHECKS:
        log.clear()
        list(check(facts))
        assert undeclared(log, *declared(check)) == [], check.__name__
    for name in ROLES:
        role = getattr(job.spec, name)
        for role_check in catalogue.ROLE_CHECKS if role else ():
            log.clear()
            list(role_check(facts, name, role))
            known = [each.format(role=name) for each in declared(role_check)]
            assert undeclared(log, *known) == [], role_check.__name__
        for env_check in catalogue.ENV_CHECKS if role else ():
            env = role.env
            log.clear()
            list(env_check(facts, ("spec", name, "env"), env))
            known = [each.format(env=f"spec.{name}.env") for each in declared(env_check)]
            assert undeclared(log, *known) == [], env_check.__name__


def test_the_twin_sees_an_undeclared_read() -> None:
    log: set[Keys] = set()
    job = twin(facts_of(CORPUS[0])[0].job, (), log)
    assert job.spec.trainers.processes_per_replica
    assert undeclared(log, "spec.trainers.replicas") == [
        ("spec", "trainers", "processesPerReplica")
    ]
    assert undeclared(log, "spec.trainers") == []


def test_every_check_has_something_to_find() -> None:
    """A check that no file of the corpus makes speak is either useless or broken."""
    spoke = set()
    for document in CORPUS:
        facts, spoiled = facts_of(document)
        for check in catalogue.CHECKS:
            if not spoiled and list(check(facts)):
                spoke.add(check.__name__)
        for name in ROLES:
            role = getattr(facts.job.spec, name)
            for role_check in catalogue.ROLE_CHECKS if role and not spoiled else ():
                if list(role_check(facts, name, role)):
                    spoke.add(role_check.__name__)
        for env_check in catalogue.ENV_CHECKS if not spoiled else ():
            if list(env_check(facts, ("spec", "env"), facts.job.spec.env)):
                spoke.add(env_check.__name__)
    every = {
        each.__name__ for each in (*catalogue.CHECKS, *catalogue.ROLE_CHECKS, *catalogue.ENV_CHECKS)
    }
    assert every - spoke == set()


def test_only_errors_make_a_spec_invalid() -> None:
    severities = {
        each.severity
        for document in CORPUS
        for facts, spoiled in [facts_of(document)]
        for each in checks.run(facts, spoiled)
    }
    assert severities == {Severity.error, Severity.warning}
