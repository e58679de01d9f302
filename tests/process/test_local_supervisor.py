"""The supervisor with tiny scripts: what stops what, what is left, and what is reported."""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import TYPE_CHECKING

import pytest
from rehearsal import Rehearsal, eventually, kill, marked

from paddlespec.backends.local.store.run_state import Phase, Step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paddlespec.backends.local.store.launch import Process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

LISTEN = """\
import socket, sys, time
time.sleep(float(sys.argv[3]))
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("listening", flush=True)
time.sleep(1000)
"""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path / "run")
    yield made
    for pid in marked(made.mark):
        kill(pid)


def free_port(host: str) -> int:
    with socket.create_server((host, 0)) as server:
        port: int = server.getsockname()[1]
        return port


def pserver(here: Rehearsal, index: int = 0, delay: float = 0.0) -> tuple[Process, tuple[str, int]]:
    host = f"127.0.9.{index + 1}"
    address = (host, free_port(host))
    argv = (sys.executable, "-c", LISTEN, host, str(address[1]), str(delay))
    return here.script(f"pserver-{index}", "", argv=argv, listens=(address,)), address


def test_a_job_is_over_when_its_trainers_are(here: Rehearsal) -> None:
    status = here.run(here.script("trainer-0", "echo one"), here.script("trainer-1", "echo two"))
    assert status.phase is Phase.succeeded
    assert [replica.code for replica in status.replicas] == [0, 0]
    assert here.log("trainer-1") == b"two\n"


def test_the_first_failure_stops_the_rest_and_is_named_with_its_last_lines(here: Rehearsal) -> None:
    status = here.run(
        here.script("trainer-0", "sleep 1000"),
        here.script("trainer-1", "seq 30; exit 7"),
        here.script("trainer-2", "trap 'exit 0' TERM; sleep 1000 & wait"),
    )
    assert status.phase is Phase.failed
    assert status.culprit is not None
    assert status.culprit.name == "fit-trainer-1"
    assert status.culprit.ending == "exit code 7"
    assert status.culprit.lines == tuple(str(number) for number in range(21, 31))
    assert status.replicas[0].why == "stopped"


def test_a_victim_that_ends_first_is_not_the_culprit(here: Rehearsal) -> None:
    status = here.run(
        here.script("trainer-0", "echo 'gloo::IoException: Connection closed by peer'; exit 1"),
        here.script("trainer-1", "sleep 0.7; echo 'no such file'; exit 3"),
        here.script("trainer-2", "sleep 1000"),
        meets=True,
    )
    assert status.culprit is not None
    assert (status.culprit.name, status.culprit.ending) == ("fit-trainer-1", "exit code 3")


def test_signals_are_told_in_words(here: Rehearsal) -> None:
    status = here.run(here.script("trainer-0", "kill -SEGV $$"))
    assert status.culprit is not None
    assert status.culprit.ending == "exit code 139 (segmentation fault)"


def test_more_replicas_than_files_may_be_open_are_refused(tmp_path: Path) -> None:
    here = Rehearsal(tmp_path / "run", limit="ulimit -n 60")
    many = [here.script(f"trainer-{index}", "true") for index in range(40)]
    expected = "40 replicas need 104 open files, and the limit is 60: raise it with ulimit -n 104"
    assert here.start(*many) == expected
    assert here.process is not None
    here.process.wait(60)
    few = Rehearsal(tmp_path / "few", limit="ulimit -n 60")
    assert few.run(*many[:18]).phase is Phase.succeeded


def test_one_port_of_several_is_enough_to_begin(here: Rehearsal) -> None:
    """The first pserver of fleet opens its own port only once all trainers have connected."""
    server, address = pserver(here, 0)
    never = (address[0], free_port(address[0]))
    waits = ((never, address),)
    trainer = here.script("trainer-0", "echo met", waits_for=waits)
    status = here.run(trainer, server._replace(listens=(never, address)))
    assert status.phase is Phase.succeeded
    assert here.log("trainer-0") == b"met\n"


def test_trainers_wait_for_pservers_which_are_stopped_at_the_end(here: Rehearsal) -> None:
    first, address = pserver(here, 0, delay=0.5)
    second, other = pserver(here, 1)
    connect = f"import socket; socket.create_connection({address!r}); print('met')"
    waits = ((address,), (other,))
    trainer = here.script("trainer-0", "", argv=(sys.executable, "-c", connect), waits_for=waits)
    status = here.run(trainer, first, second)
    assert status.phase is Phase.succeeded
    assert here.log("trainer-0") == b"met\n"
    assert [(replica.code, replica.why) for replica in status.replicas[1:]] == [
        (143, "stopped")
    ] * 2


