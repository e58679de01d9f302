"""The parts of the checks, and behaviour that golden files cannot show."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from paddlespec import checks
from paddlespec.checks import Facts
from paddlespec.checks.env import _is_managed
from paddlespec.checks.images import Image, image
from paddlespec.checks.secrets import looks_secret, names_secret
from paddlespec.checks.shell import runs
from paddlespec.checks.volumes import clean, holds
from paddlespec.checks.written import written
from paddlespec.images.reference import fault
from paddlespec.render import environment, runtime
from paddlespec.render.roles import PADDLE as ROLES
from paddlespec.render.runtime import Context
from paddlespec.render.template import Templates
from paddlespec.spec import gate, source
from paddlespec.spec.document import remove
from paddlespec.spec.frozen import job_of
from paddlespec.targets import kubernetes

if TYPE_CHECKING:
    from paddlespec.diagnostic import Diagnostic

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: %s}
spec:
  mode: %s
  image: team/train:1
  trainers: {replicas: %d, resources: {memory: 1Gi}}
"""
PSERVERS = "  pservers: {replicas: 3}\n"


def facts(text: str) -> Facts:
    document = source.read(text, "paddlejob.yaml").documents[0]
    assert gate.check(document, gate.EFFECTIVE).diagnostics == []
    return Facts(job_of(document.data), document)


def diagnose(text: str) -> list[Diagnostic]:
    """Run the checks, except on values the gate rejects."""
    document = source.read(text, "paddlejob.yaml").documents[0]
    refusal = gate.check(document, gate.EFFECTIVE)
    job = job_of(remove(document.data, refusal.unreadable | refusal.unknown))
    return list(checks.run(Facts(job, document), refusal.unreadable))


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in diagnose(text)]


@pytest.mark.parametrize(
    ("mode", "replicas"), list(product(["collective", "ps", "legacy", "parallel"], [1, 2]))
)
def test_every_variable_of_the_contract_is_managed(mode: str, replicas: int) -> None:
    text = SPEC % ("job", mode, replicas)
    job = facts(text + (PSERVERS if mode in ("ps", "legacy") else "")).job
    for role in ROLES if job.spec.pservers else ("trainers",):
        for name in environment.of(job, role, Context("dc1")):
            # PYTHONUNBUFFERED is a default that a spec may override.
            assert _is_managed(name, mode) or name == "PYTHONUNBUFFERED"


@pytest.mark.parametrize(("mode", "replicas"), [("collective", 11), ("ps", 2), ("parallel", 1)])
def test_the_longest_allowed_name_fits_everywhere(mode: str, replicas: int) -> None:
    def text(length: int) -> str:
        return SPEC % ("a" * length, mode, replicas) + (PSERVERS if mode == "ps" else "")

    longest = max(size for size in range(1, 64) if "name-too-long" not in codes(text(size)))
    job = facts(text(longest)).job
    hosts = [host for role in ROLES for host in runtime.hosts(job, role)]
    assert max(len(label) for host in hosts for label in host.split(".")) == 63
    for manifest in kubernetes.render(job, Context(), Templates()):
        assert len(manifest["metadata"]["name"]) <= 63


def test_a_stateful_set_name_leaves_room_for_the_revision_label() -> None:
    def text(length: int) -> str:
        stateful = "  pservers: {replicas: 1, workload: StatefulSet}\n"
        return SPEC % ("a" * length, "ps", 1) + stateful

    longest = max(size for size in range(1, 64) if "name-too-long" not in codes(text(size)))
    assert len(f"{'a' * longest}-pserver") == 52


def test_a_fault_skips_only_the_checks_that_read_it() -> None:
    text = (
        SPEC % ("job", "collective", 2)
        + "  env: {PADDLE_RANK: '1', A: [1]}\n  outputPolicy: clear\n"
    )
    # `env` is unreadable as a whole, `outputPolicy` is not.
    assert codes(text) == ["no-output"]
    text = SPEC % ("job", "collective", 2) + "  env: {PADDLE_RANK: '1'}\n  workdir: x\n"
    assert codes(text) == ["managed-env"]


def test_a_fault_in_the_env_of_a_role_does_not_skip_the_shared_env() -> None:
    text = SPEC % ("job", "ps", 2) + ("  pservers: {env: {A: [1]}}\n  env: {PADDLE_PORT: '1'}\n")
    assert "managed-env" in codes(text)


