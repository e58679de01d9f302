"""What a run on this machine consists of before a supervisor starts it, and what is refused."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest
from targets import manifests

from paddlespec import targets
from paddlespec.backends.local.prepare.addresses import (
    addresses,
    listens,
    own_port,
    ports_of_one,
    waits_for,
)
from paddlespec.backends.local.prepare.limits import devices
from paddlespec.backends.local.prepare.mounts import Place, Rewriting
from paddlespec.backends.local.prepare.options import Options
from paddlespec.backends.local.prepare.prepare import prepare
from paddlespec.backends.local.prepare.variables import HOST, expanded
from paddlespec.backends.local.prepare.view import can_mount
from paddlespec.backends.local.store import launch as launches
from paddlespec.pipeline import Choices, context, load
from paddlespec.render.template import Templates
from paddlespec.runs.failures import OperationFailed
from paddlespec.runs.values import Work
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.backends.local.store.launch import Launch, Process
    from paddlespec.render.manifest import Manifest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/paddlejob.yaml"))
COMPUTED = {"PATH", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}


class User:
    """A user with a spec, a shell, and a folder for runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir()
        self.shell = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        self.runs = 0

    def file(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def manifests(self, spec: str) -> list[Manifest]:
        return manifests(self.project, spec, "target=local")

    def prepare(self, spec: str, **options: Any) -> Launch:
        return self.prepared(self.manifests(spec), **options)

    def prepared(self, manifests: list[Manifest], **options: Any) -> Launch:
        self.runs += 1
        run = self.folder / f"run-{self.runs}"
        given = Options(**{"environment": self.shell, **options})
        return prepare(Work("a", manifests), given, str(run))

    def refused(self, spec: str, **options: Any) -> str:
        with pytest.raises(OperationFailed) as error:
            self.prepare(spec, **options)
        return error.value.message


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def mounting(user: User) -> User:
    root = user.folder / "probe"
    root.mkdir()
    if not can_mount(str(root)):
        pytest.skip("this machine grants no mount namespaces: true paths are NOT tested")
    return user


def ran(process: Process) -> subprocess.CompletedProcess[str]:
    """Run *process* to its end, as a supervisor would start it."""
    return subprocess.run(
        process.argv, cwd=process.cwd, env=process.env, text=True, capture_output=True, check=False
    )


def said(process: Process) -> str:
    done = ran(process)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def parallel(command: str, rest: str = "") -> str:
    return f"  mode: parallel\n  command: {json.dumps(command)}\n{rest}"


# The variables


def pod_variables(pod: dict[str, Any], namespace: str, index: int) -> dict[str, str]:
    """Return what the kubelet passes to the container."""
    values: dict[str, str] = {}
    for variable in pod["containers"][0]["env"]:
        path = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        value = variable.get("value", namespace if path == "metadata.namespace" else str(index))
        if "valueFrom" in variable and not path:
            value = "from the shell"
        for name, known in values.items():
            value = value.replace(f"$({name})", known)
        values[variable["name"]] = value
    return values


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name)
def test_a_process_has_the_variables_of_its_pod_but_for_the_substitution(
    file: Path, mounting: User
) -> None:
    user = mounting
    (loaded,), faults = load(str(file), Files(), Choices())
    assert faults == []
    job, given = loaded.job, context(loaded)
    here = targets.load("local").render(job, given, Templates())
    there = {
        manifest["metadata"]["labels"]["paddlespec.io/role"]: manifest["spec"]["template"]["spec"]
        for manifest in targets.load("kubernetes").render(job, given, Templates())
        if manifest["kind"] == "Job"
    }
    mounts = {volume.mount_path: str(user.folder / volume.name) for volume in job.spec.volumes}
    for folder in mounts.values():
        Path(folder).mkdir()
    shell = {**user.shell, "TRACKING_TOKEN": "from the shell", "PADDLE_RANK": "7", "OTHER": "x"}
    launch = user.prepared(here, environment=shell, mounts=mounts, cpu_only=True)
    namespace = job.metadata.namespace or "default"
    exchanged = {
        (host, cluster): local
        for process, manifest in zip(launch.processes, here[1:])
        for (host, local), cluster in zip(
            process.listens, manifest["spec"].get("ports", {}).values()
        )
    }
    own = {
        process.name: process.env.get("POD_IP") or process.listens[0][0]
        for process in launch.processes
        if process.listens or "POD_IP" in process.env
    }
    for process in launch.processes:
        expected = pod_variables(there[process.role], namespace, process.replica)
        logs = str(user.folder / "run-1" / "paddle-log" / process.name)
        for name, value in expected.items():
            for other, address in own.items():
                service = other.rpartition("-")[0]
                value = value.replace(f"{other}.{service}.{namespace}.svc", address)
            for (address, cluster), local in exchanged.items():
                value = value.replace(f"{address}:{cluster}", f"{address}:{local}")
            value = value.replace("/tmp/paddle-log", logs)
            assert (name, process.env[name]) == (name, value)
        known = {*HOST, *COMPUTED, "CUDA_VISIBLE_DEVICES", "HOSTNAME", "JOB_COMPLETION_INDEX"}
        assert process.env.keys() - expected.keys() <= known
    assert launches.parse(launches.dump(launch)) == launch


