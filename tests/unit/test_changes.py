"""The formats of a comparison, and that none of them shows a secret."""

from __future__ import annotations

import base64
import json
import os
import re
from copy import deepcopy
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddlespec.change.diff import (
    Change,
    Comparison,
    Operation,
    Row,
    diff,
    recreated,
    with_their_run,
)
from paddlespec.pipeline import (
    Built,
    Choices,
    build,
    load,
)
from paddlespec.render.template import Templates
from paddlespec.report.changes import Format, render
from paddlespec.report.hidden import Hidden
from paddlespec.report.mask import Secrets, secrets_of
from paddlespec.report.summary import facts, plan
from paddlespec.runs.failures import OperationFailed
from paddlespec.spec.files import Files
from paddlespec.spec.source import read

GOLDEN = Path(__file__).parents[1] / "golden" / "changes"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
FORMATS: tuple[Format, ...] = ("text", "json", "markdown", "github")
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
PS = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: word2vec, namespace: ads}
spec:
  mode: ps
  image: paddlepaddle/paddle:2.6.2
  command: python train.py --passes ${{ parameters.passes }}
  parameters: {passes: 10}
  trainers: {replicas: 2, resources: {cpu: 4, memory: 8Gi, gpu: 1}}
  pservers: {replicas: 2, resources: {cpu: 1, memory: 2Gi}}
  policy: {timeout: 6h, keepFinished: 1h}
  scheduling: {scheduler: kueue, queue: ads}
