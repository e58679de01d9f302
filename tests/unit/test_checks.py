"""The parts that checks are made of, and what golden files cannot say."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from paddlespec import checks, contract, gate, source
from paddlespec.checks import Facts
from paddlespec.checks.env import _is_owned
from paddlespec.checks.images import Image, image
from paddlespec.checks.reference import fault
from paddlespec.checks.secrets import looks_secret, names_secret
from paddlespec.checks.shell import runs
from paddlespec.checks.volumes import clean, holds
from paddlespec.checks.written import written
from paddlespec.contract import ROLES, Context
from paddlespec.document import remove
from paddlespec.record import job_of
from paddlespec.targets import kubernetes
from paddlespec.template import Templates

if TYPE_CHECKING:
    from paddlespec.diagnostic import Diagnostic

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: %s}
spec:
  mode: %s
  image: team/train:1
  trainers: {replicas: %d}
"""
PSERVERS = "  pservers: {replicas: 3}\n"


def facts(text: str) -> Facts:
    document = source.read(text, "paddlejob.yaml").documents[0]
    assert gate.check(document, gate.EFFECTIVE).diagnostics == []
    return Facts(job_of(document.data), document)


def found(text: str) -> list[Diagnostic]:
    """The findings of the checks, what the gate spoils left out."""
    document = source.read(text, "paddlejob.yaml").documents[0]
    refusal = gate.check(document, gate.EFFECTIVE)
    job = job_of(remove(document.data, refusal.spoiled | refusal.unknown))
    return list(checks.run(Facts(job, document), refusal.spoiled))


def codes(text: str) -> list[str]:
    return [each.code for each in found(text)]


@pytest.mark.parametrize(
    ("mode", "replicas"), list(product(["collective", "ps", "legacy", "parallel"], [1, 2]))
)
def test_whatever_the_contract_sets_is_managed(mode: str, replicas: int) -> None:
    text = SPEC % ("job", mode, replicas)
    job = facts(text + (PSERVERS if mode in ("ps", "legacy") else "")).job
    for role in ROLES if job.spec.pservers else ("trainers",):
        for name in contract.environment(job, role, Context("dc1")):
            # Output that is not buffered is a wish, and a user may have another.
            assert _is_owned(name, mode) or name == "PYTHONUNBUFFERED"


@pytest.mark.parametrize(("mode", "replicas"), [("collective", 11), ("ps", 2), ("parallel", 1)])
def test_the_longest_name_that_is_allowed_fits_everywhere(mode: str, replicas: int) -> None:
    def text(length: int) -> str:
        return SPEC % ("a" * length, mode, replicas) + (PSERVERS if mode == "ps" else "")

    longest = max(each for each in range(1, 64) if "name-too-long" not in codes(text(each)))
    job = facts(text(longest)).job
    hosts = [host for role in ROLES for host in contract.hosts(job, role)]
    assert max(len(label) for host in hosts for label in host.split(".")) == 63
    for manifest in kubernetes.render(job, Context(), Templates()):
        assert len(manifest["metadata"]["name"]) <= 63


def test_a_stateful_set_leaves_room_for_the_label_of_its_pods() -> None:
    def text(length: int) -> str:
        stateful = "  pservers: {replicas: 1, workload: StatefulSet}\n"
        return SPEC % ("a" * length, "ps", 1) + stateful

    longest = max(each for each in range(1, 64) if "name-too-long" not in codes(text(each)))
    assert len(f"{'a' * longest}-pserver") == 52


def test_one_fault_does_not_silence_the_checks_on_the_rest() -> None:
    text = (
        SPEC % ("job", "collective", 2)
        + "  env: {PADDLE_RANK: '1', A: [1]}\n  outputPolicy: clear\n"
    )
    # The variables were not readable as a whole; the policy was.
    assert codes(text) == ["no-output"]
    text = SPEC % ("job", "collective", 2) + "  env: {PADDLE_RANK: '1'}\n  workdir: x\n"
    assert codes(text) == ["managed-env"]


def test_variables_of_one_role_do_not_silence_those_of_all() -> None:
    text = SPEC % ("job", "ps", 2) + ("  pservers: {env: {A: [1]}}\n  env: {PADDLE_PORT: '1'}\n")
    assert "managed-env" in codes(text)


