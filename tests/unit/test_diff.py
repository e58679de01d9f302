"""What it takes to make a change."""

from __future__ import annotations

from typing import Any

import pytest

from paddlespec.change.diff import (
    Change,
    Effect,
    Operation,
    diff,
    effect,
)
from paddlespec.spec.source import read

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: fit-trainer, labels: {team: ads}}
spec:
  completions: 2
  parallelism: 2
  template:
    spec:
      containers:
      - name: paddle
        image: paddle:1
        env: [{name: A, value: "1"}, {name: B, value: $(A)}]
        resources: {limits: {cpu: "1"}}
"""


def job(**replaced: str) -> dict[str, Any]:
    text = JOB
    for old, new in replaced.items():
        text = text.replace(old, new)
    found: dict[str, Any] = read(text, "job.yaml").documents[0].data
    return found


@pytest.mark.parametrize(
    ("after", "path", "expected"),
    [
        pytest.param({"ads": "web"}, "metadata.labels.team", Effect.in_place, id="label"),
        pytest.param({"parallelism: 2": "parallelism: 1"}, "spec.parallelism", Effect.in_place, id="parallelism"),
        pytest.param({"completions: 2": "completions: 3"}, "spec.completions", Effect.replacement, id="completions"),
        pytest.param({"paddle:1": "paddle:2"}, "spec.template.spec.containers.paddle.image", Effect.replacement, id="image"),
        pytest.param({'cpu: "1"': 'cpu: "2"'}, "spec.template.spec.containers.paddle.resources.limits.cpu", Effect.suspended, id="resources"),
    ],
)  # fmt: skip
def test_effects_on_a_job(after: dict[str, str], path: str, expected: Effect) -> None:
    (change,) = diff([job()], [job(**after)])
    (field,) = change.fields
    assert (".".join(map(str, field.path)), field.effect) == (path, expected)


def test_the_order_of_variables_is_a_change() -> None:
    swapped = job()
    env = swapped["spec"]["template"]["spec"]["containers"][0]["env"]
    env.reverse()
    (change,) = diff([job()], [swapped])
    assert [(each.before, each.after) for each in change.fields] == [(["A", "B"], ["B", "A"])]
    assert change.operation is Operation.replace


def test_an_operation_follows_from_the_pair() -> None:
    assert Change(None, job()).operation is Operation.create
    assert Change(job(), None).operation is Operation.delete
    assert Change(job(), job()).operation is Operation.keep
    assert Change(job(), job(ads="web")).operation is Operation.change


def test_custom_resources_change_in_place() -> None:
    assert effect("VCJob", ("spec", "anything")) is Effect.in_place
    assert effect("Service", ("spec", "clusterIP")) is Effect.replacement