def test_nothing_of_the_shell_gets_in_that_the_contract_owns(user: User) -> None:
    user.shell |= {"TRAINING_ROLE": "PSERVER", "PADDLE_TRAINER_ID": "3", "http_proxy": "http://x"}
    (process,) = user.prepare(parallel("env")).processes
    output = said(process)
    assert "TRAINING_ROLE" not in output
    assert "PADDLE_TRAINER_ID" not in output
    assert "http_proxy" not in output
    assert "PADDLESPEC_INDEX=0" in output


def test_a_process_has_what_controllers_and_runtimes_add_to_a_pod(user: User) -> None:
    command = "echo $(JOB_COMPLETION_INDEX) $HOSTNAME '$(HOSTNAME)'"
    processes = user.prepare(parallel(command, "  trainers: {replicas: 2}\n")).processes
    assert [said(process) for process in processes] == [
        "0 a-trainer-0 $(HOSTNAME)\n",
        "1 a-trainer-1 $(HOSTNAME)\n",
    ]
    own = '  env: {HOSTNAME: mine, JOB_COMPLETION_INDEX: "7"}\n'
    (process,) = user.prepare(parallel("echo $HOSTNAME $JOB_COMPLETION_INDEX", own)).processes
    assert said(process) == "mine 7\n"
    (process,) = user.prepare("  mode: collective\n  command: python train.py\n").processes
    assert "JOB_COMPLETION_INDEX" not in process.env


def test_references_are_resolved_as_the_kubelet_does(user: User) -> None:
    assert expanded("$(A)-$$(A)-$(B)-$A-$$", {"A": "1"}) == "1-$(A)-$(B)-$A-$"
    env = '  env: {A: "1", B: "<$(A)$(C)>", C: "2"}\n'
    (process,) = user.prepare(parallel("echo '$(B)' $(PADDLESPEC_COUNT)", env)).processes
    assert said(process) == "<1$(C)> 1\n"


SECRET = "  env: {TOKEN: {secret: team-token, key: token}, P: {configMap: places, key: p}}\n"


def test_values_that_the_cluster_keeps_come_from_the_shell(user: User) -> None:
    message = user.refused(parallel("env", SECRET))
    expected = (
        "variable TOKEN (Secret team-token, key token) is not set; set it in your shell: TOKEN="
    )
    assert expected in message
    assert "variable P (ConfigMap places, key p) is not set" in message
    user.shell |= {"TOKEN": "hunter2", "P": "here"}
    (process,) = user.prepare(parallel('echo "$TOKEN $P"', SECRET)).processes
    assert said(process) == "hunter2 here\n"
    assert process.secret == ("TOKEN",)


