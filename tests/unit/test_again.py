"""The command that a hint repeats shows no value that may be secret."""

from __future__ import annotations

import sys

import pytest

from paddlespec.cli.shared.again import again


@pytest.mark.parametrize(
    ("update", "shown"),
    [
        ("trainers.replicas=8", "trainers.replicas=8"),
        ("parameters.epochs=2", "parameters.epochs=2"),
        ("parameters.salt=word", "'parameters.salt=***'"),
        ("spec.parameters.salt=word", "'spec.parameters.salt=***'"),
        ("env.PLAIN.value=word", "'env.PLAIN.value=***'"),
        ("image=team/train:2", "image=team/train:2"),
    ],
)
@pytest.mark.parametrize("option", ["-u", "--update"])
def test_values_that_may_be_secret_are_masked(
    update: str, shown: str, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["paddlespec", "apply", "a.yaml", "b.yaml", option, update])
    assert again("a.yaml", "--replace") == f"paddlespec apply a.yaml {option} {shown} --replace"


def test_short_and_long_forms_of_one_word_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["-uparameters.a=word", "--update=parameters.b=word"]
    monkeypatch.setattr(sys, "argv", ["paddlespec", "apply", "a.yaml", *words])
    assert "word" not in again("a.yaml", "--rerun")
