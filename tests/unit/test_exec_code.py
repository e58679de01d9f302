"""How a server says that a command has ended."""

from __future__ import annotations

import json

import pytest

from paddlespec.backends.cluster.streams.remote_exec import Place, _exit_code
from paddlespec.runs.failures import OperationFailed

PLACE = Place("ads", "fit-trainer-0-x", "paddle")
CAUSES = {"causes": [{"reason": "ExitCode", "message": "7"}]}


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ({"status": "Success"}, 0),
        ({"status": "Failure", "reason": "NonZeroExitCode", "details": CAUSES}, 7),
        ({"status": "Failure", "message": "cmd wait: sh -c x: exit status 9"}, 9),
        ({"status": "Failure", "message": "command terminated with exit code 137"}, 137),
    ],
)
def test_the_exit_code_is_the_commands(status: object, code: int) -> None:
    assert _exit_code(json.dumps(status).encode(), PLACE, ["sh"]) == code


@pytest.mark.parametrize("status", [b"", b"{", b'{"status": "Failure", "message": "no sh"}'])
def test_a_command_that_never_ran_has_none(status: bytes) -> None:
    with pytest.raises(OperationFailed, match="cannot run sh in fit-trainer-0-x"):
        _exit_code(status, PLACE, ["sh"])