def test_everything_that_is_missing_is_told_at_once_and_no_value_with_it(user: User) -> None:
    user.shell["P"] = "hunter2"
    rest = SECRET + (
        "  trainers: {replicas: 2, resources: {gpu: 1}}\n"
        "  volumes:\n"
        "    - {name: home, mountPath: /pfs/home, claim: alice-home}\n"
        "    - {name: node, mountPath: /mnt/x, hostPath: /mnt/data}\n"
    )
    if os.path.exists("/dev/nvidia0"):
        user.shell["CUDA_VISIBLE_DEVICES"] = ""
    message = user.refused(parallel("env", rest), mounts={"/other": "."})
    assert message.startswith("a cannot run on this machine for 5 reasons:\n")
    assert (
        "volume claim alice-home (/pfs/home) does not exist on this machine; "
        "map it with --mount /pfs/home=FOLDER"
    ) in message
    assert "node folder /mnt/data (/mnt/x) does not exist on this machine" in message
    assert "--mount /other=. matches no volume of the job (mounted: /mnt/x, /pfs/home)" in message
    assert "the job requests 1 nvidia.com/gpu per trainer (2 in total)" in message
    assert "hunter2" not in message


# Resources


def test_cores_become_threads_unless_the_spec_says_otherwise(user: User) -> None:
    rest = '  env: {MKL_NUM_THREADS: "7"}\n  trainers: {resources: {cpu: 2500m, memory: 2Gi}}\n'
    (process,) = user.prepare(parallel("env", rest)).processes
    assert process.env["OMP_NUM_THREADS"] == "3"
    assert process.env["MKL_NUM_THREADS"] == "7"
    assert process.memory == 2 * 1024**3


def test_each_process_has_devices_of_its_own(user: User) -> None:
    spec = parallel("x", "  trainers: {replicas: 2, resources: {gpu: 2}}\n")
    processes = user.manifests(spec)[1:]
    result = devices(processes, ["0", "1", "2", "3"], cpu_only=False)
    assert result.visible == {"a-trainer-0": "0,1", "a-trainer-1": "2,3"}
    short = devices(processes, ["0", "1", "2"], cpu_only=False)
    assert "(4 in total)" in short.faults[0]
    assert devices(processes, [], cpu_only=True).visible == dict.fromkeys(result.visible, "")


# Addresses and ports

PS = """\
  mode: ps
  command: env
  trainers: {replicas: 2}
  pservers: {replicas: 2}
"""


def variables(launch: Launch) -> dict[str, dict[str, str]]:
    return {process.name: process.env for process in launch.processes}


def test_every_replica_has_an_address_of_its_own_and_the_ports_of_the_cluster(user: User) -> None:
    launch = user.prepare(PS)
    values = variables(launch)
    assert len({env["POD_IP"] for env in values.values()}) == 4
    assert {env["PADDLE_PORT"] for env in values.values()} == {"6174"}
    listed = values["a-trainer-0"]["PADDLE_PSERVERS_IP_PORT_LIST"].split(",")
    for index in range(2):
        own = values[f"a-pserver-{index}"]
        assert f"{own['POD_IP']}:{own['PADDLE_PORT']}" == listed[index]
    trainer = next(process for process in launch.processes if process.name == "a-trainer-1")
    assert [f"{host}:{port}" for (host, port), *_ in trainer.waits_for] == listed
    gloo = values["a-trainer-0"]["PADDLE_GLOO_HTTP_ENDPOINT"]
    assert [f"{host}:{port}" for group in trainer.waits_for for host, port in group[1:]] == [gloo]
    assert launch.meets


def test_the_namespace_is_the_one_of_the_run(user: User) -> None:
    values = variables(user.prepare(PS, namespace="team"))
    assert {env["NS"] for env in values.values()} == {"team"}
    assert not [value for env in values.values() for value in env.values() if ".svc" in value]
    assert {env["NS"] for env in variables(user.prepare(PS)).values()} == {"default"}


def test_two_runs_share_no_address_and_no_port_of_every_address(user: User) -> None:
    first, second = (variables(user.prepare(PS))["a-trainer-0"] for _ in range(2))
    assert first["POD_IP"] != second["POD_IP"]
    ports = [env["PADDLE_GLOO_HTTP_ENDPOINT"].rpartition(":")[2] for env in (first, second)]
    assert ports[0] != ports[1]


