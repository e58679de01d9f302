"""`--target local` from the command line: what runs, what is left alone, and what remains."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import outputs
import pytest
from forked import common
from rehearsal import MARK, eventually, kill, marked

from paddlespec.backends.local.store.job_folder import JobFolder
from paddlespec.backends.local.store.run_state import Phase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forked import Process

    from paddlespec.backends.local.store.run_state import Status

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {{name: {name}}}
spec:
  mode: {mode}
  image: registry.test/paddle:1
  command: {command}
  env: {{{mark}: {value}, PASSWORD: {{value: canary-hunter2, sensitive: true}}}}
  trainers: {{replicas: 2, resources: {{cpu: 1, memory: 1Gi}}}}
  policy: {{whenChanged: replace-finished}}
"""
PSERVERS = """\
  pservers:
    replicas: 1
    resources: {cpu: 1, memory: 1Gi}
    command:
    - python3
    - -c
    - |
      import os, socket, time
      own = socket.create_server((os.environ["POD_IP"], int(os.environ["PADDLE_PORT"])))
      time.sleep(1000)
"""


class User(NamedTuple):
    """A user at a shell of this machine, without a cluster."""

    folder: Path
    mark: str
    shell: tuple[tuple[str, str], ...] = ()

    def write(self, command: str, name: str = "fit", mode: str = "parallel", more: str = "") -> str:
        path = self.folder / f"{name}.yaml"
        text = SPEC.format(
            name=name, mode=mode, command=json.dumps(command), mark=MARK, value=self.mark
        )
        path.write_text(text + more, encoding="utf-8")
        return str(path)

    @property
    def environment(self) -> dict[str, str]:
        own = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
        return {
            **own,
            "HOME": str(self.folder),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            **dict(self.shell),
        }

    def start(self, *arguments: str) -> Process:
        """Start a command without waiting for its end."""
        return common().start(*arguments, folder=self.folder, environment=self.environment)

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=60)
        assert process.returncode == code, f"{arguments}\n{out}\n{err}"
        assert "Traceback" not in err
        assert "canary" not in out + err
        outputs.check(arguments, out)
        return subprocess.CompletedProcess(arguments, code, out, err)

    def apply(self, spec: str, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        return self.run("apply", spec, "--target", "local", *arguments, code=code)

    @property
    def job(self) -> JobFolder:
        return JobFolder("default", "fit", self.environment)

    @property
    def status(self) -> Status:
        last = self.job.history().ran
        assert last is not None
        status = self.job.status(last.number)
        assert status is not None
        return status

    def states(self) -> list[str]:
        return [run.state.value for run in self.job.history().runs]

    def running(self, count: int) -> None:
        eventually(lambda: len(self.commands()) == count)

    def commands(self) -> list[int]:
        """The sleeps that specs of these tests run."""
        pids = []
        for process in marked(self.mark):
            try:
                if b"sleep" in Path(f"/proc/{process}/comm").read_bytes():
                    pids.append(process)
            except OSError:
                continue
        return pids

    def nothing_left(self) -> None:
        eventually(lambda: not marked(self.mark))


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    made = User(tmp_path, uuid.uuid4().hex)
    yield made
    for file in (tmp_path / "state").rglob("state.json"):
        pid = json.loads(file.read_text(encoding="utf-8"))["pid"]
        if f"{file.parent}" in _command_line(pid):
            kill(pid)
    for pid in marked(made.mark):
        kill(pid)


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return ""


def test_a_job_runs_to_its_end_in_sight(user: User) -> None:
    result = user.apply(user.write("echo pass $PADDLESPEC_INDEX"), "--wait", "complete")
    assert "Process/fit-trainer-0 started\nProcess/fit-trainer-1 started\n" in result.stdout
    assert "trainer-0 | pass 0\n" in result.stdout
    assert "trainer-1 | pass 1\n" in result.stdout
    assert result.stderr.splitlines()[-1] == "fit: complete"
    assert user.states() == ["succeeded"]
    user.nothing_left()


def test_a_run_outlives_the_command_that_started_it(user: User) -> None:
    result = user.apply(user.write("sleep 1000"))
    assert "next: paddlespec logs fit -f, paddlespec kill fit" in result.stderr
    user.running(2)
    result = user.run("kill", "fit")
    assert result.stdout == "Process/fit-trainer-0 stopped\nProcess/fit-trainer-1 stopped\n"
    assert not marked(user.mark)
    assert user.states() == ["killed"]


def test_a_second_apply_of_what_runs_disturbs_nothing(user: User) -> None:
    spec = user.write("sleep 1000")
    user.apply(spec, "--wait", "ready")
    user.running(2)
    before = user.commands()
    result = user.apply(spec)
    assert result.stdout == "Process/fit-trainer-0 unchanged\nProcess/fit-trainer-1 unchanged\n"
    assert user.commands() == before
    assert user.states() == ["running"]


def test_a_failing_trainer_is_named_with_its_last_words(user: User) -> None:
    spec = user.write("echo before; [ $PADDLESPEC_INDEX = 0 ] && exec sleep 1000; exit 7")
    result = user.apply(spec, "--wait", "complete", code=4)
    assert "paddlespec: fit: failed: a replica failed\n" in result.stderr
    assert "  fit-trainer-1: exit code 7\n  | before\n" in result.stderr
    assert "next: paddlespec logs fit --target local\n" in result.stderr
    rerun = f"      paddlespec apply {spec} --target local --wait complete --rerun\n"
    assert rerun in result.stderr
    user.nothing_left()
    again = user.apply(spec, "--wait", "complete", code=4)
    assert "nothing to do: fit failed; add --rerun" in again.stderr
    assert "exit code 7" in again.stderr


def test_a_changed_spec_needs_consent_while_it_runs(user: User) -> None:
    user.apply(user.write("sleep 1000"))
    user.running(2)
    before = user.commands()
    changed = user.write("sleep 1001")
    result = user.apply(changed, code=3)
    assert "fit is running and its spec has changed" in result.stderr
    assert result.stderr.startswith("paddlespec: fit is running")
    assert user.commands() == before
    pasted = f"paddlespec apply {changed} --target local --replace"
    assert f"  hint: to stop it and start a new run: {pasted}\n" in result.stderr
    result = user.run(*shlex.split(pasted)[1:], "--wait", "ready")
    assert "waiting for an earlier run to end" in result.stderr
    assert not set(user.commands()) & set(before)
    assert user.states() == ["replaced", "running"]


def test_what_is_over_runs_again_only_when_asked_or_changed(user: User) -> None:
    spec = user.write("true")
    user.apply(spec, "--wait", "complete")
    result = user.apply(spec)
    assert "nothing to do: fit succeeded" in result.stderr
    assert not result.stdout
    user.apply(spec, "--rerun", "--wait", "complete")
    user.apply(user.write("echo other"), "--wait", "complete")
    assert user.states() == ["succeeded"] * 3


def test_what_was_killed_stays_so(user: User) -> None:
    spec = user.write("sleep 1000")
    user.apply(spec)
    user.run("kill", spec, "--target", "local")
    result = user.apply(spec)
    assert "nothing to do: run 1 of fit was killed" in result.stderr
    user.apply(spec, "--wait", "complete", code=3)
    user.apply(spec, "--rerun")
    assert user.states() == ["killed", "running"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_waits_in_sight_ends_the_run_with_the_command(
    user: User, number: signal.Signals, code: int
) -> None:
    spec = user.write("sleep 1000")
    process = user.start("apply", spec, "--target", "local", "--wait", "complete")
    user.running(2)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "stopping; press Ctrl-C again" in err
    assert not marked(user.mark)
    assert user.states() == ["killed"]


def test_nothing_is_left_when_the_command_in_sight_is_killed(user: User) -> None:
    process = user.start(
        "apply", user.write("sleep 1000"), "--target", "local", "--wait", "complete"
    )
    user.running(2)
    process.kill()
    process.communicate(timeout=60)
    user.nothing_left()


def test_a_wait_that_takes_too_long_leaves_the_run_alone(user: User) -> None:
    spec = user.write("sleep 1000")
    user.apply(spec, "--wait", "complete", "--timeout", "3s", code=5)
    user.running(2)
    assert user.states() == ["running"]


def test_a_killed_supervisor_is_noticed_and_leaves_nothing(user: User) -> None:
    spec = user.write("sleep 1000")
    user.apply(spec)
    user.running(2)
    pid = user.status.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    user.nothing_left()
    eventually(lambda: user.status.phase is Phase.lost)
    assert user.states() == ["lost"]
    result = user.apply(spec)
    assert "finished while nobody was watching" in result.stderr
    user.apply(spec, "--rerun")


def test_what_outlives_the_supervisor_and_its_guard_is_found_by_its_variables(user: User) -> None:
    """Both are killed at once, so nothing is left that could kill the processes."""
    spec = user.write("setsid sleep 1000 & sleep 1000; true")
    for command in ("kill", "apply"):
        user.apply(spec, "--rerun")
        user.running(4)
        supervisor = user.status.pid
        assert supervisor is not None
        guard = int(Path(f"/proc/{supervisor}/stat").read_text().rpartition(")")[2].split()[1])
        for pid in (guard, supervisor):
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: user.status.phase is Phase.lost)
        before = user.commands()
        assert before
        if command == "kill":
            result = user.run("kill", "fit")
            assert "of a lost run stopped" in result.stdout
            user.nothing_left()
        else:
            user.apply(spec, "--rerun")
            user.running(4)
            assert not set(user.commands()) & set(before)


def test_a_terminal_that_is_closed_ends_the_run_in_sight(user: User) -> None:
    process = user.start(
        "apply", user.write("sleep 1000"), "--target", "local", "--wait", "complete"
    )
    user.running(2)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    user.nothing_left()
    eventually(lambda: user.states() == ["killed"])


def test_who_waits_for_a_run_is_told_that_another_one_took_its_place(user: User) -> None:
    process = user.start("apply", user.write("sleep 1000"), "--target", "local", "--wait", "ready")
    process.communicate(timeout=60)
    waiting = user.start("wait", "fit", "--target", "local")
    user.apply(user.write("true"), "--replace", "--wait", "complete")
    waiting.communicate(timeout=60)
    assert user.states() == ["replaced", "succeeded"]


def test_a_hint_names_no_job_of_another_namespace(user: User) -> None:
    user.apply(user.write("true"), "--namespace=ads", "--wait", "complete")
    there = ("--target", "local", "--namespace=ads")
    assert 'did you mean "fit"?' in user.run("kill", "fitt", "--yes", *there, code=3).stderr
    message = user.run("kill", "fitt", "--yes", "--target", "local", code=3).stderr
    assert "fitt has not run on this machine in namespace default" in message
    assert "did you mean" not in message


@pytest.mark.parametrize("name", ["../../elsewhere", "a/b", "..", ".", "Two Words", "-n"])
def test_a_namespace_is_a_name_and_no_path(user: User, name: str) -> None:
    result = user.apply(user.write("true"), f"--namespace={name}", code=3)
    assert "invalid namespace name" in result.stderr
    assert not list(user.folder.rglob("runs.json"))


def test_programs_find_their_data_by_any_name(user: User) -> None:
    """Names with spaces and other scripts, also in the path of the state folder."""
    data = user.folder / "dätä 漢字"
    data.mkdir()
    (data / "ƒ").write_text("ünï\n", encoding="utf-8")
    spec = user.write("cat /data/ƒ; umask > /tmp/paddle-log/x; cat /tmp/paddle-log/x")
    volumes = "  volumes: [{name: d, mountPath: /data, claim: c, readOnly: true}]\n"
    with open(spec, "a", encoding="utf-8") as file:
        file.write(volumes)
    odd = (("XDG_STATE_HOME", str(user.folder / "my state")), ("LC_ALL", "C"))
    result = user._replace(shell=odd).apply(spec, "--mount", f"/data={data}", "--wait", "complete")
    assert "trainer-1 | ünï" in result.stdout


def test_a_run_from_before_a_reboot_is_lost(user: User) -> None:
    user.apply(user.write("true"), "--wait", "complete")
    path = Path(user.job.run(1)) / "state.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, "phase": "running", "boot": "another"}), encoding="utf-8")
    text = (Path(user.job.path) / "runs.json").read_text(encoding="utf-8")
    running = text.replace("succeeded", "running")
    (Path(user.job.path) / "runs.json").write_text(running, encoding="utf-8")
    assert user.status.message == "the machine was restarted"
    assert user.states() == ["lost"]


def test_an_apply_that_is_killed_can_be_run_again(user: User) -> None:
    """Wherever it dies, the next one sees one run or none, and no process twice."""
    spec = user.write("sleep 1000")
    for delay in (0.02, 0.05, 0.08, 0.12, 0.2, 0.3):
        process = user.start("apply", spec, "--target", "local")
        time.sleep(delay)
        process.kill()
        process.communicate(timeout=60)
    user.apply(spec, "--wait", "ready")
    user.running(2)
    assert user.states() == ["running"]


def test_two_applies_at_once_make_one_run(user: User) -> None:
    spec = user.write("sleep 1000")
    several = [user.start("apply", spec, "--target", "local") for _ in range(4)]
    for other in several:
        other.communicate(timeout=60)
        assert other.returncode == 0
    user.running(2)
    assert user.states() == ["running"]


def test_jobs_of_two_names_run_at_once(user: User) -> None:
    user.apply(user.write("sleep 1000"))
    user.apply(user.write("sleep 1000", "other"))
    user.running(4)
    user.run("kill", "fit", "other")
    assert not marked(user.mark)


def test_lines_of_several_jobs_name_their_job(user: User) -> None:
    # One trainer that fails ends the others, so each has time to print.
    paths = user.write("echo pass"), user.write("echo pass; sleep 2; exit 3", "other")
    result = user.run("apply", *paths, "--target", "local", "--wait", "complete", code=4)
    assert "fit/trainer-0 | pass\n" in result.stdout
    assert "other/trainer-1 | pass\n" in result.stdout
    # What is to be run again is the job that failed, and no other.
    assert f"paddlespec apply {paths[1]} --target local --wait complete --rerun" in result.stderr
    assert f"paddlespec apply {paths[0]}" not in result.stderr


def test_a_command_to_paste_shows_no_secret(user: User) -> None:
    options = ("-u", "env.API_TOKEN=canary", "--update=env.B=canary", "-uenv.C=canary")
    spec = user.write("exit 3")
    result = user.apply(spec, *options, "--wait", "complete", code=4)
    assert "-u 'env.API_TOKEN=***' '--update=env.B=***' '-uenv.C=***'" in result.stderr


def test_pservers_are_ready_before_trainers_and_stopped_after_them(user: User) -> None:
    spec = user.write("echo pass", mode="ps", more=PSERVERS)
    result = user.apply(spec, "--wait", "complete")
    assert result.stderr.splitlines()[-1] == "fit: complete, pservers stopped"
    assert {replica.role: replica.code for replica in user.status.replicas} == {
        "trainers": 0,
        "pservers": 143,
    }


ROLES = """\
  roles:
    server:
      replicas: 2
      command: python3 -m http.server --bind $(echo $PADDLESPEC_SERVER_HOSTS | cut -d, -f$((IDX + 1))) 8000
    once: {command: test "$PADDLESPEC_ROLE $PADDLESPEC_TRAINERS_HOSTS" != " "}
"""
ASKS = """\
for host in $(echo $PADDLESPEC_SERVER_HOSTS | tr , ' '); do
  until python3 -c "from urllib.request import urlopen; urlopen('http://$host:8000')"; do sleep 0.2; done
done 2> /dev/null"""


def test_other_roles_are_found_by_their_hosts_and_stopped_after_trainers(user: User) -> None:
    spec = user.write(ASKS, more=ROLES)
    result = user.apply(spec, "--wait", "complete")
    assert result.stderr.splitlines()[-1] == "fit: complete, server stopped"
    codes = {replica.role: replica.code for replica in user.status.replicas}
    assert codes == {"trainers": 0, "server": 143, "once": 0}


def test_a_role_that_runs_on_does_not_keep_retried_trainers(user: User) -> None:
    spec = user.write("echo pass", more=ROLES)
    result = user.apply(spec, "--wait", "complete", "-u", "policy.retries=1")
    assert result.stderr.splitlines()[-1] == "fit: complete, server stopped"


def test_a_role_that_fails_fails_the_run(user: User) -> None:
    spec = user.write("sleep 1000", more=ROLES)
    failing = ("-u", "roles.once.command=exit 7")
    result = user.apply(spec, *failing, "--wait", "complete", code=4)
    assert "fit-once-0: exit code 7" in result.stderr
    assert not user.commands()


def test_ready_means_that_pservers_accept(user: User) -> None:
    user.apply(user.write("sleep 1000", mode="ps", more=PSERVERS), "--wait", "ready")
    assert all(replica.ready for replica in user.status.replicas)
    assert len(user.status.replicas) == 3


def test_a_dry_run_starts_nothing(user: User) -> None:
    spec = user.write("sleep 1000")
    result = user.apply(spec, "--dry-run", "server")
    assert "Process/fit-trainer-0 would be started (dry run)" in result.stdout
    assert not (user.folder / "state").exists()
    user.apply(spec)
    user.running(2)
    result = user.apply(spec, "--dry-run", "server")
    assert "Process/fit-trainer-0 unchanged (dry run)" in result.stdout


def test_diff_compares_with_what_runs_here(user: User) -> None:
    spec = user.write("sleep 1000")
    user.run("diff", spec, "--target", "local", code=1)
    user.apply(spec)
    user.run("diff", spec, "--target", "local")
    result = user.run("diff", user.write("sleep 1001"), "--target", "local", code=1)
    assert "sleep 1001" in result.stdout


def test_diff_tells_what_an_apply_would_do(user: User) -> None:
    """The wording is that of the cluster, and nothing is shown that would not happen."""
    here = ("--target", "local")
    spec = user.write("sleep 1000")
    user.apply(spec)
    user.running(2)
    other = user.write("sleep 1001")
    result = user.run("diff", other, *here, code=1)
    assert "apply would refuse this: fit is running and its spec has changed" in result.stdout
    result = user.run("diff", other, *here, "--replace", code=1)
    assert "refuses" not in result.stdout
    assert "3 to replace" in result.stdout
    spec = user.write("sleep 1000")
    result = user.run("diff", spec, *here, "-u", "policy.timeout=1h")
    assert "Rehearsal/fit kept: this version renders it differently" in result.stdout
    user.run("kill", "fit")
    result = user.run("diff", spec, *here)
    assert "nothing to do: run 1 of fit was killed" in result.stdout
    result = user.run("diff", spec, *here, "--rerun", code=1)
    assert "3 to create" in result.stdout
    spec = user.write("true")
    user.apply(spec, "--wait", "complete")
    result = user.run("diff", spec, *here)
    assert "nothing to do: fit succeeded" in result.stdout


def test_a_secret_reaches_its_process_and_no_file(user: User) -> None:
    spec = user.write("test ${#TOKEN} = 12 && test $URL = http://$(TOKEN)@here")
    text = Path(spec).read_text(encoding="utf-8")
    more = "env: {TOKEN: {secret: team, key: token}, URL: http://$(TOKEN)@here, "
    Path(spec).write_text(text.replace("env: {", more), encoding="utf-8")
    with_token = user._replace(shell=(("TOKEN", "canary-token"),))
    with_token.apply(spec, "--wait", "complete")
    for file in Path(user.job.path).rglob("*"):
        if file.is_file():
            assert b"canary-token" not in file.read_bytes(), file


def test_each_attempt_finds_the_code_and_its_own_folders_new(user: User) -> None:
    spec = user.write("ls; ls /scratch; touch left /scratch/left; rm train.py; exit 3")
    (user.folder / "code").mkdir()
    (user.folder / "code" / "train.py").write_text("", encoding="utf-8")
    more = (
        "  package: {path: code}\n  volumes: [{name: scratch, mountPath: /scratch, emptyDir: {}}]\n"
    )
    text = Path(spec).read_text(encoding="utf-8").replace("  policy: {", "  policy: {retries: 1, ")
    for mode in ("parallel", "collective"):
        Path(spec).write_text(text.replace("mode: parallel", f"mode: {mode}") + more, "utf-8")
        user.apply(spec, "--rerun", "--replace", "--wait", "complete", code=4)
        result = user.run("logs", "fit", "--index", "0")
        lines = [line for line in result.stdout.splitlines() if "paddlespec" not in line]
        assert lines == ["train.py"] * 2


def test_what_is_rendered_for_this_machine_is_no_spec(user: User) -> None:
    spec = user.write("true")
    text = Path(spec).read_text(encoding="utf-8")
    Path(spec).write_text(text.replace("canary-hunter2", "known"), encoding="utf-8")
    user.run("render", spec, "--target", "local", "--out", "rendered")
    user.run("render", spec, "--target", "local", "--out", "rendered", "--check")
    assert len(list((user.folder / "rendered").rglob("*.yaml"))) == 3
    user.run("validate", ".")
    result = user.run("render", spec, "--target", "local", "-o", "json")
    listed = json.loads(result.stdout)
    assert [item["kind"] for item in listed["items"]] == ["Rehearsal", "Process", "Process"]


def test_delete_forgets_a_job(user: User) -> None:
    spec = user.write("sleep 1000")
    user.apply(spec)
    user.running(2)
    user.run("delete", "fit")
    assert not marked(user.mark)
    assert not Path(user.job.path).exists()
    result = user.run("delete", spec, "--target", "local", code=3)
    assert "fit has not run on this machine" in result.stderr
    user.run("delete", spec, "--target", "local", "--ignore-not-found")
    user.apply(spec)
    assert user.states() == ["running"]


def test_a_job_that_is_deleted_without_waiting_is_forgotten_all_the_same(user: User) -> None:
    spec = user.write("sleep 1000")
    user.apply(spec)
    user.running(2)
    user.run("delete", "fit", "--no-wait")
    user.apply(spec, "--wait", "ready")
    assert user.states() == ["running"]


def test_fewer_replicas_than_the_spec_says(user: User) -> None:
    user.apply(user.write("true"), "--scale", "trainers=1", "--wait", "complete")
    assert len(user.status.replicas) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scale", "trainers=1"], "--scale is for target local"),
        (["--mount", "/data=."], "--mount is for target local"),
        (["--python", "python3"], "--python is for target local"),
        (["--cpu-only"], "--cpu-only is for target local"),
        (["--in-image"], "--in-image is for target local"),
        (
            ["--target", "local", "--in-image", "--python", "python3"],
            "--python has no effect with --in-image",
        ),
        (["--target", "local", "--scale", "workers=1"], "expected trainers=N or pservers=N"),
        (["--target", "local", "--scale", "trainers=few"], "expected trainers=N or pservers=N"),
        (["--target", "local", "--mount", "data=."], "expected PATH=DIR"),
        (["--target", "local", "--mount", "/data=none"], "folder none does not exist"),
    ],
)
def test_options_of_rehearsals_are_refused_elsewhere(
    user: User, options: list[str], words: str
) -> None:
    result = user.run("apply", user.write("true"), *options, code=2)
    assert words in result.stderr


