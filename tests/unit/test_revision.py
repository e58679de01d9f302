"""Previous versions of jobs, in real repositories and in folders of manifests."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from paddlespec.change.diff import Comparison, Operation
from paddlespec.cli.shared.manifest_folder import changes, write
from paddlespec.diagnostic import InvalidSpec
from paddlespec.git import baseline, repository
from paddlespec.git.run import run
from paddlespec.pipeline import (
    Built,
    Choices,
    build,
    load,
)
from paddlespec.render.template import Templates
from paddlespec.runs.failures import OperationFailed
from paddlespec.spec.files import Files

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: NAME}
spec:
  mode: parallel
  image: python:3.11-slim
  command: python train.py
  trainers: {replicas: 2, resources: {cpu: 1, memory: 1Gi}}
"""
OVERLAY = "apiVersion: paddlespec.io/v1\nkind: Overlay\nspec: {trainers: {replicas: 4}}\n"
PACKAGED = SPEC + "  package: {path: .}\n"
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    **{f"GIT_{who}_{what}": "me@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Clone:
    """A clone with specs, and comparisons with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, text: str, name: str = "jobs/paddlejob.yaml", *, job: str = "fit") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("NAME", job), encoding="utf-8")
        return path

    def commit(self) -> str:
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--allow-empty", "-m", "a change")
        return git(self.folder, "rev-parse", "HEAD")

    def compare(
        self, *paths: str, against: str = "git:HEAD", templates: str | None = None, **choices: Any
    ) -> list[Comparison]:
        built = self.built(*paths, templates=templates, **choices)
        before = self.before(*paths, against=against, templates=templates, built=built, **choices)
        return baseline.compare(built, before)

    def before(
        self,
        *paths: str,
        against: str = "git:HEAD",
        templates: str | None = None,
        built: list[Built] | None = None,
        **choices: Any,
    ) -> baseline.Before:
        return baseline.before(list(paths), Choices(**choices), against, templates, built or [])

    def built(self, *paths: str, templates: str | None = None, **choices: Any) -> list[Built]:
        jobs_built = []
        for name in Files().specs(paths)[0]:
            selected = Choices(**choices)
            jobs, faults = load(name, selected.files(), selected)
            assert not faults
            jobs_built += [build(job, Templates(templates)) for job in jobs]
        return jobs_built


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main", ".")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    return Clone(folder)


def operations_of(comparisons: list[Comparison]) -> dict[str, list[str]]:
    """Return the operations on the objects of every job, without unchanged objects."""
    return {
        comparison.job: [
            f"{row.change.operation.value} {row.change.identity.kind}"
            for row in comparison.rows
            if row.change.operation is not Operation.keep
        ]
        for comparison in comparisons
    }


def fields(comparisons: list[Comparison]) -> dict[str, tuple[Any, Any]]:
    return {
        str(field.path[-1]): (field.before, field.after)
        for comparison in comparisons
        for row in comparison.rows
        for field in row.change.fields
    }


def state(folder: Path) -> dict[str, str]:
    """Return bytes, mode and time of all files of a clone, including .git."""
    files = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = Path(where) / name
            status = path.lstat()
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            files[str(path)] = f"{status.st_mode} {status.st_mtime_ns} {digest}"
    return files


def test_nothing_differs_from_what_was_committed(clone: Clone) -> None:
    clone.write(PACKAGED)
    clone.write("print()\n", "jobs/train.py")
    commit = clone.commit()
    (comparison,) = clone.compare("jobs")
    assert (comparison.differs, comparison.namespace) == (False, None)
    assert comparison.against == f"git:HEAD ({commit[:7]})"
    assert len(comparison.rows) == 2


def test_a_change_in_the_work_tree_is_found_without_modifying_the_clone(clone: Clone) -> None:
    clone.write(PACKAGED)
    clone.write("print(1)\n", "jobs/train.py")
    clone.commit()
    clone.write(PACKAGED.replace("replicas: 2", "replicas: 3"))
    clone.write("print(2)\n", "jobs/train.py")
    git(clone.folder, "add", "jobs/train.py")
    clone.write("print(3)\n", "jobs/train.py")
    before = state(clone.folder)
    comparisons = clone.compare("jobs/paddlejob.yaml")
    assert state(clone.folder) == before
    assert operations_of(comparisons) == {
        "fit": ["create ConfigMap", "replace Job", "delete ConfigMap"]
    }
    assert fields(comparisons)["parallelism"] == (2, 3)


def test_layers_are_those_of_the_revision(clone: Clone) -> None:
    clone.write(SPEC)
    project = (
        "apiVersion: paddlespec.io/v1\nkind: Project\nproject: p\ndefaults: {env: {A: 'OLD'}}\n"
    )
    clone.write(project, ".paddlespec.yaml")
    clone.write(OVERLAY, "prod.yaml")
    clone.write("OLD", "value.txt")
    clone.commit()
    clone.write(project.replace("OLD", "NEW"), ".paddlespec.yaml")
    clone.write(OVERLAY.replace("4", "5"), "prod.yaml")
    clone.write("NEW", "value.txt")
    comparisons = clone.compare(
        "jobs", overlays=("prod.yaml",), updates=("env.B=@value.txt", "env.C=@value.txt")
    )
    differing = [row.change for row in comparisons[0].rows if row.change.fields]
    assert {(str(field.path[-2]), field.before, field.after) for field in differing[0].fields} >= {
        ("A", "OLD", "NEW"),
        ("B", "OLD", "NEW"),
        ("C", "OLD", "NEW"),
        ("spec", 4, 5),
    }


def test_templates_are_those_of_the_revision(clone: Clone) -> None:
    clone.write(SPEC)
    bundled = Path(__file__).parents[2] / "templates" / "kubernetes" / "job.yaml.j2"
    original = bundled.read_text(encoding="utf-8")
    clone.write(original, "mine/kubernetes/job.yaml.j2")
    clone.commit()
    clone.write(original.replace("kind: Job", "kind: Work"), "mine/kubernetes/job.yaml.j2")
    comparisons = clone.compare("jobs", templates="mine")
    assert operations_of(comparisons) == {"fit": ["create Work", "delete Job"]}


def test_a_new_overlay_is_a_change(clone: Clone) -> None:
    clone.write(SPEC)
    clone.commit()
    clone.write(OVERLAY.replace("4", "5"), "prod.yaml")
    comparisons = clone.compare("jobs", overlays=("prod.yaml",))
    assert fields(comparisons)["parallelism"] == (2, 5)
    assert comparisons[0].against.endswith(", without prod.yaml, which did not exist")


def test_added_and_deleted_specs(clone: Clone) -> None:
    clone.write(SPEC, "jobs/old/paddlejob.yaml", job="old")
    clone.write(SPEC, "jobs/same/paddlejob.yaml", job="same")
    clone.commit()
    shutil.rmtree(clone.folder / "jobs" / "old")
    clone.write(SPEC, "jobs/new/paddlejob.yaml", job="new")
    assert operations_of(clone.compare("jobs")) == {
        "new": ["create Job"],
        "same": [],
        "old": ["delete Job"],
    }


@pytest.mark.parametrize("path", ["jobs", "jobs/renamed/any.yaml"])
def test_a_renamed_spec_is_matched_by_job_name(clone: Clone, path: str) -> None:
    old = clone.write(SPEC)
    clone.write(SPEC, "other/paddlejob.yaml", job="other")
    clone.commit()
    old.unlink()
    clone.write(SPEC.replace("replicas: 2", "replicas: 3"), "jobs/renamed/any.yaml")
    assert operations_of(clone.compare(path)) == {"fit": ["replace Job"]}


def test_a_moved_spec_is_found_in_its_previous_folder(clone: Clone) -> None:
    clone.write(PACKAGED, "a/paddlejob.yaml")
    clone.write("print()\n", "a/train.py")
    clone.write(SPEC, "a/other/paddlejob.yaml", job="unrelated")
    clone.commit()
    git(clone.folder, "mv", "a", "b")
    assert operations_of(clone.compare("b/paddlejob.yaml")) == {"fit": []}


def test_another_namespace_is_another_job(clone: Clone) -> None:
    clone.write(SPEC)
    clone.commit()
    clone.write(SPEC.replace("{name: NAME}", "{name: NAME, namespace: ads}"))
    comparisons = clone.compare("jobs")
    assert [(comparison.job, comparison.namespace) for comparison in comparisons] == [
        ("fit", "ads"),
        ("fit", None),
    ]


def test_an_invalid_previous_spec_is_reported(clone: Clone) -> None:
    clone.write(SPEC.replace("image:", "imago:"))
    clone.write("a: [\n", "jobs/paddlejob-2.yaml")
    clone.commit()
    clone.write(SPEC)
    clone.write(SPEC, "jobs/paddlejob-2.yaml", job="broken")
    broken, fit = clone.compare("jobs")
    assert operations_of([broken, fit]) == {"fit": ["create Job"], "broken": ["create Job"]}
    assert (
        ", where the spec is invalid: jobs/paddlejob.yaml:4:1: spec.image is required"
        in fit.against
    )
    assert ", where the spec is invalid: jobs/paddlejob-2.yaml:2:1: " in broken.against
    assert not fit.problems


def test_ignored_files_are_left_out_on_both_sides(clone: Clone) -> None:
    clone.write(PACKAGED)
    clone.write("data/\n", ".paddleignore")
    clone.write("print()\n", "jobs/train.py")
    clone.write("1\n", "jobs/data/1.csv")
    clone.commit()
    clone.write("2\n", "jobs/data/1.csv")
    assert operations_of(clone.compare("jobs")) == {"fit": []}


def test_line_endings_and_executable_bits_are_those_of_a_work_tree(clone: Clone) -> None:
    clone.write(PACKAGED)
    clone.write("*.bat text eol=crlf\n", ".gitattributes")
    clone.write("echo\n", "jobs/run.bat")
    clone.write("echo\n", "jobs/run.sh").chmod(0o755)
    clone.commit()
    (clone.folder / "jobs/run.bat").unlink()
    git(clone.folder, "checkout", "jobs/run.bat")
    assert (clone.folder / "jobs/run.bat").read_bytes() == b"echo\r\n"
    assert operations_of(clone.compare("jobs")) == {"fit": []}


def test_links_are_followed_within_the_revision(clone: Clone) -> None:
    clone.write(SPEC + "  package: {path: code}\n", "shared/spec.yaml")
    clone.write("print()\n", "shared/code/train.py")
    jobs = clone.folder / "jobs"
    jobs.mkdir()
    (jobs / "paddlejob.yaml").symlink_to("../shared/spec.yaml")
    (jobs / "code").symlink_to(clone.folder / "shared" / "code")
    clone.commit()
    assert operations_of(clone.compare("jobs")) == {"fit": []}
    clone.write("print(2)\n", "shared/code/train.py")
    expected = ["create ConfigMap", "replace Job", "delete ConfigMap"]
    assert operations_of(clone.compare("jobs")) == {"fit": expected}


def test_code_outside_the_repository_is_the_current_one(clone: Clone) -> None:
    clone.write(SPEC + "  package: {path: ../../beside}\n")
    clone.write("print()\n", "../beside/train.py")
    clone.commit()
    with pytest.raises(InvalidSpec, match="is outside the repository"):
        clone.compare("jobs")
    assert operations_of(clone.compare("jobs", allowed=("../beside",))) == {"fit": []}


def test_a_previous_version_reads_nothing_outside(clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "key.yaml").write_text("canary")
    path = clone.write(SPEC + "  package: {path: ../../beside}\n")
    (clone.folder / "jobs" / "paddlejob-b.yaml").symlink_to("../../beside/key.yaml")
    clone.commit()
    (clone.folder / "jobs" / "paddlejob-b.yaml").unlink()
    path.write_text(SPEC.replace("NAME", "fit"))
    (comparison,) = clone.compare("jobs/paddlejob.yaml")
    assert 'folder "../../beside" is outside the repository' in comparison.against
    previous = clone.before("jobs")
    assert "is a link that leads out of the repository" in str(previous.unread)
    assert "canary" not in str(previous)


def test_filters_are_not_run_but_reported(clone: Clone) -> None:
    clone.write(PACKAGED)
    clone.write("*.key filter=crypt\n", ".gitattributes")
    clone.write("open\n", "jobs/a.key")
    for what in ("smudge", "process", "clean"):
        command = "cat" if what == "clean" else f"touch {clone.folder}/ran; false"
        git(clone.folder, "config", f"filter.crypt.{what}", command)
    git(clone.folder, "config", "--unset", "filter.crypt.process")
    git(clone.folder, "config", "filter.crypt.required", "true")
    clone.commit()
    (comparison,) = clone.compare("jobs")
    assert not (clone.folder / "ran").exists()
    assert comparison.against.endswith(", without the filter crypt of jobs/a.key")


def test_large_files_are_read_from_the_lfs_cache(clone: Clone) -> None:
    content = b"weights\n" * 100
    digest = hashlib.sha256(content).hexdigest()
    pointer = (
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"
    )
    clone.write(PACKAGED)
    clone.write("*.bin filter=lfs\n", ".gitattributes")
    clone.write(pointer, "jobs/model.bin")
    clone.commit()
    assert operations_of(clone.compare("jobs")) == {"fit": []}, "a pointer on both sides"
    (clone.folder / "jobs/model.bin").write_bytes(content)
    (comparison,) = clone.compare("jobs")
    assert comparison.differs
    remark = ", without the content of jobs/model.bin, which is not in the Git LFS cache"
    assert comparison.against.endswith(remark)
    stored = clone.folder / ".git/lfs/objects" / digest[:2] / digest[2:4] / digest
    stored.parent.mkdir(parents=True)
    stored.write_bytes(content)
    assert operations_of(clone.compare("jobs")) == {"fit": []}


@pytest.fixture
def with_submodule(clone: Clone, tmp_path: Path) -> Clone:
    library = Clone(tmp_path / "library")
    library.write("print(1)\n", "ops.py")
    git(library.folder, "init", "--quiet", "--initial-branch=main", ".")
    library.commit()
    clone.write(PACKAGED)
    git(clone.folder, "submodule", "--quiet", "add", str(library.folder), "jobs/ops")
    clone.commit()
    return clone


def test_a_submodule_is_read_at_its_recorded_commit(with_submodule: Clone) -> None:
    clone = with_submodule
    assert operations_of(clone.compare("jobs")) == {"fit": []}
    clone.write("print(2)\n", "jobs/ops/ops.py")
    expected = ["create ConfigMap", "replace Job", "delete ConfigMap"]
    assert operations_of(clone.compare("jobs")) == {"fit": expected}
    git(clone.folder / "jobs/ops", "commit", "--quiet", "--all", "-m", "a change")
    assert operations_of(clone.compare("jobs")) == {"fit": expected}
    clone.commit()
    assert operations_of(clone.compare("jobs")) == {"fit": []}
    assert operations_of(clone.compare("jobs", against="git:HEAD~1")) == {"fit": expected}


def test_a_removed_submodule_is_still_read(with_submodule: Clone) -> None:
    git(with_submodule.folder, "rm", "--quiet", "jobs/ops")
    with_submodule.write("print()\n", "jobs/train.py")
    (comparison,) = with_submodule.compare("jobs")
    archives = [row.change.before for row in comparison.rows if row.change.after is None]
    assert archives[0] is not None
    assert archives[0]["kind"] == "ConfigMap"
    assert "without" not in comparison.against


def test_a_missing_submodule_is_reported(with_submodule: Clone, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(with_submodule.folder), "bare-bones")
    os.chdir(tmp_path / "bare-bones")
    clone = Clone(tmp_path / "bare-bones")
    clone.write("print()\n", "jobs/train.py")
    (comparison,) = clone.compare("jobs")
    assert comparison.against.endswith(", without the submodule jobs/ops, which is not checked out")


def test_a_commit_can_have_any_name(clone: Clone) -> None:
    clone.write(SPEC)
    first = clone.commit()
    git(clone.folder, "tag", "-a", "v1", "-m", "first")
    clone.write(SPEC.replace("replicas: 2", "replicas: 3"))
    clone.commit()
    git(clone.folder, "checkout", "--quiet", "--detach")
    for name in (first, first[:8], "v1", "HEAD~1", "main^", "@{-1}~1"):
        (comparison,) = clone.compare("jobs", against=f"git:{name}")
        assert comparison.differs, name
        assert comparison.against == f"git:{name} ({first[:7]})"


def test_the_clone_is_found_from_any_folder_and_linked_work_tree(
    clone: Clone, tmp_path: Path
) -> None:
    clone.write(PACKAGED)
    clone.write("print()\n", "jobs/train.py")
    clone.commit()
    os.chdir(clone.folder / "jobs")
    assert operations_of(clone.compare(".")) == {"fit": []}
    os.chdir(tmp_path)
    assert operations_of(clone.compare("clone/jobs/paddlejob.yaml")) == {"fit": []}
    assert operations_of(clone.compare("clone")) == {"fit": []}
    git(clone.folder, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert operations_of(clone.compare("linked/jobs", against="git:main")) == {"fit": []}


def test_variables_of_git_are_ignored(
    clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.write(SPEC)
    clone.commit()
    for name in ("DIR", "WORK_TREE", "INDEX_FILE", "OBJECT_DIRECTORY", "COMMON_DIR", "NAMESPACE"):
        monkeypatch.setenv(f"GIT_{name}", str(tmp_path / "elsewhere"))
    assert operations_of(clone.compare("jobs")) == {"fit": []}


def test_hooks_are_not_run(clone: Clone) -> None:
    clone.write(SPEC)
    clone.commit()
    for name in ("post-index-change", "post-checkout", "fsmonitor-watchman"):
        hook = clone.write(f"#!/bin/sh\ntouch {clone.folder}/ran\n", f".git/hooks/{name}")
        hook.chmod(0o755)
    git(clone.folder, "config", "core.splitIndex", "true")
    before = state(clone.folder)
    clone.compare("jobs")
    assert state(clone.folder) == before


@pytest.mark.parametrize("name", ["nowhere", "", "--help", "-h", "HEAD:jobs", "main^{tree}"])
def test_an_unknown_revision_is_reported(clone: Clone, name: str) -> None:
    clone.write(SPEC)
    clone.commit()
    with pytest.raises(OperationFailed) as error:
        clone.compare("jobs", against=f"git:{name}")
    assert error.value.message == f'unknown revision "{name}"'
    assert "git fetch" in str(error.value.hint)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("origin/main", "git fetch --depth=1 origin main"),
        ("v1", "git fetch --depth=1 origin v1"),
        ("HEAD~1", "git fetch --deepen=10"),
    ],
)
def test_a_shallow_clone_suggests_what_to_fetch(
    clone: Clone, tmp_path: Path, name: str, hint: str
) -> None:
    clone.write(SPEC)
    clone.commit()
    clone.commit()
    url = clone.folder.as_uri()
    git(tmp_path, "clone", "--quiet", "--depth=1", url, "shallow")
    shallow = Clone(tmp_path / "shallow")
    git(shallow.folder, "update-ref", "-d", "refs/remotes/origin/main")
    os.chdir(shallow.folder)
    with pytest.raises(OperationFailed, match="unknown revision") as error:
        shallow.compare("jobs", against=f"git:{name}")
    assert hint in str(error.value.hint)
    assert operations_of(shallow.compare("jobs")) == {"fit": []}


def test_a_partial_clone_does_not_fetch(clone: Clone, tmp_path: Path) -> None:
    clone.write(SPEC)
    clone.commit()
    clone.write(SPEC.replace("replicas: 2", "replicas: 3"))
    clone.commit()
    git(clone.folder, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", clone.folder.as_uri(), "partial")
    partial = Clone(tmp_path / "partial")
    os.chdir(partial.folder)
    before = state(partial.folder)
    with pytest.raises(OperationFailed) as error:
        partial.compare("jobs", against="git:HEAD~1")
    assert "git fetch --refetch" in str(error.value.hint)
    assert state(partial.folder) == before


def test_a_path_outside_a_repository_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "/")
    Clone(tmp_path).write(SPEC)
    with pytest.raises(OperationFailed, match="is not in a git repository") as error:
        Clone(tmp_path).compare("jobs")
    assert "--against DIR" in str(error.value.hint)


def test_a_bare_repository_has_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    monkeypatch.chdir(tmp_path / "bare.git")
    with pytest.raises(OperationFailed, match="is bare"):
        baseline.before(["-"], Choices(), "git:HEAD")


def test_missing_git_is_reported(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    clone.write(SPEC)
    monkeypatch.setenv("PATH", str(clone.folder))
    with pytest.raises(OperationFailed, match="git is not installed"):
        clone.compare("jobs")


def test_no_temporary_files_remain(
    clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    clone.write(SPEC)
    clone.commit()
    clone.compare("jobs")
    assert list(scratch.iterdir()) == []


def test_a_spec_from_standard_input_is_matched_by_job_name(clone: Clone) -> None:
    clone.write(SPEC)
    clone.commit()
    built = clone.built("jobs")
    piped = [job._replace(loaded=job.loaded._replace(file="-")) for job in built]
    before = baseline.before(["-"], Choices(), "git:HEAD", None, piped)
    assert operations_of(baseline.compare(piped, before)) == {"fit": []}


def test_only_required_files_are_checked_out(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    clone.write(PACKAGED)
    clone.write("print()\n", "jobs/train.py")
    clone.write("a lot\n", "elsewhere/data.csv")
    clone.commit()
    inputs: list[bytes] = []
    original = run

    def recorded(arguments: Any, cwd: str, text: bytes = b"", variables: Any = None) -> bytes:
        inputs.append(text)
        return original(arguments, cwd, text, variables)

    monkeypatch.setattr(repository, "run", recorded)
    clone.compare("jobs")
    unpacked = b"".join(inputs)
    assert b"jobs/train.py" in unpacked
    assert b"data.csv" not in unpacked


class TestFolders:
    def render(self, clone: Clone, *paths: str) -> None:
        write(changes(clone.built(*paths), "manifests"))

    def test_nothing_differs_from_what_was_rendered(self, clone: Clone) -> None:
        clone.write(PACKAGED)
        clone.write("print()\n", "jobs/train.py")
        clone.write(SPEC.replace("NAME}", "web, namespace: ads}"), "jobs/web/paddlejob.yaml")
        self.render(clone, "jobs")
        comparisons = clone.compare("jobs", against="manifests")
        assert operations_of(comparisons) == {"fit": [], "web": []}
        assert {comparison.against for comparison in comparisons} == {"manifests"}

    def test_deleted_jobs_count_if_a_folder_is_compared(self, clone: Clone) -> None:
        clone.write(SPEC)
        clone.write(SPEC, "jobs/web/paddlejob.yaml", job="web")
        self.render(clone, "jobs")
        shutil.rmtree(clone.folder / "jobs" / "web")
        assert operations_of(clone.compare("jobs", against="manifests")) == {
            "fit": [],
            "web": ["delete Job"],
        }
        comparisons = clone.compare("jobs/paddlejob.yaml", against="manifests")
        assert operations_of(comparisons) == {"fit": []}

    def test_manifests_can_be_any_yaml(self, clone: Clone) -> None:
        clone.write(SPEC)
        (built,) = clone.built("jobs")
        manifest_list = {"apiVersion": "v1", "kind": "List", "items": built.manifests}
        clone.write(json.dumps(manifest_list), "manifests/all.json")
        clone.write(
            "a: 1\n---\n- kind: Job\n---\nkind: Job\nmetadata: {name: x}\n", "manifests/x.yml"
        )
        assert operations_of(clone.compare("jobs", against="manifests")) == {"fit": []}

    def test_all_invalid_files_are_reported(self, clone: Clone) -> None:
        clone.write(SPEC)
        clone.write("a: [\n", "manifests/a.yaml")
        clone.write("a: 1\na: 2\n", "manifests/b.yaml")
        with pytest.raises(InvalidSpec) as error:
            clone.compare("jobs", against="manifests")
        files = [diagnostic.span.file for diagnostic in error.value.diagnostics]
        assert files == ["manifests/a.yaml", "manifests/b.yaml"]

    def test_a_missing_folder_is_rejected(self, clone: Clone) -> None:
        clone.write(SPEC)
        with pytest.raises(OperationFailed, match="nowhere is not a folder") as error:
            clone.compare("jobs", against="nowhere")
        assert "git:REV" in str(error.value.hint)