"""


def built(folder: Path, text: str, *updates: str) -> Built:
    path = folder / "paddlejob.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    jobs, diagnostics = load(str(path), Files(), Choices(updates=updates))
    assert diagnostics == []
    (loaded,) = jobs
    assert loaded.is_valid, loaded.diagnostics
    return build(loaded, Templates())


def compared(before: Built | None, after: Built | None, *, name: str = "word2vec") -> Comparison:
    sides = [build.manifests if build else [] for build in (before, after)]
    return Comparison(name, "ads", "git:main (1a2b3c4)", [Row(change) for change in diff(*sides)])


def objects(*documents: str) -> list[dict[str, Any]]:
    return [read(dedent(document), "x.yaml").documents[0].data for document in documents]


def between(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Comparison:
    return Comparison("fit", None, "the cluster", [Row(change) for change in diff(before, after)])


def job(**changed: Any) -> dict[str, Any]:
    (manifest,) = objects("""\
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: fit-trainer
          labels: {paddlespec.io/job: fit, paddlespec.io/role: trainers}
        spec:
          parallelism: 2
          completions: 2
          template:
            spec:
              containers:
              - name: paddle
                image: paddle:1
                command: [sh, -c, python train.py]
                env: [{name: A, value: "1"}]
                resources: {requests: {cpu: 500m, memory: 1Gi}}
    """)
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    for key, value in changed.items():
        holder = container if key in container else manifest["spec"]
        holder[key] = value
    return manifest


def golden(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("PADDLESPEC_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), "if meant so: PADDLESPEC_GOLDEN=write pytest"


SCENES = ("changed", "new", "gone", "same", "uncompared")


@pytest.fixture(params=SCENES)
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, list[Comparison]]:
    old = built(tmp_path, PS)
    if request.param == "changed":
        updates = (
            "trainers.replicas=4", "trainers.resources.accelerator=huawei.com/Ascend910",
            "parameters.passes=20", "image=paddlepaddle/paddle:2.6.3", "scheduling.queue=batch",
            "pservers.resources.memory=4Gi", "policy.timeout=12h",
        )  # fmt: skip
        return "changed", [compared(old, built(tmp_path, PS, *updates))]
    if request.param == "new":
        return "new", [compared(None, old)]
    if request.param == "gone":
        return "gone", [compared(old, None)]
    if request.param == "same":
        return "same", [compared(old, old)]
    rows = compared(old, built(tmp_path, PS, "policy.keepFinished=2h")).rows
    rows[0] = Row(
        Change(rows[0].change.before, rows[0].change.before), "no right to patch services"
    )
    return "uncompared", [Comparison("word2vec", "ads", "the cluster", rows)]


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_golden_pages(scene: tuple[str, list[Comparison]], form: Format) -> None:
    name, comparisons = scene
    suffix = {"text": "txt", "markdown": "md", "json": "json"}[form]
    golden(f"{name}.{suffix}", render(form, comparisons))


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_comparisons_give_the_same_bytes(
    scene: tuple[str, list[Comparison]], form: Format
) -> None:
    _, comparisons = scene
    assert render(form, comparisons) == render(form, deepcopy(comparisons))


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_the_plan_comes_last_and_counts_the_rows(
    scene: tuple[str, list[Comparison]], form: Format
) -> None:
    _, comparisons = scene
    last = render(form, comparisons).splitlines()[-1]
    operations = [row.change.operation for comparison in comparisons for row in comparison.rows]
    if any(operation is not Operation.keep for operation in operations):
        counts = {word: int(count) for count, word in re.findall(r"(\d+) to (\w+)", last)}
        assert counts == {
            operation.value: operations.count(operation)
            for operation in Operation
            if operation is not Operation.keep
        }
        assert last.startswith("Plan: ")
    else:
        assert last.startswith(f"No changes. {len(operations)} objects compared")


def test_the_page_is_the_same_with_and_without_color(
    scene: tuple[str, list[Comparison]],
) -> None:
    _, comparisons = scene
    plain, colored = (render("text", comparisons, color=color) for color in (False, True))
    assert plain == ANSI.sub("", colored)
    assert "\x1b" not in plain
    assert colored != plain


def test_no_comparisons() -> None:
    assert render("text", []) == "No changes. 0 objects compared.\n"
    assert render("markdown", []) == "<!-- paddlespec:diff -->\nNo changes. 0 objects compared.\n"


class TestSummary:
    def facts(self, tmp_path: Path, *updates: str, text: str = PS) -> dict[str, str]:
        comparison = compared(built(tmp_path, text), built(tmp_path, text, *updates))
        return {fact.name: str(fact) for fact in facts(comparison, str)}

    @pytest.mark.parametrize(
        ("update", "expected"),
        [
            ("metadata.labels.team=ads", {}),
            ("image=paddle:3", {"image": "paddlepaddle/paddle:2.6.2 -> paddle:3"}),
            ("pservers.image=own:1", {"image of pservers": "paddlepaddle/paddle:2.6.2 -> own:1"}),
            ("parameters.passes=20", {"command": "python train.py --passes 10 -> python train.py --passes 20"}),
            ("scheduling.queue=web", {"queue": "ads -> web"}),
            ("trainers.resources.cpu=500m", {"CPU": "10 -> 3 (-7)"}),
            ("pservers.replicas=3", {"replicas of pservers": "2 -> 3 (+1)", "CPU": "10 -> 11 (+1)", "memory": "20Gi -> 22Gi (+2Gi)"}),
            ("trainers.resources.gpu=8", {"nvidia.com/gpu": "2 -> 16 (+14)", "GPU-hours at the timeout": "12 -> 96 (+84)"}),
            ("policy.timeout=3h", {"GPU-hours at the timeout": "12 -> 6 (-6)", "timeout": "6h -> 3h"}),
            ("policy.timeout-", {"GPU-hours at the timeout": "12 -> no timeout", "timeout": "6h -> none"}),
        ],
    )  # fmt: skip
    def test_only_changes_are_shown(
        self, tmp_path: Path, update: str, expected: dict[str, str]
    ) -> None:
        assert self.facts(tmp_path, update) == expected

    def test_another_accelerator_is_shown_by_name(self, tmp_path: Path) -> None:
        numbers = self.facts(tmp_path, "trainers.resources.accelerator=huawei.com/Ascend910")
        assert numbers["huawei.com/Ascend910"] == "0 -> 2 (+2)"
        assert numbers["nvidia.com/gpu"] == "2 -> 0 (-2)"

    def test_files_of_the_code_are_named(self, tmp_path: Path) -> None:
        text = PS + "  package: {path: code}\n"
        code = tmp_path / "code"
        code.mkdir()
        for name in ("same.py", "old.py", "other.py"):
            (code / name).write_text("1", encoding="utf-8")
        before = built(tmp_path, text)
        (code / "old.py").rename(code / "new.py")
        (code / "other.py").write_text("2", encoding="utf-8")
        summary = facts(compared(before, built(tmp_path, text)), str)
        assert [(fact.name, str(fact)) for fact in summary] == [
            ("code", "+new.py, -old.py, other.py")
        ]


class TestPlan:
    def test_all_accelerators_count_as_gpus_and_zeros_are_omitted(self, tmp_path: Path) -> None:
        old = built(tmp_path, PS)
        more = built(tmp_path, PS, "trainers.replicas=4", "pservers.resources.memory=1Gi")
        npu = built(tmp_path, PS, "trainers.resources.accelerator=huawei.com/Ascend910")
        assert str(plan([compared(old, more)])).endswith("; +2 GPU, +8 CPU, +14Gi")
        assert str(plan([compared(more, old)])).endswith("; -2 GPU, -8 CPU, -14Gi")
        assert str(plan([compared(old, npu)])).endswith("0 to delete")
        assert str(plan([compared(None, old), compared(npu, None)])).endswith("4 to delete")

    def test_the_line_of_the_documentation(self) -> None:
        rows = [
            *[Row(Change(None, {**job(), "metadata": {"name": f"n{i}"}})) for i in range(3)],
            Row(Change(job(), job(image="paddle:2"))),
            Row(Change(job(), job(parallelism=3))),
            Row(Change(job(), job())),
        ]
        expected = "Plan: 3 to create, 1 to change, 1 to replace, 0 to delete; +0.5 CPU, +1Gi"
        assert str(plan([Comparison("fit", None, "x", rows)])) == expected

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans())))
    def test_no_changes_exactly_when_no_row_differs(
        self, choices: list[tuple[bool, bool, bool, bool]]
    ) -> None:
        rows = [
            Row(
                Change(
                    job() if had or not has else None, job(A=1, image=f"p:{other}") if has else None
                ),
                "a reason" if problem else None,
            )
            for had, has, other, problem in choices
        ]
        rows += [Row(Change(job(), job()))]
        comparison = Comparison("fit", None, "x", rows)
        for form in FORMATS:
            text = render(form, [comparison])
            assert ("No changes." in text) is not comparison.differs
        listed = json.loads(render("json", [comparison]))
        operations = [row.change.operation.value for row in rows]
        assert [item["operation"] for item in listed["jobs"][0]["objects"]] == operations
        for operation in Operation:
            assert listed["counts"][operation.value] == operations.count(operation.value)
        assert listed["counts"]["uncompared"] == len(comparison.problems)


class TestObjects:
    def lines(self, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
        page = render("text", [between([before], [after])])
        return [line.strip() for line in page.splitlines() if line.startswith("      ")]

    @pytest.mark.parametrize(
        ("changed", "expected"),
        [
            pytest.param({"parallelism": 3}, ["~ spec.parallelism: 2 -> 3"], id="in-place"),
            pytest.param(
                {"image": "paddle:2"},
                ['~ spec.template.spec.containers[paddle].image: "paddle:1" -> "paddle:2"   # forces replacement'],
                id="replacement",
            ),
            pytest.param(
                {"resources": {"requests": {"cpu": 2, "memory": "1Gi"}}},
                ['~ spec.template.spec.containers[paddle].resources.requests.cpu: "500m" -> 2   # needs suspend'],
                id="suspended",
            ),
            pytest.param(
                {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "x\ny"}]},
                [
                    "+ spec.template.spec.containers[paddle].env[B]:   # forces replacement",
                    "+ name: B", "+ value: |-", "+   x", "+   y",
                ],
                id="added",
            ),
            pytest.param(
                {"command": ["sh", "-c", "set -e", "python train.py"]},
                [
                    "~ spec.template.spec.containers[paddle].command:   # forces replacement",
                    "…", "-c", "+ set -e", "python train.py",
                ],
                id="list",
            ),
            pytest.param({"ttlSecondsAfterFinished": 60}, ["+ spec.ttlSecondsAfterFinished: 60"], id="new"),
            pytest.param({"image": None}, ['~ spec.template.spec.containers[paddle].image: "paddle:1" -> null   # forces replacement'], id="null"),
        ],
    )  # fmt: skip
    def test_every_path_shows_what_its_change_requires(
        self, changed: dict[str, Any], expected: list[str]
    ) -> None:
        assert self.lines(job(), job(**changed)) == expected

    def test_removed_values_are_shown_by_path(self) -> None:
        (line,) = self.lines(job(ttlSecondsAfterFinished=60), job())
        assert line == "- spec.ttlSecondsAfterFinished: 60"

    def test_labels_with_dots_are_quoted(self) -> None:
        other = job()
        other["metadata"]["labels"]["paddlespec.io/role"] = "pservers"
        (line,) = self.lines(job(), other)
        assert line == '~ metadata.labels."paddlespec.io/role": "trainers" -> "pservers"'

    def test_a_long_text_shows_where_it_differs(self) -> None:
        addresses = [f"host-{index}.service" for index in range(64)]
        old = job(env=[{"name": "ALL", "value": ",".join(addresses)}])
        new = job(env=[{"name": "ALL", "value": ",".join([*addresses, "host-64.service"])}])
        texts = self.lines(old, new)
        assert texts[1:] == ["…", "host-62.service,", "- host-63.service", "+ host-63.service,", "+ host-64.service"]  # fmt: skip
        long = "x" * 5_000
        texts = self.lines(job(env=[{"name": "A", "value": f"{long} 1"}]), job(env=[{"name": "A", "value": f"{long} 2"}]))  # fmt: skip
        assert texts[1:] == [f"- …{'x' * 59} 1", f"+ …{'x' * 59} 2"]

    def test_differences_invisible_in_lines_are_shown_as_json(self) -> None:
        before, after = job(command=["a\nb"]), job(command=["a", "b"])
        assert self.lines(before, after)[1:] == ['- ["a\\nb"]', '+ ["a", "b"]']

    def test_control_characters_never_reach_the_terminal(self) -> None:
        page = render(
            "text", [between([job()], [job(image="a\x1b[31m\u202eb\r", command=["x\x1b]0;y\x07"])])]
        )
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", page)


def test_an_object_that_only_follows_its_run_says_so() -> None:
    package = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {}}
    row = Row(recreated(package, package, "bcdd"))
    page = render("text", [Comparison("fit", "ads", "the cluster", [row])])
    assert "  -/+ ConfigMap/c: replace, with its run; its content is unchanged\n" in page
    assert "uid" not in page
    changed = Row(recreated(package, {**package, "data": {"a": "b"}}, "bcdd"))
    page = render("text", [Comparison("fit", "ads", "the cluster", [changed])])
    assert "  -/+ ConfigMap/c: replace, with its run\n" in page
    assert "data" in page
    assert "metadata.uid" in render("json", [Comparison("fit", "ads", "the cluster", [row])])


class TestMarkdown:
    def test_text_from_a_spec_is_never_markup(self) -> None:
        hostile = "`````\n</details> @team #1 | <b> https://x.example [a](b) **c** :tada:"
        rows = [
            Row(change)
            for change in diff([job()], [job(image=hostile, command=["sh", "-c", hostile])])
        ]
        page = render("markdown", [Comparison("fit|@x", "a`b", hostile, rows)])
        fences = re.findall(r"^(`{3,})diff\n(.*?)^\1$", page, re.MULTILINE | re.DOTALL)
        ((fence, inside),) = fences
        assert len(fence) > max(map(len, re.findall("`+", inside)))
        outside = page.replace(inside, "")
        assert outside.count("</details>") == 1
        uncoded = re.sub(r"<code>[^<]*</code>", "", outside)
        assert not re.search(r"@team|@x|tada|https", uncoded)
        row = next(line for line in outside.splitlines() if line.startswith("| <code>"))
        assert row.count("|") == 4
        for code in re.findall(r"<code>(.*?)</code>", outside):
            assert not re.search(r"[<>`*@\[\]_|]|://", code)

    def test_diff_symbols_are_in_the_first_column(self, tmp_path: Path) -> None:
        old = built(tmp_path, PS)
        page = render("markdown", [compared(old, built(tmp_path, PS, "image=other:1"))])
        (inside,) = re.findall(r"^```diff\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        assert {line[0] for line in inside.splitlines()} <= set("+-! ")
        assert "! -/+ Job/word2vec-trainer: replace\n" in inside

    @pytest.mark.parametrize(("jobs", "lines"), [(1, 20_000), (40, 2_000), (3_000, 1), (1_000, 30)])
    def test_what_does_not_fit_in_a_comment_is_left_out_and_named(
        self, jobs: int, lines: int
    ) -> None:
        data = {"data": {"text": "".join(f"line {number}\n" for number in range(lines))}}
        comparisons = [
            Comparison(
                f"job-{number}", "ads", "git:main",
                [Row(Change(None, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}, **data}))],
            )
            for number in range(jobs)
        ]  # fmt: skip
        page = render("markdown", comparisons)
        assert len(page) < 65_000
        assert page.startswith("<!-- paddlespec:diff -->\n")
        assert (
            page.splitlines()[-1]
            == f"Plan: {jobs} to create, 0 to change, 0 to replace, 0 to delete"
        )
        assert "Left out because of the size limit of comments: " in page
        assert page.count("<details>") == page.count("</details>")
        assert page.count("```diff") * 2 == page.count("```")
        whole = render("text", comparisons)
        assert whole.count("+   ") >= jobs * lines

    def test_the_step_summary_gets_the_same_comment(self, tmp_path: Path) -> None:
        comparisons = [between([job()], [job(parallelism=3)])]
        file = tmp_path / "summary"
        file.write_text("before\n", encoding="utf-8")
        text = render("github", comparisons, environment={"GITHUB_STEP_SUMMARY": str(file)})
        assert (
            text == render("markdown", comparisons) == render("github", comparisons, environment={})
        )
        assert file.read_text(encoding="utf-8") == f"before\n{text}"
        render("markdown", comparisons, environment={"GITHUB_STEP_SUMMARY": str(file)})
        assert file.read_text(encoding="utf-8") == f"before\n{text}"
        with pytest.raises(OperationFailed, match="cannot write the GitHub step summary"):
            render(
                "github",
                comparisons,
                environment={"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "x")},
            )


CANARIES = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: word2vec, namespace: ads}
spec:
  mode: parallel
  image: paddle:1
  command: python train.py --salt ${{ parameters.salt }}
  parameters: {salt: canary-SIDE-1}
  env:
    SALT: {value: "${{ parameters.salt }}", sensitive: true}
    PLAIN: SIDE
  trainers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}}
"""