def test_a_trainer_that_ends_well_after_a_lost_pserver_has_failed(here: Rehearsal) -> None:
    own, address = pserver(here)
    trainer = here.script("trainer-0", "sleep 1; exit 0", waits_for=((address,),))
    here.start(trainer, own, meets=True)
    here.running(2)
    [pid] = [replica.pid for replica in here.status.replicas if replica.role == "pservers"]
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    status = here.end()
    assert status.phase is Phase.failed
    assert status.message == "a pserver was lost"
    assert status.culprit is not None
    assert status.culprit.name == "fit-pserver-0"


def test_a_pserver_that_never_listens_ends_the_run(here: Rehearsal) -> None:
    address = ("127.0.9.1", free_port("127.0.9.1"))
    status = here.run(
        here.script("trainer-0", "true", waits_for=((address,),)),
        here.script("pserver-0", "sleep 1000", listens=(address,)),
        rendezvous=1.0,
    )
    assert status.culprit is not None
    assert status.culprit.name == "fit-pserver-0"
    assert "was not listening on 127.0.9.1" in status.culprit.ending


def test_a_pserver_that_ends_before_it_listens_ends_the_run(here: Rehearsal) -> None:
    address = ("127.0.9.1", free_port("127.0.9.1"))
    status = here.run(
        here.script("trainer-0", "true", waits_for=((address,),)),
        here.script("pserver-0", "exit 0", listens=(address,)),
    )
    assert status.culprit is not None
    assert "ended with exit code 0 before it listened" in status.culprit.ending


def test_peers_of_one_that_ended_too_early_do_not_hang_for_ever(here: Rehearsal) -> None:
    status = here.run(
        here.script("trainer-0", "sleep 1000"),
        here.script("trainer-1", "exit 0"),
        meets=True,
        rendezvous=2.0,
    )
    assert status.phase is Phase.failed
    assert "fit-trainer-0 did nothing" in (status.message or "")


def test_a_peer_that_computes_is_given_time(here: Rehearsal) -> None:
    busy = "end=$(($(date +%s) + 4)); while [ $(date +%s) -lt $end ]; do :; done"
    status = here.run(
        here.script("trainer-0", busy),
        here.script("trainer-1", "exit 0"),
        meets=True,
        rendezvous=2.0,
    )
    assert status.phase is Phase.succeeded


def test_a_timeout_ends_the_job_and_is_not_tried_again(here: Rehearsal) -> None:
    status = here.run(here.script("trainer-0", "sleep 1000"), timeout=1.0, retries=3)
    assert (status.phase, status.attempt) == (Phase.failed, 1)
    assert status.message == "exceeded its timeout of 1s"


def test_a_failed_job_is_tried_again_as_a_whole(here: Rehearsal, tmp_path: Path) -> None:
    second = f"[ -e {tmp_path}/tried ] || {{ touch {tmp_path}/tried; exit 1; }}"
    status = here.run(
        here.script("trainer-0", second), here.script("trainer-1", "echo x"), retries=2
    )
    assert (status.phase, status.attempt, status.attempts) == (Phase.succeeded, 2, 3)
    assert b"paddlespec: attempt 2\nx\n" in here.log("trainer-1")


def test_independent_replicas_are_tried_again_one_by_one(here: Rehearsal, tmp_path: Path) -> None:
    counts = "echo run"
    status = here.run(
        here.script("trainer-0", counts),
        here.script("trainer-1", f"{counts}; exit 1"),
        here.script("trainer-2", f"{counts}; sleep 1; {counts}"),
        retries=2,
        independent=True,
    )
    assert status.phase is Phase.failed
    assert status.message == "1 of 3 replicas failed"
    assert [replica.attempt for replica in status.replicas] == [1, 3, 1]
    assert here.log("trainer-1").count(b"run\n") == 3
    assert here.log("trainer-2").count(b"run\n") == 2


def test_what_does_not_end_when_asked_is_killed(here: Rehearsal) -> None:
    stubborn = "trap '' TERM; echo up; while :; do sleep 0.1; done"
    here.start(here.script("trainer-0", stubborn), grace=1.0)
    eventually(lambda: b"up" in here.log("trainer-0"))
    here.kill_supervisor(signal.SIGTERM)
    status = here.end()
    assert (status.phase, status.replicas[0].code) == (Phase.killed, 137)


def test_what_leaves_its_session_is_ended_too(here: Rehearsal) -> None:
    escapes = "setsid sh -c 'trap \"\" TERM HUP; sleep 1000' & sleep 0.3; exit 0"
    status = here.run(here.script("trainer-0", escapes))
    assert status.phase is Phase.succeeded


def test_nothing_is_left_when_the_supervisor_is_killed(here: Rehearsal) -> None:
    escapes = "setsid sleep 1000 & sleep 1000 & wait"
    here.start(*(here.script(f"trainer-{number}", escapes) for number in range(4)))
    here.running(4)
    eventually(lambda: len(marked(here.mark)) == 12)
    here.kill_supervisor()
    status = here.end()
    assert (status.phase, status.message) == (Phase.lost, "the supervisor was killed")


