"""
What a diff shows is what an apply does: both come from the same steps.

Jobs of all shapes go through a life in a cluster in memory: applied with and without consent, by
clients that die, finished, deleted and edited by somebody else. Then one more apply is compared and
executed, and the two must agree.
"""

from __future__ import annotations

import copy
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from fake_cluster import NAMESPACE, Cluster, Died
from hypothesis import event, given
from hypothesis import strategies as st

from paddlespec.backends.cluster.change.apply import apply
from paddlespec.backends.cluster.change.applyset import MEMBER_LABEL, set_id
from paddlespec.backends.cluster.change.preview import outlook
from paddlespec.backends.cluster.change.remove import remove
from paddlespec.change.diff import Comparison, Operation
from paddlespec.cli.shared.build import work_of
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.manifest import Identity, identity
from paddlespec.render.template import Templates
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.values import (
    Compared,
    Consent,
    Mode,
    Work,
)
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddlespec.render.manifest import Manifest

NAME = "fit"
SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec:
  mode: ps
  image: registry.test/paddle:1
  command: python train.py
  trainers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}}
  pservers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}}
"""
COLLECTIVE = (
    *("mode=collective", "pservers-"),
    "command=python -m paddle.distributed.launch train.py",
)
VARIANTS = {
    "plain": (),
    "image": ("image=registry.test/paddle:2",),
    "timeout": ("policy.timeout=3h",),
    "labels": ("metadata.labels.team=ads",),
    "place": ("trainers.nodeSelector={pool: training}",),
    "collective": COLLECTIVE,
    "stateful": ("pservers.workload=StatefulSet",),
    "claim": ("volumes=[{name: out, mountPath: /out, claim: {size: 1Gi}}]",),
}
TRAINERS = Identity("batch/v1", "Job", NAMESPACE, f"{NAME}-trainer")
PSERVERS = Identity("batch/v1", "Job", NAMESPACE, f"{NAME}-pserver")
SERVICE = Identity("v1", "Service", NAMESPACE, f"{NAME}-trainer")


@cache
def work(name: str) -> Work:
    """A job as it is rendered from a variant of its spec, perhaps by another version of this tool."""
    variant, _, other = name.partition(" ")
    with TemporaryDirectory() as folder:
        path = Path(folder, "fit.yaml")
        path.write_text(SPEC, encoding="utf-8")
        [loaded], _ = load(str(path), Files(), Choices(updates=VARIANTS[variant]))
        found = work_of(build(loaded, Templates(None)))
    return rendered_otherwise(found) if other else found


def rendered_otherwise(known: Work) -> Work:
    """The same spec, rendered by another version of this tool."""
    manifests = copy.deepcopy(known.manifests)
    for manifest in manifests:
        if manifest["kind"] in ("Job", "StatefulSet"):
            manifest["spec"]["template"]["metadata"]["labels"]["example.com/new"] = "yes"
    return known._replace(manifests=manifests)


NAMES = st.sampled_from([*VARIANTS, *(f"{name} otherwise" for name in VARIANTS)])
CONSENTS = st.builds(
    Consent,
    st.sampled_from(["refuse", "replace-finished", "replace-running"]),
    replace=st.booleans(),
    rerun=st.booleans(),
    prune=st.booleans(),
)


def applied(cluster: Any, name: str, consent: Consent, writes: int | None = None) -> str | None:
    """Apply with a client that may die; why it was refused, if it was."""
    cluster.writes_left = writes
    try:
        apply(cluster, work(name), Mode.none, lambda _: None, consent)
    except OperationFailed as error:
        return error.message
    except Died:
        # Whoever comes next does not wait for the lock of the dead.
        cluster.objects = {key: live for key, live in cluster.objects.items() if key[1] != "Lease"}
    finally:
        cluster.writes_left = None
    return None


def ended(condition: str, live: Manifest) -> None:
    live.setdefault("status", {})["conditions"] = [{"type": condition, "status": "True"}]


def going(live: Manifest) -> None:
    live["metadata"]["deletionTimestamp"] = "t"


def forgotten(live: Manifest) -> None:
    live["metadata"].pop("annotations", None)


def suspended(live: Manifest) -> None:
    live["spec"]["suspend"] = True
    for entry in live["metadata"]["managedFields"]:
        entry["fieldsV1"].get("f:spec", {}).pop("f:suspend", None)


def labelled(live: Manifest) -> None:
    live["metadata"]["labels"]["paddlespec.io/job"] = "other"


def removed(target: Identity, cluster: Any) -> None:
    live = cluster.objects.get(target)
    if live is not None:
        cluster.collect(live["metadata"]["uid"])


def killed(cluster: Any) -> None:
    remove(cluster, NAME, lambda _: None)


def plant(kind: str, ours: bool, cluster: Any) -> None:
    """Leave behind what no spec renders."""
    labels = {"paddlespec.io/job": NAME, MEMBER_LABEL: set_id(NAMESPACE, NAME)}
    metadata = {"name": f"{NAME}-old", "labels": labels}
    manifest: Manifest = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if kind == "Job":
        template = {"metadata": {"labels": labels}, "spec": {"containers": []}}
        manifest |= {"apiVersion": "batch/v1", "spec": {"template": template}}
    cluster.plant(manifest, ours=ours)


def touched(target: Identity, change: Callable[[Manifest], None], cluster: Any) -> None:
    cluster.touch(target, change)


EVENTS: dict[str, Callable[[Any], object]] = {
    "complete": partial(touched, TRAINERS, partial(ended, "Complete")),
    "fail": partial(touched, TRAINERS, partial(ended, "Failed")),
    "fail a pserver": partial(touched, PSERVERS, partial(ended, "Failed")),
    "begin to delete the trainers": partial(touched, TRAINERS, going),
    "begin to delete a service": partial(touched, SERVICE, going),
    "lose the fingerprint": partial(touched, TRAINERS, forgotten),
    "suspend": partial(touched, TRAINERS, suspended),
    "give a service to another job": partial(touched, SERVICE, labelled),
    "give the trainers to another job": partial(touched, TRAINERS, labelled),
    "remove the trainers": partial(removed, TRAINERS),
    "remove the pservers": partial(removed, PSERVERS),
    "remove a service": partial(removed, SERVICE),
    "kill": killed,
    "leave old code": partial(plant, "ConfigMap", True),
    "leave a stray": partial(plant, "ConfigMap", False),
    "leave a workload": partial(plant, "Job", True),
}


class Applied(NamedTuple):
    """An apply by a client that dies after so many *writes*, if it does."""

    name: str
    consent: Consent
    writes: int | None = None


MOVES = (
    st.sampled_from(sorted(EVENTS))
    | st.builds(Applied, NAMES, CONSENTS)
    | st.builds(Applied, NAMES, CONSENTS, st.integers(0, 12))
)
LIVES = st.lists(MOVES, max_size=6)


def lived(moves: list[Applied | str]) -> Any:
    """A cluster in which a job has been through all this."""
    cluster = Cluster()
    for move in moves:
        if isinstance(move, str):
            EVENTS[move](cluster)
        else:
            applied(cluster, *move)
    return cluster


def shown(compared: Compared) -> dict[str, Operation]:
    """What a diff shows of each object that does not stay."""
    operations = {str(row.change.identity): row.change.operation for row in compared.rows}
    return {name: what for name, what in operations.items() if what is not Operation.keep}


def done(before: Any, after: Any) -> dict[str, Operation]:
    """What happened to each object, from the cluster itself."""
    found = {}
    for target in before.keys() | after.keys():
        old, new = before.get(target), after.get(target)
        if target.kind == "Lease" or target.name.endswith(".paddlespec"):
            continue
        if old is None:
            found[str(target)] = Operation.create
        elif new is None:
            found[str(target)] = Operation.delete
        elif old["metadata"]["uid"] != new["metadata"]["uid"]:
            found[str(target)] = Operation.replace
        elif stripped(old) != stripped(new):
            found[str(target)] = Operation.change
    return found


def stripped(live: Manifest) -> Manifest:
    passing = ("managedFields", "resourceVersion")
    metadata = {key: value for key, value in live["metadata"].items() if key not in passing}
    return {**live, "metadata": metadata}


def settled(cluster: Any) -> Any:
    """The objects once those that are being deleted have gone."""
    later = copy.deepcopy(cluster)
    later.pause(0)
    return later.objects


def is_refused(compared: Compared) -> bool:
    return compared.refusal is not None or any(row.problem for row in compared.rows)


@given(LIVES, NAMES, CONSENTS)
def test_a_diff_shows_what_an_apply_does(
    moves: list[Applied | str], name: str, consent: Consent
) -> None:
    cluster = lived(moves)
    objects = copy.deepcopy(cluster.objects)
    compared = outlook(cluster, work(name), consent)
    assert cluster.objects == objects
    before = settled(cluster)
    error = applied(cluster, name, consent)
    assert is_refused(compared) is (error is not None), (compared, error)
    if error is not None:
        event("refused")
        assert compared.refusal is None or compared.refusal.startswith(error)
        assert not done(objects, cluster.objects)
        return
    event(compared.notes[0].partition(":")[0] if compared.notes else "done")
    there = {str(target) for target in before}
    assert done(before, settled(cluster)) == {
        name: what
        for name, what in shown(compared).items()
        # What is being deleted goes by itself, or is deleted once more.
        if what is not Operation.delete or name in there
    }


@given(LIVES, NAMES, CONSENTS)
def test_a_second_apply_only_keeps(moves: list[Applied | str], name: str, consent: Consent) -> None:
    cluster = lived(moves)
    if applied(cluster, name, consent) is not None:
        return
    before = copy.deepcopy(settled(cluster))
    again = consent._replace(replace=False, rerun=False)
    compared = outlook(cluster, work(name), again)
    assert (shown(compared), compared.refusal) == ({}, None)
    assert applied(cluster, name, again) is None
    assert not done(before, settled(cluster))


@given(LIVES, NAMES, CONSENTS)
def test_a_plan_is_what_is_applied(moves: list[Applied | str], name: str, consent: Consent) -> None:
    """Right after the comparison nothing has moved, and a moved object makes a plan stale."""
    from paddlespec.change.plan import of

    cluster = lived(moves)
    compared = outlook(cluster, work(name), consent)
    if is_refused(compared):
        return
    approved = of(Comparison(NAME, NAMESPACE, "the cluster", *compared))
    error = applied(copy.deepcopy(cluster), name, consent._replace(approved=approved))
    assert error is None
    for manifest in work(name).manifests:
        if shown(compared).get(str(identity(manifest))) is Operation.change:
            cluster.touch(identity(manifest), lambda live: live["metadata"].update(labels={}))
            moved = applied(cluster, name, consent._replace(approved=approved))
            assert moved is not None
            return


@given(LIVES, NAMES, CONSENTS, st.sampled_from([Mode.client, Mode.server]))
def test_a_dry_run_writes_nothing(
    moves: list[Applied | str], name: str, consent: Consent, mode: Mode
) -> None:
    cluster = lived(moves)
    before = copy.deepcopy(cluster.objects)
    try:
        apply(cluster, work(name), mode, lambda _: None, consent)
    except OperationFailed:
        event("refused")
    assert cluster.objects == before