@contextmanager
def server(port: int) -> Iterator[None]:
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("0.0.0.0", port))
        held.listen()
        yield


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        number: int = probe.getsockname()[1]
        return number


def test_a_port_that_is_taken_is_told_with_who_has_it(user: User) -> None:
    port = free_port()
    spec = parallel("x", f"  trainers: {{ports: {{web: {port}}}}}\n")
    with server(port):
        message = user.refused(spec)
    assert re.search(
        rf"port {port} of 127\S+ is in use by \S+.* \(process {os.getpid()}\)", message
    )
    user.prepare(spec)


def test_a_server_of_every_address_gets_another_port_in_all_variables(user: User) -> None:
    manifests = user.manifests(PS)
    text, port = json.dumps(manifests), free_port()
    manifests = json.loads(text.replace("6175", str(port)))
    with server(port):
        launch = user.prepared(manifests)
    endpoints = {variable["PADDLE_GLOO_HTTP_ENDPOINT"] for variable in variables(launch).values()}
    (endpoint,) = endpoints
    assert not endpoint.endswith(f":{port}")
    first = next(process for process in launch.processes if process.name == "a-pserver-0")
    assert endpoint in [f"{host}:{number}" for host, number in first.listens]


def test_where_there_is_one_address_replicas_are_told_apart_by_ports(user: User) -> None:
    processes = user.manifests(PS)[1:]
    result = ports_of_one(processes, "default")
    by_name = {process["metadata"]["name"]: process for process in processes}
    served = [listens(by_name[f"a-pserver-{index}"], result, "default") for index in range(2)]
    everything = [address for listed in served for address in listed]
    assert len(set(everything)) == len(everything) == 3
    assert {host for host, _ in everything} == {"127.0.0.1"}
    waits = waits_for(by_name["a-trainer-0"], result, "default")
    assert waits == (tuple(served[0]), (served[1][0],))
    port = own_port({"PADDLE_PORT": "6174"}, by_name["a-pserver-1"], result, "default")
    assert port == str(served[1][0][1])
    pserver = "a-pserver-1.a-pserver.default.svc"
    assert result.text(f"x={pserver}:6174,{pserver}") == f"x=127.0.0.1:{port},127.0.0.1"


def test_hundreds_of_replicas_have_addresses(user: User, tmp_path: Path) -> None:
    spec = parallel("x", "  trainers: {replicas: 600}\n")
    result = addresses(user.manifests(spec)[1:], "x", str(tmp_path), str(tmp_path / "claims"))
    assert len(set(result.own.values())) == 600


# Code and data


def test_a_file_that_does_not_travel_is_missing_here_too(user: User) -> None:
    user.file("train.py", "print(open('data/big.csv').read())\n")
    user.file("data/big.csv", "1\n")
    package = '  package: {path: ., exclude: ["data/**"]}\n'
    (process,) = user.prepare(parallel("python train.py", package)).processes
    done = ran(process)
    assert done.returncode == 1
    assert "data/big.csv" in done.stderr
    (process,) = user.prepare(parallel("python train.py", "  package: {path: .}\n")).processes
    assert said(process) == "1\n\n"


def test_every_replica_has_a_copy_of_the_code_that_it_may_write_to(user: User) -> None:
    user.file("train.py", "print(1)\n")
    rest = "  package: {path: ., into: demo}\n  trainers: {replicas: 2}\n"
    first, second = user.prepare(parallel("ls demo; touch demo/new", rest)).processes
    assert said(first) == said(second) == "train.py\n"
    assert sorted(os.listdir(user.project)) == ["paddlejob.yaml", "train.py"]


DATA = """\
  volumes:
    - {name: home, mountPath: /pfs/dc1/home/alice, claim: alice-home, subPath: alice}
    - {name: public, mountPath: /pfs/dc1/public, claim: public-data, readOnly: true}
    - {name: scratch, mountPath: /scratch, emptyDir: {}}
  input: /pfs/dc1/public/text
  output: /pfs/dc1/home/alice/out
"""