def test_old_runs_are_forgotten_and_their_history_is_not(user: User) -> None:
    spec = user.write("true")
    short = ("-u", "policy.keepFinished=1s")
    user.apply(spec, *short, "--wait", "complete")
    user.apply(spec, *short, "--rerun", "--wait", "complete")
    path = Path(user.job.path) / "runs.json"
    _age(path)
    user.apply(spec, *short, "--rerun", "--wait", "complete")
    assert [folder.name for folder in sorted(Path(user.job.path, "runs").iterdir())] == ["3"]
    assert user.states() == ["succeeded"] * 3


def _age(path: Path) -> None:
    """Make every finished run look old."""
    text = path.read_text(encoding="utf-8").replace('"running"', '"succeeded"')
    rows: list[dict[str, Any]] = json.loads(text)
    for row in rows:
        row["finished"] = "2020-01-01T00:00:00Z"
    path.write_text(json.dumps(rows), encoding="utf-8")


def test_what_a_run_holds_is_for_its_owner_alone(user: User) -> None:
    user.apply(user.write("true"), "--wait", "complete")
    folder = Path(user.job.run(1))
    for name in ("launch.json", "manifests.json", "state.json"):
        assert (folder / name).stat().st_mode & 0o077 == 0
    assert Path(user.job.path).stat().st_mode & 0o077 == 0
    text = "".join(file.read_text() for file in Path(user.job.path).glob("*") if file.is_file())
    assert "canary" not in text
