"""The preview page and the origins of values, and that neither shows a secret."""

from __future__ import annotations

import os
import re
from pathlib import Path as FilePath
from textwrap import dedent
from typing import Any

import pytest

from paddlespec.cli.shared import preview as command
from paddlespec.diagnostic import Diagnostic, Severity, dotted
from paddlespec.pipeline import (
    Built,
    Choices,
    build,
    load,
)
from paddlespec.render.template import Templates
from paddlespec.report.mask import masked, secrets_of
from paddlespec.report.origins import origins, text
from paddlespec.report.preview import preview
from paddlespec.report.totals import length, shares, total
from paddlespec.spec.emit import dump_all
from paddlespec.spec.files import Files

ROOT = FilePath(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "preview"
CANARY = "hunter2-canary"
ANSI = re.compile(r"\x1b\[[0-9;]*m")

PS = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: word2vec, namespace: ads}
spec:
  mode: ps
  image: paddlepaddle/paddle:2.6.2
  command: python train.py --data "$PADDLESPEC_INPUT"
  env:
    LOG_LEVEL: info
    TOKEN: {secret: team-token, key: token}
    PLACE: {configMap: team-settings, key: place}
    SALT: {value: hunter2-canary, sensitive: true}
  trainers:
    replicas: 64
    resources: {cpu: 4, memory: 8Gi}
    ports: {tensorboard: 6006}
  pservers:
    replicas: 2
    image: team/pserver:1.2
    resources: {cpu: 500m, memory: 1Gi}
  volumes:
    - {name: home, mountPath: /home/alice, claim: alice-home}
    - {name: public, mountPath: /public, claim: public-data, readOnly: true, subPath: corpus}
    - {name: new, mountPath: /new, claim: {size: 100Gi}}
  input: /public/text
  output: /home/alice/out
  policy: {timeout: 6h}
"""


class Project:
    """A user's folder with a spec, in which commands run."""

    def __init__(self, folder: FilePath) -> None:
        self.folder = folder

    def write(self, text: str, name: str = "paddlejob.yaml") -> Project:
        (self.folder / name).write_text(dedent(text), encoding="utf-8")
        return self

    def build(self, *updates: str, file: str = "paddlejob.yaml", **choices: Any) -> Built:
        jobs, diagnostics = load(file, Files(), Choices(updates=updates, **choices))
        assert diagnostics == []
        (loaded,) = jobs
        return build(loaded, Templates())

    def page(self, *updates: str, width: int = 80, color: bool = False, **choices: Any) -> str:
        built = self.build(*updates, **choices)
        return preview(built.loaded, built.manifests, width=width, color=color)