def test_a_run_ends_with_the_command_that_holds_it(here: Rehearsal) -> None:
    here.start(here.script("trainer-0", "sleep 1000"), attached=True)
    here.running(1)
    assert here.leash is not None
    os.close(here.leash)
    status = here.end()
    assert (status.phase, status.message) == (Phase.killed, "interrupted")


def test_a_released_run_goes_on(here: Rehearsal, tmp_path: Path) -> None:
    waits = f"while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"
    here.start(here.script("trainer-0", waits), attached=True)
    here.running(1)
    assert here.leash is not None
    os.write(here.leash, b"go on")
    os.close(here.leash)
    (tmp_path / "go").touch()
    assert here.end().phase is Phase.succeeded


def test_a_taken_port_is_told_before_anything_starts(here: Rehearsal) -> None:
    with socket.create_server(("127.0.9.1", 0)) as server:
        address = server.getsockname()
        answer = here.start(here.script("trainer-0", "true", listens=(address,)))
    assert answer.startswith(f"fit-trainer-0 cannot listen on 127.0.9.1:{address[1]}")
    assert here.process is not None
    here.process.wait(30)
    assert not list((here.folder / "logs").iterdir())


def test_a_command_that_does_not_exist_is_named(here: Rehearsal) -> None:
    status = here.run(here.script("trainer-0", "", argv=("no-such-program",)))
    assert status.replicas[0].code == 127
    assert status.culprit is not None
    assert status.culprit.lines == (
        "paddlespec: cannot run no-such-program: no such file or directory",
    )


def test_memory_beyond_the_limit_ends_the_job_and_says_so(here: Rehearsal) -> None:
    eats = "import time; held = bytearray(200_000_000); time.sleep(1000)"
    argv = (sys.executable, "-c", eats)
    status = here.run(here.script("trainer-0", "", argv=argv, memory=100 * 1024 * 1024))
    assert status.culprit is not None
    assert status.culprit.ending.startswith("exit code 137 (out of memory: used ")
    assert status.culprit.ending.endswith(" of 100 MiB)")


def test_hundreds_of_processes(here: Rehearsal) -> None:
    status = here.run(*(here.script(f"trainer-{number}", "echo $$") for number in range(200)))
    assert status.phase is Phase.succeeded
    assert all(here.log(f"trainer-{number}") for number in range(200))


def test_a_flood_of_output_passes_whole_and_in_little_memory(here: Rehearsal) -> None:
    line = "x" * 99
    here.start(here.script("trainer-0", f"yes {line} | head -c 100000000"))
    peak = 0
    while here.process is not None and here.process.poll() is None:
        try:
            with open(f"/proc/{here.status.pid}/status", encoding="ascii") as file:
                peak = max(peak, *(int(row.split()[1]) for row in file if row.startswith("VmHWM")))
        except (OSError, TypeError, AssertionError):
            continue
    status = here.end()
    assert status.phase is Phase.succeeded
    assert not status.lost
    logs = sorted((here.folder / "logs").iterdir())
    assert [log.name for log in logs] == [
        "fit-trainer-0.log",
        "fit-trainer-0.log.1",
    ]
    assert sum(log.read_bytes().count(line.encode() + b"\n") for log in logs) == 1_000_000
    assert 0 < peak < 60_000


def test_binary_output_is_kept(here: Rehearsal) -> None:
    octets = r"""printf '\000\377\n\200\r\n'"""
    status = here.run(here.script("trainer-0", octets))
    assert status.phase is Phase.succeeded
    assert here.log("trainer-0") == b"\x00\xff\n\x80\r\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_costs_logs_and_never_the_run(here: Rehearsal) -> None:
    here.folder.mkdir(parents=True)
    mounted = f"mount -t tmpfs -o size=1m none {here.folder}"
    if os.system(f"unshare -m sh -c '{mounted}' 2>/dev/null"):
        pytest.skip("cannot mount")
    os.system(mounted)
    try:
        flood = "yes | head -c 5000000; echo done"
        status = here.run(here.script("trainer-0", flood))
        assert status.phase is Phase.succeeded
        assert status.replicas[0].step is Step.ended
        assert status.lost["fit-trainer-0"] > 1_000_000
    finally:
        os.system(f"umount {here.folder}")


def test_logs_that_may_not_grow_cost_output_and_never_the_run(tmp_path: Path) -> None:
    here = Rehearsal(tmp_path / "run", limit="ulimit -f 1000")
    status = here.run(here.script("trainer-0", "yes | head -c 3000000; echo done"))
    assert status.phase is Phase.succeeded
    assert status.lost["fit-trainer-0"] > 1_000_000


def test_two_runs_do_not_disturb_each_other(here: Rehearsal, tmp_path: Path) -> None:
    other = Rehearsal(tmp_path / "other")
    here.start(here.script("trainer-0", "sleep 1000"))
    assert other.run(other.script("trainer-0", "true")).phase is Phase.succeeded
    assert here.status.phase is Phase.running
    here.kill_supervisor(signal.SIGTERM)
    assert here.end().phase is Phase.killed
