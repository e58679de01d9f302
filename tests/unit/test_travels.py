"""What travels with a job and what stays behind, and scripts that do not travel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from paddlespec import targets
from paddlespec.package import left, walk
from paddlespec.pipeline import Choices, Loaded, context, load
from paddlespec.render.template import Templates
from paddlespec.report.preview import preview
from paddlespec.report.travels import summary
from paddlespec.spec.files import Files

if TYPE_CHECKING:
    from pathlib import Path

LAUNCH = "python -m paddle.distributed.launch"


def loaded(
    folder: Path, command: str = "sleep 1", more: str = "package: {path: .}", **choices: str
) -> Loaded:
    """Load a job of *folder*, in whose project the folders above are unknown."""
    (folder / ".git").mkdir(exist_ok=True)
    image = choices.pop("image", "team/train:1")
    spec = (
        "apiVersion: paddlespec.io/v1\nkind: PaddleJob\nmetadata: {name: a}\nspec:\n"
        f"  mode: parallel\n  image: {image}\n  command: {command}\n"
        "  trainers: {resources: {cpu: 1, memory: 1Gi}}\n"
        f"  {more}\n"
    )
    (folder / "paddlejob.yaml").write_text(spec, encoding="utf-8")
    (job,), _ = load(str(folder / "paddlejob.yaml"), Files(), Choices(**choices))  # type: ignore[arg-type]
    return job


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(job: Loaded, code: str = "missing-script") -> list[tuple[str, str | None]]:
    return [(one.message, one.hint) for one in job.diagnostics if one.code == code]


# The page and the line


def test_the_preview_lists_what_travels_and_what_stays_behind(tmp_path: Path) -> None:
    write(tmp_path, **{"train.py": "x" * 1500, "data/a.csv": "1" * 3000, "data/b/c.csv": "2"})
    write(tmp_path, **{".paddleignore": "data/\n*.log\n", "run.log": "", "paddlejob-2.yaml": ""})
    write(tmp_path, **{".gitignore": "secret*\n", "secret.txt": "12345"})
    job = loaded(tmp_path, more="package: {path: ., exclude: [notes.md]}")
    write(tmp_path, **{"notes.md": "12"})
    job = loaded(tmp_path, more="package: {path: ., exclude: [notes.md]}")
    rendered = targets.load("local").render(job.job, context(job), Templates())
    page = preview(job, rendered, width=100, color=False)
    section = page[page.index("Code  ") : page.index("\n\nData")]
    assert [line.split() for line in section.splitlines()] == [
        ["Code", "1", "file,", "1.5", "KiB"],
        ["travels", "size"],
        ["train.py", "1.5", "KiB"],
        ["stays", "behind", "size", "excluded", "by"],
        ["data/", "2.9", "KiB", ".paddleignore:", "data/"],
        ["secret.txt", "5", "B", ".gitignore:", "secret*"],
        ["notes.md", "2", "B", "package.exclude:", "notes.md"],
        ["run.log", "0", "B", ".paddleignore:", "*.log"],
    ]
    assert job.code is not None
    assert summary(job.code) == (
        "code: 1 file, 1.5 KiB; stays behind: data/ (2.9 KiB; .paddleignore: data/), "
        "secret.txt (5 B; .gitignore: secret*), notes.md (2 B; package.exclude: notes.md), 1 more"
    )


def test_measuring_is_bounded(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(10):
        (folder / f"{number}.csv").write_text("123", encoding="utf-8")
    (folder / "all").symlink_to("/")
    entry = walk.Left("data/", str(folder), "why")
    (whole,) = left.measured([entry])
    assert (whole.files, whole.is_complete) == (11, True)
    assert whole.size < 100
    first, second = left.measured([entry, entry], most=5)
    assert not first.is_complete
    assert not second.is_complete
    assert first.files <= 6


def test_a_package_too_large_for_its_delivery_can_be_rehearsed(tmp_path: Path) -> None:
    write(tmp_path, **{"model.bin": "x" * 1_100_000, "train.py": ""})
    job = loaded(tmp_path)
    assert not job.is_valid
    job = loaded(tmp_path, target="local")
    assert job.is_valid
    [(message, hint)] = found(job, "package")
    assert message == (
        "the package has 1,102,336 bytes and cannot run in a cluster: "
        "ConfigMap delivery is limited to 1 MiB"
    )
    assert hint is not None
    assert "largest: model.bin (1,100,000)" in hint


def test_a_rehearsal_has_a_limit_of_its_own(tmp_path: Path) -> None:
    with open(tmp_path / "x.bin", "wb") as file:
        file.truncate(300 << 20)
    job = loaded(tmp_path, target="local")
    assert not job.is_valid
    [(message, _)] = found(job, "package")
    assert "rehearsals are limited to 256 MiB" in message


# Scripts


@pytest.mark.parametrize(
    ("command", "like"),
    [
        ("python trian.py", "train.py"),
        ("python -u trian.py --epochs 3", "train.py"),
        (f"{LAUNCH} trian.py", "train.py"),
        ("pip install -r requirements.txt && python trian.py", "train.py"),
        ("FLAGS_x=1 python trian.py", "train.py"),
        ("[python, trian.py]", "train.py"),
        ('[sh, -c, "python trian.py"]', "train.py"),
        ("sh go.sh", "tools/go.sh"),
        ("./tool/go.sh", "tools/go.sh"),
        ("python other.py", None),
    ],
)
def test_a_script_that_is_not_in_the_package_is_found(
    tmp_path: Path, command: str, like: str | None
) -> None:
    write(tmp_path, **{"train.py": "", "tools/go.sh": ""})
    [(message, hint)] = found(loaded(tmp_path, command))
    assert message.endswith("is not in the package")
    assert hint == (f'did you mean "{like}"?' if like else None)


@pytest.mark.parametrize(
    "command",
    [
        "python train.py",
        "python ./train.py",
        "python /workspace/train.py",
        "python /opt/tool.py",
        "cd tools && python other.py",
        "git clone x . && python other.py",
        "python make.py > other.py; python other.py",
        "python $SCRIPT.py",
        "python -m other",
        "python -m pytest other.py",
        "python -c 'print(1)'",
        "bash -c 'cd x; python other.py'",
    ],
)
def test_scripts_that_may_exist_are_not_reported(tmp_path: Path, command: str) -> None:
    write(tmp_path, **{"train.py": "", "make.py": ""})
    quoted = command.replace("'", "''")
    assert found(loaded(tmp_path, f"'{quoted}'")) == []


def test_setup_and_mounts_may_bring_a_script(tmp_path: Path) -> None:
    write(tmp_path, **{"train.py": ""})
    setup = "package: {path: .}\n  setup: [cp /x/other.py .]"
    assert found(loaded(tmp_path, "python other.py", setup)) == []
    mount = "package: {path: .}\n  volumes: [{name: d, mountPath: /workspace/d, emptyDir: {}}]"
    assert found(loaded(tmp_path, "python d/other.py", mount)) == []
    assert found(loaded(tmp_path, "python train.py", "package: {path: ., into: code}")) == []


def test_a_script_that_an_ignore_file_excludes_is_named_with_the_pattern(tmp_path: Path) -> None:
    write(tmp_path, **{"data/train.py": "", "a.py": "", ".paddleignore": "data/\n"})
    [(message, _)] = found(loaded(tmp_path, "python data/train.py"))
    assert message == "data/train.py is not delivered: excluded by .paddleignore: data/"


def test_without_a_package_a_script_beside_the_spec_does_not_travel(tmp_path: Path) -> None:
    write(tmp_path, **{"train.py": ""})
    message = "train.py is beside the spec, but without `package` no file is delivered"
    expected = [(message, "add `package: {path: .}`")]
    for image in ("paddlepaddle/paddle:3.0.0", "reg:5000/paddlepaddle/paddle:2.6.2", "python:3.11"):
        assert found(loaded(tmp_path, "python train.py", "", image=image)) == expected
    # Another image may contain the script, but a rehearsal has no image.
    assert found(loaded(tmp_path, "python train.py", "")) == []
    assert found(loaded(tmp_path, "python train.py", "", target="local")) == expected
    mount = "workdir: /workspace\n  volumes: [{name: d, mountPath: /workspace, claim: c}]"
    assert found(loaded(tmp_path, "python train.py", mount, image="python:3.11")) == []
    assert found(loaded(tmp_path, "python other.py", "", image="python:3.11")) == []