@pytest.fixture
def project(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def section(page: str, heading: str) -> list[str]:
    """Return the lines below a heading."""
    body = page[page.index(f"\n\n{heading}") + 2 :].split("\n\n", maxsplit=1)[0]
    return [line.strip() for line in body.splitlines()[1:]]


def above_manifests(page: str) -> str:
    return page[: page.index("\n\nManifests")] + "\n"


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", ["collective", "ps"])
def test_golden_pages(
    name: str, width: int, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "ps":
        page = project.write(PS).page(width=width)
    else:
        monkeypatch.chdir(ROOT)
        folder = "examples/gpu-multi-node"
        page = project.page(
            "trainers.replicas=8",
            file=f"{folder}/paddlejob.yaml",
            overlays=(f"{folder}/overlays/prod.yaml",),
            profile="one-node",
            width=width,
        )
    golden = GOLDEN / f"{name}-{width}.txt"
    if os.environ.get("PADDLESPEC_GOLDEN") == "write":
        golden.write_text(above_manifests(page), encoding="utf-8")
    expected = golden.read_text(encoding="utf-8")
    assert above_manifests(page) == expected, "if meant so: PADDLESPEC_GOLDEN=write pytest"


@pytest.mark.parametrize("width", [60, 80, 100, 160, 300])
def test_no_line_is_wider_than_the_page(project: Project, width: int) -> None:
    page = above_manifests(project.write(PS).page(width=width))
    assert max(map(len, page.splitlines())) <= width


def test_roles_are_columns_where_rows_are_too_wide(project: Project) -> None:
    device = "resources.accelerator=example.com/accelerator"
    updates = (
        f"trainers.{device}",
        "trainers.resources.gpu=2",
        "trainers.resources.extended.a/b=1",
    )
    roles = section(project.write(PS).page(*updates, width=60), "Roles")
    assert ["role", "trainers", "pservers"] in [line.split() for line in roles]
    assert ["example.com/accelerator", "2"] in [line.split() for line in roles]
    assert all("trainers" in line for line in roles if line.startswith("role"))
    roles = section(project.page(*updates, width=160), "Roles")
    assert roles[0].split()[0] == "role"
    assert roles[1].split()[0] == "trainers"


def test_the_network_of_the_nodes_and_sidecars_are_shown(project: Project) -> None:
    shown = " ".join(section(project.write(PS).page(), "Roles"))
    assert "network" not in shown
    assert "sidecars" not in shown
    tool = "{name: tb, image: 'team/tb:1', command: tb}"
    updates = ("network.host=true", f"trainers.sidecars=[{tool}]")
    rows = [re.split("  +", line) for line in section(project.page(*updates), "Roles")]
    assert ["network", "of the nodes"] in rows
    assert ["sidecars of trainers", "tb (team/tb:1)"] in rows
    assert ["sidecars of pservers", "none"] in rows


def test_the_folder_of_the_logs_is_shown(project: Project) -> None:
    launch = "command=python -m paddle.distributed.launch train.py"
    updates = ("mode=collective", launch, "pservers-", "logs=/home/alice/logs")
    rows = [re.split("  +", line) for line in section(project.write(PS).page(*updates), "Data")]
    assert ["logs", "/home/alice/logs"] in rows


@pytest.mark.parametrize("width", [80, 160])
def test_color_changes_only_color(project: Project, width: int) -> None:
    project.write(PS)
    colored = project.page(width=width, color=True)
    assert "\x1b[" in colored
    lines = [line.rstrip() for line in ANSI.sub("", colored).splitlines()]
    assert lines == project.page(width=width).splitlines()


def test_the_page_depends_on_nothing_but_the_job(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = project.write(PS).page(color=True)
    for name, value in {
        "COLUMNS": "40",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "FORCE_COLOR": "1",
    }.items():
        monkeypatch.setenv(name, value)
        assert project.page(color=True) == page


def test_the_page_shows_the_rendered_manifests(project: Project) -> None:
    built = project.write(PS).build()
    page = preview(built.loaded, built.manifests, width=80, color=False)
    shown = page.partition("\n\nManifests  5 objects\n")[2]
    assert shown == dump_all(masked(built.manifests, built.loaded.job))
    assert shown.count("---\n") == len(built.manifests) == 5


def test_totals_follow_the_rendered_objects(project: Project) -> None:
    patches = """\
  patches:
    - target: {kind: Job, role: trainers}
      patch: {spec: {template: {spec: {containers: [{name: paddle, resources: AMOUNTS}]}}}}
"""
    amounts = "{requests: {cpu: 10}, limits: {cpu: 10}}"
    page = project.write(PS + patches.replace("AMOUNTS", amounts)).page()
    assert section(page, "Totals")[:2] == [
        "CPU     641   3,846.17 CPU-hours",
        "memory  514Gi",
    ]


def test_gpu_hours_are_bounded_by_the_timeout(project: Project) -> None:
    spec = """\
        apiVersion: paddlespec.io/v1
        kind: PaddleJob
        metadata: {name: a}
        spec:
          mode: collective
          image: x
          command: python -m paddle.distributed.launch train.py
          trainers:
            replicas: 4
            processesPerReplica: 8
            resources: {cpu: 8, memory: 64Gi, gpu: 8, accelerator: huawei.com/Ascend910}
        """
    page = project.write(spec).page("policy.timeout=1h30m")
    assert "huawei.com/Ascend910  32   48 Ascend910-hours" in section(page, "Totals")
    page = project.page()
    assert "Totals  no timeout" in page
    assert "huawei.com/Ascend910  32" in section(page, "Totals")


def test_the_cost_of_pservers_without_a_waiting_client(project: Project) -> None:
    def totals(*updates: str) -> str:
        return " ".join(section(project.page(*updates), "Totals"))

    project.write(PS)
    assert "2 x (0.5 cpu, 1Gi memory) keep running for up to 1h (1 CPU-hour wasted)" in totals()
    assert "keep running for up to 5h (5 CPU-hours wasted)" in totals("policy.keepFinished=5h")
    # Their own deadline, ten minutes after the trainers', comes first.
    assert "keep running for up to 6h10m" in totals("policy.keepFinished=5d")
    assert "keep running for up to 5d" in totals("policy.keepFinished=5d", "policy.timeout-")


def test_the_bound_counts_pservers_until_their_own_end(project: Project) -> None:
    project.write(PS)
    assert "CPU     257   1,542.17 CPU-hours" in section(project.page(), "Totals")
    stateful = project.page("pservers.workload=StatefulSet")
    assert "CPU     257   1,543 CPU-hours" in section(stateful, "Totals")
    assert "StatefulSet/word2vec-pserver" in stateful


def test_without_known_objects_totals_come_from_the_job(project: Project) -> None:
    built = project.write(PS).build()
    kinds = [{**manifest, "kind": f"Other{manifest['kind']}"} for manifest in built.manifests]
    assert total(shares(built.loaded.job, kinds)) == total(
        shares(built.loaded.job, built.manifests)
    )
    page = preview(built.loaded, kinds, width=80, color=False)
    assert "257" in " ".join(section(page, "Totals"))


def test_variables_common_to_all_roles_are_shown_once(project: Project) -> None:
    page = project.write(PS).page()
    every, trainers, pservers = (
        [re.split("  +", line) for line in section(page, f"Environment  {replicas}")]
        for replicas in ("all replicas", "trainers only", "pservers only")
    )
    assert ["LOG_LEVEL", "info"] in every
    assert ["TOKEN", "<secret team-token/token>"] in every
    assert ["PLACE", "<configMap team-settings/place>"] in every
    assert ["SALT", "***"] in every
    assert ["PADDLESPEC_COUNT", "64"] in trainers
    assert ["TRAINING_ROLE", "PSERVER"] in pservers
    assert ["… 62 more …,"] in trainers


def test_mounts_show_their_source_and_access(project: Project) -> None:
    rows = [re.split("  +", line) for line in section(project.write(PS).page(width=120), "Data")]
    assert ["/home/alice", "claim alice-home"] in rows
    assert ["/public", "claim public-data, folder corpus", "read-only"] in rows
    assert ["/new", "new claim word2vec-new (100Gi)"] in rows
    assert ["/dev/shm", "memory, at most 4Gi", "trainers only"] in rows
    assert ["/dev/shm", "memory, at most 512Mi", "pservers only"] in rows


def test_packed_code_is_shown_by_its_size() -> None:
    manifest = {"kind": "ConfigMap", "binaryData": {"code.tar": "QUJD", "b": "QUI=", "c": ""}}
    job = object.__new__(_Empty)
    (shown,) = masked([manifest], job)  # type: ignore[arg-type]
    assert shown["binaryData"] == {"code.tar": "<3 bytes>", "b": "<2 bytes>", "c": "<0 bytes>"}


class _Empty:
    spec = None


def test_warnings_are_on_the_page(project: Project) -> None:
    built = project.write(PS).build()
    span = built.loaded.document.locate(("spec", "image"))
    warning = Diagnostic("x", "a thought", span, hint="do it", severity=Severity.warning)
    loaded = built.loaded._replace(diagnostics=[warning])
    page = preview(loaded, built.manifests, width=80, color=False)
    assert section(page, "Findings") == [str(warning), "hint: do it"]


def test_overrides_are_listed_below_their_layer(project: Project) -> None:
    project.write(
        """\
        apiVersion: paddlespec.io/v1
        kind: Project
        project: demo
        datacenter: dc1
        defaults: {imagePullPolicy: Always}
        datacenters:
          - {name: dc1, namespace: lab, spec: {registry: team-registry}}
        """,
        ".paddlespec.yaml",
    )
    project.write(
        """\
        apiVersion: paddlespec.io/v1
        kind: Overlay
        spec: {trainers: {replicas: 3}}
        """,
        "more.yaml",
    )
    project.write(PS + "profiles: {smoke: {image: small}}\n")
    page = project.page("policy.retries=0", overlays=("more.yaml",), profile="smoke")
    assert section(page, "Overrides") == [
        "project defaults, .paddlespec.yaml",
        "line 5: spec.imagePullPolicy = Always",
        "datacenter dc1, .paddlespec.yaml",
        "line 7: spec.registry = team-registry",
        "overlay more.yaml",
        "line 3: spec.trainers.replicas = 3",
        "profile smoke, paddlejob.yaml",
        "line 28: spec.image = small",
        "--update policy.retries=0",
        "spec.policy.retries = 0",
    ]


def test_origins_name_layer_and_line(project: Project) -> None:
    loaded = project.write(PS).build("trainers.replicas=8").loaded
    lines = text(origins(loaded.document, secrets_of(loaded))).splitlines()
    assert re.split("  +", lines[0]) == ["apiVersion = paddlespec.io/v1", "paddlejob.yaml:1"]
    assert "spec.trainers.replicas = 8" + " " * 24 in "\n".join(lines)
    words = {tuple(re.split("  +", line)) for line in lines}
    assert ("spec.trainers.replicas = 8", "--update trainers.replicas=8") in words
    assert ("spec.image = paddlepaddle/paddle:2.6.2", "paddlejob.yaml:6") in words
    assert ("spec.env.SALT.value = ***", "paddlejob.yaml:12") in words
    assert len({line.index(line.split("    ")[-1].strip()) for line in lines}) == 1


def test_every_value_of_the_effective_spec_has_an_origin(project: Project) -> None:
    spec = PS.replace("claim: {size: 100Gi}", "emptyDir: {}").replace("env:", "setup: []\n  env:")
    document = project.write(spec).build().loaded.document
    values = {dotted(origin.path): origin.value for origin in origins(document)}
    assert values["spec.volumes[2].emptyDir"] == "{}"
    assert values["spec.setup"] == "[]"
    assert values["spec.volumes[1].readOnly"] == "true"


# How a secret gets into a spec, and what shows it again.
SECRETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a literal": ("env: {S: {value: CANARY, sensitive: true}}", ()),
    "of a role": ("trainers: {env: {S: {value: CANARY, sensitive: true}}}", ()),
    "from an option": (
        "env: {S: {value: x, sensitive: true}}",
        ("env.S.value=CANARY",),
    ),
    "whole from an option": ("", ('env.S={value: "CANARY", sensitive: true}',)),
    "from a parameter": (
        'parameters: {p: CANARY}\n  env: {S: {value: "${{ parameters.p }}", sensitive: true}}',
        (),
    ),
    "from a part of a parameter": (
        (
            "parameters: {p: CANARY, q: 1}\n"
            '  env: {S: {value: "a-${{ parameters.p }}", sensitive: true}}\n'
            "  setup: ['echo ${{ parameters.p }}']"
        ),
        (),
    ),
    "from a parameter's option": (
        'parameters: {p: x}\n  env: {S: {value: "${{ parameters.p }}", sensitive: true}}',
        ("parameters.p=CANARY",),
    ),
    "repeated in the command": (
        "env: {S: {value: CANARY, sensitive: true}}\n  setup: ['login --token CANARY']",
        (),
    ),
    "of several lines": (
        (
            'env: {S: {value: "first\\nCANARY\\n", sensitive: true}}\n'
            '  setup: ["echo first\\nCANARY\\n"]'
        ),
        (),
    ),
}
HEAD = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: a}
spec:
  mode: parallel
  image: x
  command: python train.py
"""


def outputs(built: Built) -> str:
    """Return all output about a job."""
    loaded = built.loaded
    pages = [
        preview(loaded, built.manifests, width=width, color=color)
        for width in (60, 200)
        for color in (False, True)
    ]
    shown = [text(origins(loaded.document, secrets_of(loaded)))]
    return ANSI.sub("", "\n".join([*pages, *shown]))


@pytest.mark.parametrize("canary", [CANARY, "abc", "12345"])
@pytest.mark.parametrize(("spec", "updates"), SECRETS.values(), ids=SECRETS.keys())
def test_no_output_shows_a_sensitive_value(
    project: Project, spec: str, updates: tuple[str, ...], canary: str
) -> None:
    project.write(HEAD + "  " + spec.replace("CANARY", canary) + "\n")
    built = project.build(*(update.replace("CANARY", canary) for update in updates))
    assert canary in dump_all(built.manifests)
    assert canary not in re.sub(r"[\w./-]+\.yaml:\d+", "", outputs(built))
    assert "***" in outputs(built)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (f"env: {{API_KEY: {CANARY}}}", ("spec", "env", "API_KEY")),
        (f"env: {{API_KEY: {{value: {CANARY}}}}}", ("spec", "env", "API_KEY")),
        (f"env: {{API_KEY: {{value: {CANARY}}}}}", ("spec", "env", "API_KEY", "value")),
        (f"trainers: {{env: {{API_KEY: {CANARY}}}}}", ("spec", "trainers", "env", "API_KEY")),
        (f"setup: [login {CANARY}]", ("spec", "setup", 0)),
    ],
)
def test_no_output_shows_what_looks_like_a_credential(
    project: Project, spec: str, path: tuple[str | int, ...]
) -> None:
    built = project.write(HEAD + f"  {spec}\n").build()
    loaded = built.loaded
    span = loaded.document.locate(path)
    finding = Diagnostic("looks-like-secret", "looks like a credential", span, path)
    finding = finding._replace(severity=Severity.warning)
    finished = built._replace(loaded=loaded._replace(diagnostics=[finding]))
    assert CANARY in dump_all(built.manifests)
    assert CANARY not in outputs(finished)


def test_what_checks_report_as_a_credential_is_hidden(project: Project) -> None:
    built = project.write(HEAD + f"  env: {{API_KEY: {CANARY}}}\n").build()
    assert "looks-like-secret" in [finding.code for finding in built.loaded.diagnostics]
    assert CANARY not in outputs(built)


def test_masked_manifests_are_copies(project: Project) -> None:
    built = project.write(PS).build()
    before = dump_all(built.manifests)
    shown = dump_all(masked(built.manifests, built.loaded.job))
    assert dump_all(built.manifests) == before
    assert CANARY in before
    assert CANARY not in shown
    assert shown == before.replace(CANARY, '"***"')


def test_a_variable_is_masked_in_init_containers_too(project: Project) -> None:
    job = project.write(PS).build().loaded.job
    pod = {"initContainers": [{"env": [{"name": "SALT", "value": "another"}]}]}
    manifest: dict[str, Any] = {"spec": {"template": {"spec": pod}}}
    (shown,) = masked([manifest], job)
    assert shown["spec"]["template"]["spec"]["initContainers"][0]["env"] == [
        {"name": "SALT", "value": "***"}
    ]


def test_text_from_a_spec_cannot_control_a_terminal(project: Project) -> None:
    spec = HEAD + '  env: {A: "\\e[2J\\u202e[bold]x[/bold]\\n:smile:"}\n'
    page = project.write(spec).page()
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "[bold]x[/bold]\\n:smile:" in page


@pytest.mark.parametrize(
    "name", sorted(file.parent.name for file in ROOT.glob("examples/*/paddlejob.yaml"))
)
def test_every_example_has_a_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    built = Project(ROOT).build(file=f"examples/{name}/paddlejob.yaml")
    page = preview(built.loaded, built.manifests, width=100, color=False)
    for heading in (
        "Roles",
        "Totals",
        "Endpoints",
        "Environment",
        "Data",
        "Policy",
        "Manifests",
    ):
        assert f"\n\n{heading}" in page


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, "0s"), (90, "1m30s"), (5400, "1h30m"), (604_800, "7d")]
)
def test_durations_are_formatted_as_in_a_spec(seconds: int, expected: str) -> None:
    assert length(seconds) == expected


@pytest.mark.parametrize(("columns", "width"), [("70", 70), ("130", 130), ("5", 60)])
def test_the_command_is_as_wide_as_the_terminal(
    project: Project,
    columns: str,
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project.write(PS)
    monkeypatch.setenv("COLUMNS", columns)
    assert command.preview(["paddlejob.yaml"], Choices()) == 0
    assert capsys.readouterr().out == project.page(width=width)


def test_the_commands_show_several_jobs(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write(PS + "---\n" + HEAD)
    command.preview(["paddlejob.yaml"], Choices())
    pages = capsys.readouterr().out
    assert pages.startswith("word2vec\n")
    assert "\n\na\n  mode" in pages
    command.show_origin(["paddlejob.yaml"], Choices())
    assert capsys.readouterr().out.count("kind = PaddleJob") == 2