def data(user: User) -> dict[str, str]:
    """The folders of the job on this machine."""
    for name in ("home/alice", "public/text"):
        (user.folder / "data" / name).mkdir(parents=True)
    (user.folder / "data" / "public" / "text" / "a.txt").write_text("hello\n")
    return {
        "/pfs/dc1/home/alice": str(user.folder / "data" / "home" / "alice"),
        "/pfs/dc1/public": str(user.folder / "data" / "public"),
    }


WRITES = (
    "cat /pfs/dc1/public/text/a.txt && mkdir -p $PADDLESPEC_OUTPUT && pwd > $PADDLESPEC_OUTPUT/x"
)


def test_processes_see_the_true_paths(mounting: User) -> None:
    given = data(mounting)
    (process,) = mounting.prepare(parallel(WRITES, DATA), mounts=given).processes
    assert process.env["PADDLESPEC_OUTPUT"] == "/pfs/dc1/home/alice/out"
    assert said(process) == "hello\n"
    written = Path(given["/pfs/dc1/home/alice"], "out", "x")
    assert written.read_text() == "/workspace\n"
    assert not os.path.exists("/pfs/dc1/home/alice")


def test_what_is_read_only_in_the_cluster_is_read_only_here(mounting: User) -> None:
    spec = parallel("touch /pfs/dc1/public/new", DATA)
    (process,) = mounting.prepare(spec, mounts=data(mounting)).processes
    done = ran(process)
    assert done.returncode != 0
    assert "Read-only" in done.stderr


def test_signals_and_exit_codes_are_the_commands_own(mounting: User) -> None:
    user, given = mounting, data(mounting)
    (process,) = user.prepare(parallel("exit 7", DATA), mounts=given).processes
    assert ran(process).returncode == 7
    command = '  command: [sh, -c, "kill -TERM $$$$; sleep 9"]\n'
    (process,) = user.prepare(
        f"  mode: parallel\n{command}{DATA}".replace("/out", "/out2"), mounts=given
    ).processes
    assert ran(process).returncode == -15
    absent = "  mode: parallel\n  command: [no-such-program]\n" + DATA.replace("/out", "/out3")
    (process,) = user.prepare(absent, mounts=given).processes
    done = ran(process)
    assert done.returncode == 127
    assert "no-such-program" in done.stderr


def test_a_mount_that_would_hide_the_run_itself_is_not_made(mounting: User) -> None:
    home = mounting.folder / "other"
    home.mkdir()
    rest = f"  volumes: [{{name: home, mountPath: {mounting.folder}, claim: x}}]\n"
    spec = parallel(f"touch {mounting.folder}/new", rest)
    (process,) = mounting.prepare(spec, mounts={str(mounting.folder): str(home)}).processes
    said(process)
    assert (home / "new").exists()


def test_without_true_paths_they_are_rewritten(user: User) -> None:
    given = data(user)
    (process,) = user.prepare(parallel(WRITES, DATA), mounts=given, true_paths=False).processes
    assert said(process) == "hello\n"
    written = Path(given["/pfs/dc1/home/alice"], "out", "x")
    assert written.read_text() == f"{process.cwd}\n"


@pytest.mark.parametrize("name", ["with space", "it's", 'a "b" c', "$HOME `id`", "back\\slash"])
def test_a_rewritten_path_stays_one_word_in_a_shell(user: User, name: str) -> None:
    here = user.folder / name
    here.mkdir()
    (here / "file").write_text("found\n", encoding="utf-8")
    command = 'cat /data/file "/data/file" \'/data/file\'; : "it\'s"; cat /data/file'
    volume = "  volumes: [{name: data, mountPath: /data, claim: any}]\n"
    spec = parallel(command, volume)
    mounts = {"/data": str(here)}
    (process,) = user.prepare(spec, mounts=mounts, true_paths=False).processes
    assert said(process) == "found\n" * 4