@pytest.mark.parametrize(
    "misspelt",
    [
        "  volumes: [{name: a, mountPath: /a, hostpath: /a}]\n",
        "  env: {A: {secert: a, key: b}}\n",
    ],
)
def test_what_a_misspelt_key_explains_is_not_told_again(misspelt: str) -> None:
    assert codes(SPEC % ("job", "parallel", 1) + misspelt) == []


def test_a_misspelt_role_is_not_a_missing_one() -> None:
    text = SPEC % ("job", "ps", 1)
    assert "mode-roles" in codes(text)
    assert "mode-roles" not in codes(text + "  pserver: {replicas: 1}\n")


@pytest.mark.parametrize("replicas", [1, 2])
def test_retries_are_refused_only_where_replicas_meet(replicas: int) -> None:
    text = SPEC % ("job", "collective", replicas) + "  policy: {retries: 1}\n"
    assert ("retries" in codes(text)) == (replicas > 1)


def test_other_targets_say_themselves_what_they_cannot_retry() -> None:
    own = facts(SPEC % ("job", "collective", 2) + "  policy: {retries: 1}\n")
    for target, wanted in (("kubernetes", True), ("jobset", False)):
        told = [each.code for each in checks.run(own._replace(target=target), set())]
        assert ("retries" in told) == wanted


def test_a_credential_is_never_quoted() -> None:
    value = "hunter22hunter22"
    text = SPEC % ("job", "parallel", 1) + (
        f"  env: {{DB_PASSWORD: {value}}}\n  command: [run, --token, {value}]\n"
        f"  setup: ['curl https://me:{value}@example.com']\n  parameters: {{apiToken: {value}}}\n"
    )
    told = [each for each in found(text) if each.code == "looks-like-secret"]
    assert len(told) == 4
    assert value not in repr(told)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python train.py", ["train.py"]),
        ("cd x && python -u train.py | tee log", ["train.py"]),
        ("A=1 B='2 3' exec python3.10 -W ignore -X dev train.py", ["train.py"]),
        ("timeout 5h nice -n 10 python train.py", ["train.py"]),
        ("bash -lc 'set -e; python train.py'", ["train.py"]),
        ("python a.py; python b.py", ["a.py", "b.py"]),
        ("if true; then python train.py; fi", ["train.py"]),
        ("(python train.py)", ["train.py"]),
        ("python \\\n  train.py", ["train.py"]),
        ('python "train.py"', ['"train.py"']),
        ("echo 'python train.py'", []),
        ("echo python train.py", []),
        ("# python train.py", []),
        ("ls # python train.py; python x.py\npython y.py", ["y.py"]),
        ("python -m demo.train", []),
        ("python -c 'import x.py'", []),
        ("python -m paddle.distributed.launch train.py", []),
        ("python tools/launch.py train.py", []),
        ("pip install x && ./train.sh", []),
        ("python", []),
        ("python 'unfinished", []),
        ("bash -c", []),
    ],
)
def test_what_a_shell_visibly_runs(text: str, expected: list[str]) -> None:
    assert [script for run in runs(text) if (script := run.script())] == expected


def test_nested_shells_end() -> None:
    assert list(runs("bash -c 'bash -c \"" * 200)) is not None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("paddle", Image("paddle", None, None)),
        ("paddlepaddle/paddle:2.6.2", Image("paddlepaddle/paddle", "2.6.2", None)),
        ("host:5000/team/train", Image("host:5000/team/train", None, None)),
        ("host:5000/a:1@sha256:0", Image("host:5000/a", "1", "sha256:0")),
        ("a@sha256:0", Image("a", None, "sha256:0")),
    ],
)
def test_the_parts_of_an_image(name: str, expected: Image) -> None:
    assert image(name) == expected


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("3.0.0", (3, 0)),
        ("2.6", (2, 6)),
        ("3.0.0-rc1", (3, 0)),
        ("3.0.0-gpu-cuda12.6-cudnn9.5-trt10.5", None),
        ("latest", None),
        ("latest-dev-cuda", None),
    ],
)
def test_only_a_plain_version_is_the_build_for_cpus(
    tag: str, version: tuple[int, int] | None
) -> None:
    assert image(f"mirror.example.com/paddlepaddle/paddle:{tag}").version == version
    assert image(f"team/train:{tag}").version is None