class TestSecrets:
    def comparisons(self, folder: Path) -> tuple[list[Comparison], list[Built]]:
        sides = [built(folder, CANARIES.replace("SIDE", side)) for side in ("old", "new")]
        (rendered,) = [compared(*sides)]
        extra = [self.objects(side) for side in ("old", "new")]
        known = Row(Change(sides[0].manifests[0], None), "the salt is canary-new-1")
        return [
            Comparison("word2vec", "ads", "git:x, where canary-old-1", [*rendered.rows, known]),
            between(*extra),
            between([], extra[1]),
            between(extra[0], []),
        ], sides

    def objects(self, side: str) -> list[dict[str, Any]]:
        def hidden(text: str) -> str:
            return base64.b64encode(f"canary-{side}-{text}".encode()).decode()

        token = f"ghp_canary{side}0123456789012345678901"
        env = [
            {"name": "DB_PASSWORD", "value": f"canary-{side}-2"},
            {"name": "URL", "value": f"https://me:canary-{side}-3@host/"},
            {"name": "HF", "value": token},
        ]
        command = [
            "run",
            "--password",
            f"canary-{side}-4",
            f"--db=canary-{side}-2",
            f"curl {token}",
        ]
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        mine = job(env=env, command=command)
        copy = json.dumps(mine).replace("canary", f"canary-{side}-5")
        mine["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": copy}
        data = {
            "data": {"a": hidden("6"), "same": "canary-same"},
            "stringData": {"b": f"canary-{side}-7"},
        }
        return [{**secret, **data}, mine]

    @pytest.mark.parametrize("form", FORMATS)
    @pytest.mark.parametrize("color", [False, True])
    def test_no_format_shows_a_secret(self, tmp_path: Path, form: Format, color: bool) -> None:
        comparisons, sides = self.comparisons(tmp_path)
        secrets = [secrets_of(side.loaded) for side in sides]
        text = render(form, comparisons, color=color, secrets=secrets)
        encoded = base64.b64encode(b"canary").decode()[:7]
        assert "canary" not in text
        assert encoded not in text
        assert re.search("hidden (?:#|&#35;)?1", text.replace("&#60;", "<"))

    def test_the_secrets_of_one_side_suffice_for_its_variables(self, tmp_path: Path) -> None:
        comparisons, sides = self.comparisons(tmp_path)
        plain = [
            Comparison(*comparison[:2], "git:x", comparison.rows) for comparison in comparisons
        ]
        text = render("text", plain, secrets=[secrets_of(sides[1].loaded)])
        assert "canary" not in text

    def test_equal_secrets_have_equal_numbers(self, tmp_path: Path) -> None:
        old, new = (built(tmp_path, CANARIES.replace("SIDE", side)) for side in ("old", "new"))
        secrets = [secrets_of(side.loaded) for side in (old, new)]
        listed = json.loads(render("json", [compared(old, new)], secrets=secrets))
        changed = {
            field["path"]: field for row in listed["jobs"][0]["objects"] for field in row["fields"]
        }
        container = "spec.template.spec.containers[paddle]"
        salt = changed[f"{container}.env[SALT].value"]
        command = changed[f"{container}.command"]
        assert (salt["before"], salt["after"]) == ("<hidden #1>", "<hidden #2>")
        assert command["before"][-1] == "python train.py --salt <hidden #1>"
        assert command["after"][-1] == "python train.py --salt <hidden #2>"
        assert changed[f"{container}.env[PLAIN].value"]["after"] == "new"

    def test_overlapping_secrets_are_hidden_as_a_whole(self) -> None:
        env = [
            {"name": f"A{at}_TOKEN", "value": value}
            for at, value in enumerate(("abcdefgh", "efghijkl"))
        ]
        texts = [Secrets(texts=re.compile(text)) for text in ("abcdefgh", "efghijkl")]
        for hidden in (Hidden([], [between([], [job(env=env)])]), Hidden(texts, [])):
            assert re.sub("[0-9]", "", hidden.text("x abcdefghijkl y")) == "x <hidden #> y"

    def test_the_last_applied_configuration_is_hidden(self) -> None:
        other = job()
        other["metadata"]["annotations"] = {
            "kubectl.kubernetes.io/last-applied-configuration": '{"data": "canary"}'
        }
        assert "canary" not in render("text", [between([job()], [other])])

    def test_an_unchanged_secret_is_no_change(self) -> None:
        (before, _), (after, _) = self.objects("old"), self.objects("new")
        listed = json.loads(render("json", [between([before], [after])]))
        (row,) = listed["jobs"][0]["objects"]
        assert [field["path"] for field in row["fields"]] == ["data.a", "stringData.b"]

    def test_the_numbers_are_the_same_in_every_format(self, tmp_path: Path) -> None:
        comparisons, sides = self.comparisons(tmp_path)
        secrets = [secrets_of(side.loaded) for side in sides]
        line = re.compile(r"env\[SALT\].value: (.*?)   #")
        pages = [render(form, comparisons, secrets=secrets) for form in ("text", "markdown")]
        first, second = (line.findall(page) for page in pages)
        assert first == second == ['"<hidden #1>" -> "<hidden #2>"']

    @settings(max_examples=60, deadline=None)
    @given(st.text(), st.lists(st.sampled_from(["secret-1", "secret-12", "2-secret", "-"])))
    def test_no_part_of_a_secret_remains(self, around: str, words: list[str]) -> None:
        env = [{"name": f"TOKEN_{index}_SECRET", "value": value} for index, value in enumerate(("secret-1", "secret-12", "2-secret"))]  # fmt: skip
        hidden = Hidden([], [between([], [job(env=env)])])
        shown = hidden.text(around.join(words))
        assert "secret" not in shown or "secret" in around