def test_only_whole_paths_are_rewritten() -> None:
    rewriting = Rewriting([Place("/data", "/here/d"), Place("/data/in", "/there")])
    same = ["/database", "s3://data/x", "a/data", "/x/data", "/data.csv", "data"]
    assert [rewriting.text(text) for text in same] == same
    text = "--in=/data/in/x '/data' $A:/data:/data/inner"
    assert rewriting.text(text) == "--in=/there/x '/here/d' $A:/here/d:/here/d/inner"


def test_a_path_above_stands_for_all_below_it_and_the_longest_wins(user: User) -> None:
    given = data(user)
    top = {"/pfs": str(user.folder / "pfs"), "/pfs/dc1/public": given["/pfs/dc1/public"]}
    (user.folder / "pfs" / "dc1" / "home" / "alice").mkdir(parents=True)
    spec = parallel("ls $PADDLESPEC_INPUT; touch $PADDLESPEC_INPUT/../../x || true", DATA)
    (process,) = user.prepare(spec, mounts=top, true_paths=False).processes
    assert process.env["PADDLESPEC_INPUT"] == given["/pfs/dc1/public"] + "/text"
    assert process.env["PADDLESPEC_OUTPUT"] == str(user.folder / "pfs/dc1/home/alice/out")


def test_claims_are_mapped_by_their_names(user: User) -> None:
    data(user)
    project = """\
        apiVersion: paddlespec.io/v1
        kind: Project
        project: ads
        datacenters:
          - name: dc1
            storages:
              home: {claim: alice-home, local: ../data/home}
              public: {claim: public-data, local: ../data/public, readOnly: true}
    """
    user.file(".paddlespec.yaml", re.sub("(?m)^ {8}", "", project))
    governing = Files().project(str(user.project))
    assert governing is not None
    assert governing.diagnostics == []
    claims = governing.local_claims("dc1")
    (process,) = user.prepare(parallel("env", DATA), claims=claims, true_paths=False).processes
    assert process.env["PADDLESPEC_OUTPUT"] == str(user.folder / "data/home/alice/out")
    assert governing.local_claims(None) == {}


def test_scratch_is_each_replicas_own(user: User) -> None:
    rest = DATA + "  trainers: {replicas: 2}\n"
    spec = parallel("ls /scratch; touch /scratch/x", rest)
    for process in user.prepare(spec, mounts=data(user)).processes:
        assert said(process) == ""


def test_a_folder_that_is_not_there_is_told(user: User) -> None:
    given = {**data(user), "/pfs/dc1/public": str(user.folder / "nowhere")}
    message = user.refused(parallel("x", DATA), mounts=given)
    assert message.endswith(f"does not exist; create it with: mkdir -p {user.folder / 'nowhere'}")


def test_trainers_of_old_programs_find_out_who_they_are(mounting: User) -> None:
    spec = (
        "  mode: legacy\n  command: cat /trainer_id /trainer_count\n"
        "  trainers: {replicas: 2}\n  pservers: {command: x}\n"
    )
    processes = {process.name: process for process in mounting.prepare(spec).processes}
    assert said(processes["a-trainer-1"]) == "1\n2\n"


# Existing results


def test_results_are_not_overwritten_unless_the_spec_says_so(user: User) -> None:
    given = data(user)
    out = Path(given["/pfs/dc1/home/alice"], "out")
    spec = parallel("x", DATA)
    user.prepare(spec, mounts=given)
    user.prepare(spec, mounts=given)  # nothing was written
    (out / "model").write_text("1")
    assert "is not empty: it contains model" in user.refused(spec, mounts=given)
    user.prepare(spec + "  outputPolicy: reuse\n", mounts=given)
    assert (out / "model").exists()
    launch = user.prepare(spec + "  outputPolicy: clear\n", mounts=given)
    assert os.listdir(out) == [".paddlespec"]
    assert launch.uid in os.listdir(out / ".paddlespec")


def test_nothing_is_cleared_when_something_is_missing(user: User) -> None:
    given = data(user)
    out = Path(given["/pfs/dc1/home/alice"], "out")
    out.mkdir()
    (out / "model").write_text("1")
    spec = parallel("x", DATA + "  outputPolicy: clear\n")
    user.refused(spec + SECRET, mounts=given)
    with pytest.raises(OperationFailed):
        user.prepare(spec, mounts=given, python="no-such-python")
    assert (out / "model").exists()