@pytest.mark.parametrize(
    "name",
    [
        "DB_PASSWORD",
        "token",
        "HF_TOKEN",
        "apiKey",
        "WANDB_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "client-secret",
        "APIKEY",
    ],
)
def test_names_of_credentials(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    ["TOKENIZER", "MAX_TOKENS", "TOKEN_FILE", "SORT_KEY", "KEY", "KEYBOARD", "PASSES", "SECRETARY"],
)
def test_names_of_other_things(name: str) -> None:
    assert not names_secret(name)


@pytest.mark.parametrize(
    "text",
    [
        "python train.py --data /pfs/dc1/home/alice/Experiments2024/RunNumber17/checkpoints",
        "git checkout 0123456789abcdef0123456789abcdef01234567",
        "echo a1ff0a1ff0a1ff0a1ff0a1ff0a1ff0a1ff0a1ff0a1ff0a1ff0a1ff0a1ff0 | sha256sum -c",
        "https://example.com:8080/a@b",
        "https://$USER:$PASSWORD@example.com",
        "s3://bucket/key",
        "sk-learn",
        "A" * 60,
    ],
)
def test_what_only_looks_long(text: str) -> None:
    assert not looks_secret(text)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/", "/"), ("//", "/"), ("/a/", "/a"), ("/a//b/../c/.", "/a/c"), ("/..", "/")],
)
def test_paths_as_the_kernel_reads_them(path: str, expected: str) -> None:
    assert clean(path) == expected
    assert clean(clean(path)) == expected


def test_a_folder_holds_what_is_below_it_and_no_namesake() -> None:
    assert holds("/a", "/a/b")
    assert holds("/a", "/a")
    assert holds("/", "/a")
    assert not holds("/a", "/ab")
    assert not holds("/a/b", "/a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1.10", "1.10"),
        ("a: '1.10' # x", "'1.10'"),
        ("x: y\r\na: True", "True"),
        ("{b: [2], a: 0x1F}", "0x1F"),
        ("a: |\n  text", None),
        ("a: {b: c}", None),
        ("b: c", None),
    ],
)
def test_how_a_file_spells_a_value(text: str, expected: str | None) -> None:
    assert written(source.read(text, "a.yaml").documents[0], ("a",)) == expected


@pytest.mark.parametrize(
    ("spoiled", "path", "expected"),
    [
        ((), "spec.env", True),
        (("spec", "env", "A"), "spec.env", False),
        (("spec",), "spec.env", False),
        (("spec", "environment"), "spec.env", True),
        (("spec", "trainers", "env"), "spec.env", True),
    ],
)
def test_what_is_readable(spoiled: tuple[str, ...], path: str, expected: bool) -> None:
    assert checks.readable({spoiled} if spoiled else set(), path) == expected


DIGEST = f"sha256:{'a' * 64}"


@pytest.mark.parametrize(
    "name",
    [
        "python",
        "localhost/a",
        "r.test:5000/a_b/c__d/e---f.g:V1.0_x-y",
        "[::1]:5000/a",
        f"R.TEST/a@{DIGEST}",
        f"r.test/a:1@{DIGEST}",
    ],
)
def test_what_registries_take_is_a_name(name: str) -> None:
    assert fault(name) is None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("A", "capital"),
        ("Team/a", "capital"),
        ("https://r.test/a", "https"),
        ("r.test:x/a", "host"),
        ("user:canary@r.test/a", "host"),
        ("canary@r", "digest"),
        ("a@sha256:12", "digest"),
        ("a:", "tag"),
        ("a:-b", "tag"),
        (f"a:{'b' * 129}", "tag"),
        ("a b", "called"),
        ("a//b", "called"),
        ("a._b", "called"),
        ("_a", "called"),
        ("", "called"),
    ],
)
def test_what_no_registry_takes_is_told_at_its_part(name: str, told: str) -> None:
    found = fault(name)
    assert found is not None
    assert told in found.message
    assert "canary" not in str(found)