def test_a_conflict_is_a_difference_that_names_its_field() -> None:
    owned = "fields owned by other managers: spec.ttl (kubectl-patch)"
    rows = [Row(Change(SERVICE, SERVICE), conflict=owned), Row(Change(job(), job()))]
    comparison = Comparison("fit", "ads", "the cluster", rows, refusal="no")
    assert comparison.differs
    assert comparison.problems == []
    text = render("text", [comparison])
    assert f": in conflict: {owned}" in text
    assert "could not be compared" not in text
    closing = "No changes. 2 objects compared, 1 in conflict, apply would refuse 1 job."
    assert text.splitlines()[-1] == closing
    assert "1 objects in conflict" in render("markdown", [comparison])
    listed = json.loads(render("json", [comparison]))
    assert (listed["counts"]["conflicting"], listed["counts"]["refused"]) == (1, 1)
    assert listed["jobs"][0]["objects"][0]["conflict"] == owned


def test_pods_that_change_take_the_whole_run_with_them() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "out"}}
    suspended = job()
    suspended["spec"]["template"]["spec"]["nodeSelector"] = {"zone": "a"}
    later = job()
    later["spec"]["activeDeadlineSeconds"] = 60
    before = [claim, SERVICE, job()]
    for after, expected in (
        (suspended, ["keep", "replace", "replace"]),
        (job(image="paddle:2"), ["keep", "replace", "replace"]),
        (later, ["keep", "keep", "change"]),
    ):
        changes = with_their_run(diff(before, [claim, SERVICE, after]))
        assert [change.operation.value for change in changes] == expected