# Python


def wheel(name: str) -> bytes:
    """A package without dependencies."""
    made = BytesIO()
    info = f"{name}-1.0.dist-info"
    with ZipFile(made, "w") as archive:
        archive.writestr(f"{name}.py", "print('installed')\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr(f"{info}/WHEEL", tags)
        archive.writestr(f"{info}/RECORD", "")
    return made.getvalue()


def test_requirements_are_installed_once_for_all_runs(
    user: User, capsys: pytest.CaptureFixture[str]
) -> None:
    user.file("requirements.txt", "./demo_one-1.0-py3-none-any.whl\n")
    (user.project / "demo_one-1.0-py3-none-any.whl").write_bytes(wheel("demo_one"))
    # Packages of the base interpreter are visible, and paths are those of the environment.
    command = "python -c 'import demo_one, pydantic'; python3 -m demo_one"
    spec = parallel(command, "  package: {path: .}\n")
    (process,) = user.prepare(spec, python=None).processes
    assert "installing requirements.txt" in capsys.readouterr().err
    assert said(process) == "installed\ninstalled\n"
    (process,) = user.prepare(spec).processes
    assert capsys.readouterr().err == ""
    assert said(process) == "installed\ninstalled\n"
    (cached,) = (user.folder / "cache" / "paddlespec" / "python").glob("*/.ready")
    own = [sys.executable, "-c", "import demo_one"]
    assert subprocess.run(own, stderr=subprocess.DEVNULL, check=False).returncode != 0
    # An unfinished environment is created again.
    cached.unlink()
    user.prepare(spec)
    assert cached.exists()


def test_what_cannot_be_installed_is_told_and_leaves_nothing(user: User) -> None:
    user.file("requirements.txt", "./nothing-1.0-py3-none-any.whl\n")
    message = user.refused(parallel("x", "  package: {path: .}\n"))
    assert "cannot install the package's requirements" in message
    assert "nothing-1.0" in message
    assert not list((user.folder / "cache" / "paddlespec" / "python").glob("*/"))


def test_an_interpreter_of_ones_own_installs_nothing(user: User) -> None:
    user.file("requirements.txt", "./nothing-1.0-py3-none-any.whl\n")
    spec = parallel("python -c 'import sys; print(sys.executable)'", "  package: {path: .}\n")
    (process,) = user.prepare(spec, python=sys.executable).processes
    assert said(process) == f"{sys.executable}\n"
    assert user.refused(spec, python="no-such") == "--python no-such: program not found"


def test_the_interpreter_has_the_name_that_the_image_gives_it(user: User) -> None:
    user.file("train.py", "print(1)\n")
    rest = "  package: {path: ., python: python3.99}\n"
    (process,) = user.prepare(parallel("python3.99 train.py", rest)).processes
    assert said(process) == "1\n"


def test_what_a_command_installs_is_gone_with_the_run(user: User) -> None:
    (user.project / "demo_two-1.0-py3-none-any.whl").write_bytes(wheel("demo_two"))
    rest = "  package: {path: .}\n  setup: [pip install -q ./demo_two-1.0-py3-none-any.whl]\n"
    spec = parallel("python -m demo_two", rest)
    (process,) = user.prepare(spec, python=sys.executable).processes
    done = ran(process)
    assert (done.returncode, done.stdout) == (0, "installed\n"), done.stderr
    own = [sys.executable, "-c", "import demo_two"]
    assert subprocess.run(own, stderr=subprocess.DEVNULL, check=False).returncode != 0


def test_the_whole_job_is_described(user: User) -> None:
    rest = "  policy: {timeout: 1h, retries: 2, keepFinished: 1d}\n"
    launch = user.prepare(parallel("x", rest))
    assert (launch.timeout, launch.retries, launch.keep) == (3600, 2, 86400)
    assert launch.independent
    assert not launch.meets
