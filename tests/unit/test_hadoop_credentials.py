"""User and password of Hadoop and AFS are credentials, in the forms that jobs use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from targets import HEAD

from paddlespec.checks.secrets import holds_secret
from paddlespec.pipeline import Choices, build, load
from paddlespec.render.template import Templates
from paddlespec.report.mask import effective_spec
from paddlespec.report.preview import preview
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

MARK = "hunter2"
FORMS = {
    "variable": f'  command: python train.py\n  env: {{HDFS_UGI: "root,{MARK}"}}\n',
    "role": f'  command: t\n  trainers: {{env: {{fs_ugi: "root,{MARK}"}}}}\n',
    "parameter": "  command: python train.py --ugi ${{ parameters.fs_ugi }}\n"
    f'  parameters: {{fs_ugi: "root,{MARK}"}}\n',
    "property": f"  command: hadoop fs -D hadoop.job.ugi=root,{MARK} -ls /\n",
    "option": f'  command: [python, train.py, --hdfs_ugi, "root,{MARK}"]\n',
    "export": f'  command: t\n  setup: ["export HDFS_UGI=root,{MARK}"]\n',
    "path": f"  command: python train.py --data afs://root:{MARK}@fs.example.com:9902/data\n",
    "patch": "  command: t\n  patches: [{target: {kind: Job}, patch: {spec: {template: {spec: "
    f'{{containers: [{{name: paddle, env: [{{name: HDFS_UGI, value: "root,{MARK}"}}]}}]}}}}}}}}}}]\n',
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_it_is_noticed_and_masked(tmp_path: Path, form: str) -> None:
    file = tmp_path / "paddlejob.yaml"
    file.write_text(f"{HEAD}  mode: parallel\n{form}", encoding="utf-8")
    (job,), _ = load(str(file), Files(), Choices())
    assert "looks-like-secret" in {finding.code for finding in job.diagnostics}
    page = preview(job, build(job, Templates()).manifests, width=100, color=False)
    assert MARK not in page
    assert MARK not in effective_spec(job)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("HDFS_UGI", "root,hunter2", True),
        ("HDFS_UGI", "root", False),
        ("HDFS_UGI", "root,$(PASSWORD)", False),
        ("HDFS_UGI", "$(USER),$(PASSWORD)", False),
        ("hadoop.job.ugi", "root,hunter2", True),
        ("DATA", "a,b", False),
    ],
)
def test_a_user_alone_is_no_credential(name: str, value: str, expected: bool) -> None:
    assert holds_secret(name, value) is expected