@pytest.mark.parametrize(
    "misspelled",
    [
        "  volumes: [{name: a, mountPath: /a, hostpath: /a}]\n",
        "  env: {A: {secert: a, key: b}}\n",
    ],
)
def test_a_fault_explained_by_a_misspelled_key_is_not_reported_again(misspelled: str) -> None:
    assert codes(SPEC % ("job", "parallel", 1) + misspelled) == []


def test_a_misspelled_role_is_not_reported_as_missing() -> None:
    text = SPEC % ("job", "ps", 1)
    assert "mode-roles" in codes(text)
    assert "mode-roles" not in codes(text + "  pserver: {replicas: 1}\n")


@pytest.mark.parametrize("replicas", [1, 2])
def test_retries_are_rejected_only_if_replicas_communicate(replicas: int) -> None:
    text = SPEC % ("job", "collective", replicas) + "  policy: {retries: 1}\n"
    assert ("retries" in codes(text)) == (replicas > 1)


def test_retries_are_rejected_only_on_target_kubernetes() -> None:
    job = facts(SPEC % ("job", "collective", 2) + "  policy: {retries: 1}\n")
    for target, rejected in (("kubernetes", True), ("jobset", False)):
        diagnostics = checks.run(job._replace(target=target), set())
        assert ("retries" in [diagnostic.code for diagnostic in diagnostics]) == rejected


def test_a_credential_is_never_quoted() -> None:
    value = "hunter22hunter22"
    text = SPEC % ("job", "parallel", 1) + (
        f"  env: {{DB_PASSWORD: {value}}}\n  command: [run, --token, {value}]\n"
        f"  setup: ['curl https://me:{value}@example.com']\n  parameters: {{apiToken: {value}}}\n"
    )
    warnings = [fault for fault in diagnose(text) if fault.code == "looks-like-secret"]
    assert len(warnings) == 4
    assert value not in repr(warnings)


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
def test_scripts_found_in_a_shell_command(text: str, expected: list[str]) -> None:
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
def test_only_a_plain_version_tag_is_a_cpu_build(tag: str, version: tuple[int, int] | None) -> None:
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
def test_names_of_credentials_are_recognized(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    ["TOKENIZER", "MAX_TOKENS", "TOKEN_FILE", "SORT_KEY", "KEY", "KEYBOARD", "PASSES", "SECRETARY"],
)
def test_other_names_are_not_credentials(name: str) -> None:
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
def test_long_text_is_not_always_a_credential(text: str) -> None:
    assert not looks_secret(text)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/", "/"), ("//", "/"), ("/a/", "/a"), ("/a//b/../c/.", "/a/c"), ("/..", "/")],
)
def test_paths_are_normalized(path: str, expected: str) -> None:
    assert clean(path) == expected
    assert clean(clean(path)) == expected


def test_a_folder_contains_paths_below_it_but_not_paths_with_its_prefix() -> None:
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
def test_the_original_spelling_of_a_value(text: str, expected: str | None) -> None:
    assert written(source.read(text, "a.yaml").documents[0], ("a",)) == expected


@pytest.mark.parametrize(
    ("unreadable", "path", "expected"),
    [
        ((), "spec.env", True),
        (("spec", "env", "A"), "spec.env", False),
        (("spec",), "spec.env", False),
        (("spec", "environment"), "spec.env", True),
        (("spec", "trainers", "env"), "spec.env", True),
    ],
)
def test_a_path_is_readable_unless_it_overlaps_an_unreadable_one(
    unreadable: tuple[str, ...], path: str, expected: bool
) -> None:
    assert checks.readable({unreadable} if unreadable else set(), path) == expected


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
def test_valid_image_names(name: str) -> None:
    assert fault(name) is None


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("A", "capital"),
        ("Team/a", "capital"),
        ("https://r.test/a", "scheme"),
        ("r.test:x/a", "host"),
        ("user:canary@r.test/a", "host"),
        ("canary@r", "digest"),
        ("a@sha256:12", "digest"),
        ("a:", "tag"),
        ("a:-b", "tag"),
        (f"a:{'b' * 129}", "tag"),
        ("a b", "repository"),
        ("a//b", "repository"),
        ("a._b", "repository"),
        ("_a", "repository"),
        ("", "repository"),
    ],
)
def test_the_invalid_part_of_an_image_name_is_reported(name: str, part: str) -> None:
    error = fault(name)
    assert error is not None
    assert part in error.message
    assert "canary" not in str(error)
