"""The shell scripts of manifests, run by real shells."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from targets import container

from paddlespec.targets.program import script

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHELLS = [shell for shell in ("dash", "bash") if shutil.which(shell)]
LONG = """sh -c 'trap "sleep 0.3; echo stopping; exit 9" TERM; echo up; while true; do sleep 0.05; done'"""


def words(folder: Path, main: str, setup: Sequence[str] = (), after: Sequence[str] = ()) -> str:
    """Return the script that the shell of a container runs."""
    spec = "  mode: parallel\n  trainers: {replicas: 2}\n"
    for key, value in (("setup", setup), ("teardown", after), ("command", main)):
        spec += f"  {key}: {json.dumps(value)}\n"
    command = container(folder, spec)["command"]
    assert command[:2] == ["sh", "-c"]
    text: str = command[2]
    return text


def run(shell: str, text: str) -> tuple[int, list[str]]:
    done = subprocess.run([shell, "-c", text], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def stopped(shell: str, text: str) -> tuple[int, list[str]]:
    """Return the result of a program that is terminated once it is running."""
    with subprocess.Popen(
        [shell, "-c", text], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGTERM)
        try:
            lines = process.communicate(timeout=60)[0].splitlines()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, lines


@pytest.mark.parametrize("shell", SHELLS)
class TestProgram:
    @pytest.mark.parametrize("code", [0, 3])
    def test_teardown_follows_every_end_and_leaves_its_code(
        self, shell: str, code: int, tmp_path: Path
    ) -> None:
        text = words(tmp_path, f"echo main; exit {code}", after=["echo down"])
        assert run(shell, text) == (code, ["main", "down"])

    @pytest.mark.parametrize("after", ["exit 0", "code=0", "true", "return 0", "set -e; false"])
    def test_no_teardown_turns_a_failure_into_a_success(
        self, shell: str, after: str, tmp_path: Path
    ) -> None:
        assert run(shell, words(tmp_path, "exit 5", after=[after]))[0] == 5

    def test_setup_prepares_the_shell_of_what_follows(self, shell: str, tmp_path: Path) -> None:
        setup = ["cd /usr", "WORD=a"]
        text = words(tmp_path, "echo $WORD; pwd", setup, ["echo $WORD again"])
        assert run(shell, text) == (0, ["a", "/usr", "a again"])

    def test_nothing_runs_after_a_failed_setup(self, shell: str, tmp_path: Path) -> None:
        assert run(shell, words(tmp_path, "echo main", ["false"], ["echo down"])) == (1, [])

    def test_a_command_is_not_rewritten(self, shell: str, tmp_path: Path) -> None:
        main = "cat <<END\n{not} 'ours'\nEND\nfalse; echo on # (comment"
        assert run(shell, words(tmp_path, main, ["true"])) == (0, ["{not} 'ours'", "on"])

    def test_the_program_is_told_to_end_and_teardown_still_runs(
        self, shell: str, tmp_path: Path
    ) -> None:
        text = words(tmp_path, LONG, after=["echo down"])
        assert stopped(shell, text) == (9, ["stopping", "down"])

    def test_the_end_of_the_program_is_awaited_and_no_other_begins(
        self, shell: str, tmp_path: Path
    ) -> None:
        text = words(tmp_path, f"{LONG}; echo next", after=["echo down"])
        assert stopped(shell, text) == (9, ["stopping", "down"])

    def test_setup_does_not_keep_the_program_from_being_told_to_end(
        self, shell: str, tmp_path: Path
    ) -> None:
        assert stopped(shell, words(tmp_path, LONG, ["true"])) == (9, ["stopping"])


class Output:
    """A folder for results, as the pods of one run see it."""

    def __init__(self, folder: Path, policy: str) -> None:
        self.folder, self.policy = folder, policy

    def begin(self, run_id: str) -> int:
        """Return the result of the init container of one replica."""
        environment = {"PATH": "/usr/bin:/bin", "PADDLESPEC_OUTPUT": str(self.folder)}
        return subprocess.run(
            ["sh", "-c", script(f"output-{self.policy}.sh")],
            env={**environment, "RUN": run_id},
            capture_output=True,
            check=False,
        ).returncode

    def begin_together(self, run_id: str) -> set[int]:
        with ThreadPoolExecutor(8) as pool:
            return set(pool.map(self.begin, [run_id] * 8))


class TestOutput:
    def test_a_second_run_does_not_write_among_the_results_of_the_first(
        self, tmp_path: Path
    ) -> None:
        output = Output(tmp_path / "out", "refuse")
        assert output.begin_together("one") == {0}
        (output.folder / "model").touch()
        assert output.begin("one") == 0
        assert output.begin("two") == 1

    @pytest.mark.parametrize("policy", ["refuse", "clear"])
    def test_a_new_disk_is_empty_although_it_has_a_lost_and_found(
        self, policy: str, tmp_path: Path
    ) -> None:
        (tmp_path / "lost+found").mkdir()
        assert Output(tmp_path, policy).begin("one") == 0
        assert (tmp_path / "lost+found").is_dir()

    def test_only_the_name_of_our_own_folder_is_overlooked(self, tmp_path: Path) -> None:
        (tmp_path / "xpaddlespec").touch()
        assert Output(tmp_path, "refuse").begin("one") == 1

    def test_what_is_there_is_cleared_once_for_all_replicas(self, tmp_path: Path) -> None:
        (tmp_path / "old").mkdir()
        (tmp_path / ".hidden").touch()
        output = Output(tmp_path, "clear")
        assert output.begin_together("one") == {0}
        assert {file.name for file in tmp_path.iterdir()} == {".paddlespec"}
        (tmp_path / "model").touch()
        assert output.begin("one") == 0
        assert (tmp_path / "model").exists()
        assert output.begin("two") == 0
        assert not (tmp_path / "model").exists()


def test_trainers_wait_for_every_pserver() -> None:
    with socket.create_server(("127.0.0.1", 0)) as first:
        ports = [first.getsockname()[1]]
        with socket.create_server(("127.0.0.1", 0)) as second:
            ports.append(second.getsockname()[1])
        expected = [f"127.0.0.1:{port}" for port in ports]
        with subprocess.Popen(
            [sys.executable, "-u", "-c", script("wait-for-pservers.py")],
            env={"PADDLESPEC_WAIT_FOR": ",".join(expected)},
            stdout=subprocess.PIPE,
            text=True,
        ) as waiting:
            assert waiting.stdout
            assert waiting.stdout.readline() == f"{expected[0]} is up\n"
            assert waiting.stdout.readline().startswith(f"waiting for {expected[1]}: ")
            with socket.create_server(("127.0.0.1", ports[1])):
                assert waiting.stdout.read() == f"{expected[1]} is up\n"
    assert waiting.returncode == 0


def test_one_port_of_several_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("", 0)) as closed:
        open_port, other = server.getsockname()[1], closed.getsockname()[1]
        closed.close()
        done = subprocess.run(
            [sys.executable, "-u", "-c", script("wait-for-pservers.py")],
            env={"PADDLESPEC_WAIT_FOR": f"127.0.0.1:{other}|{open_port}"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert done.stdout == f"127.0.0.1:{other}|{open_port} is up\n"