def test_the_json_format_is_stable() -> None:
    rows = [
        Row(Change(job(), job(image="paddle:2"))),
        Row(Change(None, SERVICE)),
        Row(Change(SERVICE, SERVICE), "no right to read services"),
    ]
    listed = json.loads(render("json", [Comparison("fit", "ads", "the cluster", rows)]))
    assert list(listed) == ["plan", "differs", "counts", "resources", "jobs"]
    assert list(listed["counts"]) == [
        *("keep", "create", "change", "replace", "delete"),
        *("uncompared", "conflicting", "refused"),
    ]
    assert listed["resources"] == {"accelerators": 0, "cpu": 0, "memory": 0}
    (changes,) = listed["jobs"]
    assert {key: changes[key] for key in ("job", "namespace", "against", "differs", "summary")} == {
        "job": "fit", "namespace": "ads", "against": "the cluster", "differs": True,
        "summary": [{"name": "image", "before": "paddle:1", "after": "paddle:2", "change": None}],
    }  # fmt: skip
    replaced, created, unread = changes["objects"]
    assert replaced == {
        "apiVersion": "batch/v1", "kind": "Job", "namespace": None, "name": "fit-trainer",
        "operation": "replace", "problem": None, "conflict": None,
        "fields": [{
            "path": "spec.template.spec.containers[paddle].image",
            "before": "paddle:1", "after": "paddle:2", "effect": "by replacement",
        }],
    }  # fmt: skip
    assert created["object"] == rows[1].change.after
    assert unread["problem"] == "no right to read services"
    assert unread["fields"] == []
