"""Jobs as they were: in real repositories, which stay as they are, and in folders of manifests."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from paddlespec import repository, revision
from paddlespec.backend import OperationFailed
from paddlespec.cli.folder import changes, write
from paddlespec.diagnostic import InvalidSpec
from paddlespec.diff import Comparison, Operation
from paddlespec.files import Files
from paddlespec.pipeline import Built, Choices, build, load
from paddlespec.template import Templates

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
    """A clone with specs, and what is asked of it."""

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
        wanted = Choices(**choices)
        before = revision.before(list(paths), wanted, against, templates, built)
        return revision.compare(built, before)

    def built(self, *paths: str, templates: str | None = None, **choices: Any) -> list[Built]:
        found = []
        for name in Files().specs(paths)[0]:
            jobs, faults = load(name, Files(), Choices(**choices))
            assert not faults
            found += [build(each, Templates(templates)) for each in jobs]
        return found


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main", ".")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    return Clone(folder)


def told(comparisons: list[Comparison]) -> dict[str, list[str]]:
    """The operations on each job's objects, without those that stay."""
    return {
        each.job: [
            f"{row.change.operation.value} {row.change.identity.kind}"
            for row in each.rows
            if row.change.operation is not Operation.keep
        ]
        for each in comparisons
    }


def fields(comparisons: list[Comparison]) -> dict[str, tuple[Any, Any]]:
    return {
        str(field.path[-1]): (field.before, field.after)
        for each in comparisons
        for row in each.rows
        for field in row.change.fields
    }


def state(folder: Path) -> dict[str, str]:
    """Every file of a clone, .git with its index included, by its bytes, mode and time."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = Path(where) / name
            status = path.lstat()
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            found[str(path)] = f"{status.st_mode} {status.st_mtime_ns} {digest}"
    return found


def test_nothing_differs_from_what_was_committed(clone: Clone) -> None:
    clone.write(PACKAGED)
    clone.write("print()\n", "jobs/train.py")
    commit = clone.commit()
    (comparison,) = clone.compare("jobs")
    assert (comparison.differs, comparison.namespace) == (False, None)
    assert comparison.against == f"git:HEAD ({commit[:7]})"
    assert len(comparison.rows) == 2


def test_a_change_of_the_work_tree_is_seen_and_nothing_is_touched(clone: Clone) -> None:
    clone.write(PACKAGED)
    clone.write("print(1)\n", "jobs/train.py")
    clone.commit()
    clone.write(PACKAGED.replace("replicas: 2", "replicas: 3"))
    clone.write("print(2)\n", "jobs/train.py")
    git(clone.folder, "add", "jobs/train.py")
    clone.write("print(3)\n", "jobs/train.py")
    before = state(clone.folder)
    found = clone.compare("jobs/paddlejob.yaml")
    assert state(clone.folder) == before
    assert told(found) == {"fit": ["create ConfigMap", "replace Job", "delete ConfigMap"]}
    assert fields(found)["parallelism"] == (2, 3)


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
    found = clone.compare(
        "jobs", overlays=("prod.yaml",), updates=("env.B=@value.txt", "env.C=@value.txt")
    )
    differing = [row.change for row in found[0].rows if row.change.fields]
    assert {(str(each.path[-2]), each.before, each.after) for each in differing[0].fields} >= {
        ("A", "OLD", "NEW"),
        ("B", "OLD", "NEW"),
        ("C", "OLD", "NEW"),
        ("spec", 4, 5),
    }


def test_templates_are_those_of_the_revision(clone: Clone) -> None:
    clone.write(SPEC)
    bundled = Path(__file__).parents[2] / "templates" / "kubernetes" / "job.yaml.j2"
    own = bundled.read_text(encoding="utf-8")
    clone.write(own, "mine/kubernetes/job.yaml.j2")
    clone.commit()
    clone.write(own.replace("kind: Job", "kind: Work"), "mine/kubernetes/job.yaml.j2")
    found = clone.compare("jobs", templates="mine")
    assert told(found) == {"fit": ["create Work", "delete Job"]}


def test_an_overlay_that_is_new_is_what_changes(clone: Clone) -> None:
    clone.write(SPEC)
    clone.commit()
    clone.write(OVERLAY.replace("4", "5"), "prod.yaml")
    found = clone.compare("jobs", overlays=("prod.yaml",))
    assert fields(found)["parallelism"] == (2, 5)
    assert found[0].against.endswith(", without prod.yaml, which was not there")


def test_specs_that_come_and_go(clone: Clone) -> None:
    clone.write(SPEC, "jobs/old/paddlejob.yaml", job="old")
    clone.write(SPEC, "jobs/same/paddlejob.yaml", job="same")
    clone.commit()
    shutil.rmtree(clone.folder / "jobs" / "old")
    clone.write(SPEC, "jobs/new/paddlejob.yaml", job="new")
    assert told(clone.compare("jobs")) == {"new": ["create Job"], "same": [], "old": ["delete Job"]}


@pytest.mark.parametrize("path", ["jobs", "jobs/renamed/any.yaml"])
def test_a_renamed_spec_is_known_by_the_name_of_its_job(clone: Clone, path: str) -> None:
    old = clone.write(SPEC)
    clone.write(SPEC, "other/paddlejob.yaml", job="other")
    clone.commit()
    old.unlink()
    clone.write(SPEC.replace("replicas: 2", "replicas: 3"), "jobs/renamed/any.yaml")
    assert told(clone.compare(path)) == {"fit": ["replace Job"]}


def test_a_spec_that_came_from_another_folder_is_found_there(clone: Clone) -> None:
    clone.write(PACKAGED, "a/paddlejob.yaml")
    clone.write("print()\n", "a/train.py")
    clone.write(SPEC, "a/other/paddlejob.yaml", job="unrelated")
    clone.commit()
    git(clone.folder, "mv", "a", "b")
    assert told(clone.compare("b/paddlejob.yaml")) == {"fit": []}


def test_another_namespace_is_another_job(clone: Clone) -> None:
    clone.write(SPEC)
    clone.commit()
    clone.write(SPEC.replace("{name: NAME}", "{name: NAME, namespace: ads}"))
    found = clone.compare("jobs")
    assert [(each.job, each.namespace) for each in found] == [("fit", "ads"), ("fit", None)]


def test_a_spec_that_was_not_valid_is_created_and_said_to_have_been(clone: Clone) -> None:
    clone.write(SPEC.replace("image:", "imago:"))
    clone.write("a: [\n", "jobs/paddlejob-2.yaml")
    clone.commit()
    clone.write(SPEC)
    clone.write(SPEC, "jobs/paddlejob-2.yaml", job="broken")
    broken, fit = clone.compare("jobs")
    assert told([broken, fit]) == {"fit": ["create Job"], "broken": ["create Job"]}
    assert (
        ", where the spec was not valid: jobs/paddlejob.yaml:4:1: spec.image is missing"
        in fit.against
    )
    assert ", where the spec was not valid: jobs/paddlejob-2.yaml:2:1: " in broken.against
    assert not fit.problems


def test_what_is_ignored_stays_behind_on_both_sides(clone: Clone) -> None:
    clone.write(PACKAGED)
    clone.write("data/\n", ".paddleignore")
    clone.write("print()\n", "jobs/train.py")
    clone.write("1\n", "jobs/data/1.csv")
    clone.commit()
    clone.write("2\n", "jobs/data/1.csv")
    assert told(clone.compare("jobs")) == {"fit": []}


def test_line_ends_and_executable_bits_are_those_of_a_work_tree(clone: Clone) -> None:
    clone.write(PACKAGED)
    clone.write("*.bat text eol=crlf\n", ".gitattributes")
    clone.write("echo\n", "jobs/run.bat")
    clone.write("echo\n", "jobs/run.sh").chmod(0o755)
    clone.commit()
    (clone.folder / "jobs/run.bat").unlink()
    git(clone.folder, "checkout", "jobs/run.bat")
    assert (clone.folder / "jobs/run.bat").read_bytes() == b"echo\r\n"
    assert told(clone.compare("jobs")) == {"fit": []}


def test_links_are_followed_within_the_revision(clone: Clone) -> None:
    clone.write(SPEC + "  package: {path: code}\n", "shared/spec.yaml")
    clone.write("print()\n", "shared/code/train.py")
    jobs = clone.folder / "jobs"
    jobs.mkdir()
    (jobs / "paddlejob.yaml").symlink_to("../shared/spec.yaml")
    (jobs / "code").symlink_to(clone.folder / "shared" / "code")
    clone.commit()
    assert told(clone.compare("jobs")) == {"fit": []}
    clone.write("print(2)\n", "shared/code/train.py")
    expected = ["create ConfigMap", "replace Job", "delete ConfigMap"]
    assert told(clone.compare("jobs")) == {"fit": expected}


def test_code_beside_the_repository_is_what_it_is_now(clone: Clone) -> None:
    clone.write(SPEC + "  package: {path: ../../beside}\n")
    clone.write("print()\n", "../beside/train.py")
    clone.commit()
    assert told(clone.compare("jobs")) == {"fit": []}


def test_filters_are_not_run_and_what_they_hide_is_told(clone: Clone) -> None:
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


def test_large_files_are_taken_from_where_the_clone_keeps_them(clone: Clone) -> None:
    content = b"weights\n" * 100
    digest = hashlib.sha256(content).hexdigest()
    pointer = (
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"
    )
    clone.write(PACKAGED)
    clone.write("*.bin filter=lfs\n", ".gitattributes")
    clone.write(pointer, "jobs/model.bin")
    clone.commit()
    assert told(clone.compare("jobs")) == {"fit": []}, "a pointer on both sides"
    (clone.folder / "jobs/model.bin").write_bytes(content)
    (comparison,) = clone.compare("jobs")
    assert comparison.differs
    told_so = ", without the content of jobs/model.bin, which Git LFS keeps elsewhere"
    assert comparison.against.endswith(told_so)
    stored = clone.folder / ".git/lfs/objects" / digest[:2] / digest[2:4] / digest
    stored.parent.mkdir(parents=True)
    stored.write_bytes(content)
    assert told(clone.compare("jobs")) == {"fit": []}


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
    assert told(clone.compare("jobs")) == {"fit": []}
    clone.write("print(2)\n", "jobs/ops/ops.py")
    expected = ["create ConfigMap", "replace Job", "delete ConfigMap"]
    assert told(clone.compare("jobs")) == {"fit": expected}
    git(clone.folder / "jobs/ops", "commit", "--quiet", "--all", "-m", "a change")
    assert told(clone.compare("jobs")) == {"fit": expected}
    clone.commit()
    assert told(clone.compare("jobs")) == {"fit": []}
    assert told(clone.compare("jobs", against="git:HEAD~1")) == {"fit": expected}


def test_a_submodule_that_was_removed_is_still_read(with_submodule: Clone) -> None:
    git(with_submodule.folder, "rm", "--quiet", "jobs/ops")
    with_submodule.write("print()\n", "jobs/train.py")
    (comparison,) = with_submodule.compare("jobs")
    archives = [row.change.before for row in comparison.rows if row.change.after is None]
    assert archives[0] is not None
    assert archives[0]["kind"] == "ConfigMap"
    assert "without" not in comparison.against


def test_a_submodule_that_is_not_here_is_told(with_submodule: Clone, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(with_submodule.folder), "bare-bones")
    os.chdir(tmp_path / "bare-bones")
    clone = Clone(tmp_path / "bare-bones")
    clone.write("print()\n", "jobs/train.py")
    (comparison,) = clone.compare("jobs")
    assert comparison.against.endswith(", without the submodule jobs/ops, which is not here")


def test_any_name_of_a_commit_will_do(clone: Clone) -> None:
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


def test_from_any_folder_and_a_linked_work_tree(clone: Clone, tmp_path: Path) -> None:
    clone.write(PACKAGED)
    clone.write("print()\n", "jobs/train.py")
    clone.commit()
    os.chdir(clone.folder / "jobs")
    assert told(clone.compare(".")) == {"fit": []}
    os.chdir(tmp_path)
    assert told(clone.compare("clone/jobs/paddlejob.yaml")) == {"fit": []}
    assert told(clone.compare("clone")) == {"fit": []}
    git(clone.folder, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert told(clone.compare("linked/jobs", against="git:main")) == {"fit": []}


def test_variables_of_git_do_not_lead_astray(
    clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.write(SPEC)
    clone.commit()
    for name in ("DIR", "WORK_TREE", "INDEX_FILE", "OBJECT_DIRECTORY", "COMMON_DIR", "NAMESPACE"):
        monkeypatch.setenv(f"GIT_{name}", str(tmp_path / "elsewhere"))
    assert told(clone.compare("jobs")) == {"fit": []}


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
def test_what_names_no_commit_is_told(clone: Clone, name: str) -> None:
    clone.write(SPEC)
    clone.commit()
    with pytest.raises(OperationFailed) as error:
        clone.compare("jobs", against=f"git:{name}")
    assert error.value.message == f'no commit here is called "{name}"'
    assert "git fetch" in str(error.value.hint)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("origin/main", "`git fetch --depth=1 origin main`"),
        ("v1", "`git fetch --depth=1 origin v1`"),
        ("HEAD~1", "`git fetch --deepen=10`"),
    ],
)
def test_a_shallow_clone_says_what_to_fetch(
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
    with pytest.raises(OperationFailed, match="no commit here is called") as error:
        shallow.compare("jobs", against=f"git:{name}")
    assert hint in str(error.value.hint)
    assert told(shallow.compare("jobs")) == {"fit": []}


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
    assert "the clone lacks objects" in str(error.value.hint)
    assert state(partial.folder) == before


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "/")
    Clone(tmp_path).write(SPEC)
    with pytest.raises(OperationFailed, match="is in no git repository") as error:
        Clone(tmp_path).compare("jobs")
    assert "--against DIR" in str(error.value.hint)


def test_a_bare_repository_has_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    monkeypatch.chdir(tmp_path / "bare.git")
    with pytest.raises(OperationFailed, match="is bare"):
        revision.before(["-"], Choices(), "git:HEAD")


def test_without_git(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    clone.write(SPEC)
    monkeypatch.setenv("PATH", str(clone.folder))
    with pytest.raises(OperationFailed, match="git is not installed"):
        clone.compare("jobs")


def test_nothing_is_left_behind(
    clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    clone.write(SPEC)
    clone.commit()
    clone.compare("jobs")
    assert list(scratch.iterdir()) == []


def test_a_spec_from_standard_input_is_known_by_its_name(clone: Clone) -> None:
    clone.write(SPEC)
    clone.commit()
    built = clone.built("jobs")
    piped = [each._replace(loaded=each.loaded._replace(file="-")) for each in built]
    before = revision.before(["-"], Choices(), "git:HEAD", None, piped)
    assert told(revision.compare(piped, before)) == {"fit": []}


def test_only_what_is_needed_is_unpacked(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    clone.write(PACKAGED)
    clone.write("print()\n", "jobs/train.py")
    clone.write("a lot\n", "elsewhere/data.csv")
    clone.commit()
    given: list[bytes] = []
    original = repository._git

    def recorded(arguments: Any, cwd: str, text: bytes = b"", variables: Any = None) -> bytes:
        given.append(text)
        return original(arguments, cwd, text, variables)

    monkeypatch.setattr(repository, "_git", recorded)
    clone.compare("jobs")
    unpacked = b"".join(given)
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
        found = clone.compare("jobs", against="manifests")
        assert told(found) == {"fit": [], "web": []}
        assert {each.against for each in found} == {"manifests"}

    def test_jobs_that_are_gone_count_where_a_folder_was_given(self, clone: Clone) -> None:
        clone.write(SPEC)
        clone.write(SPEC, "jobs/web/paddlejob.yaml", job="web")
        self.render(clone, "jobs")
        shutil.rmtree(clone.folder / "jobs" / "web")
        assert told(clone.compare("jobs", against="manifests")) == {
            "fit": [],
            "web": ["delete Job"],
        }
        found = clone.compare("jobs/paddlejob.yaml", against="manifests")
        assert told(found) == {"fit": []}

    def test_any_yaml_of_our_objects_will_do(self, clone: Clone) -> None:
        clone.write(SPEC)
        (built,) = clone.built("jobs")
        listed = {"apiVersion": "v1", "kind": "List", "items": built.manifests}
        clone.write(json.dumps(listed), "manifests/all.json")
        clone.write(
            "a: 1\n---\n- kind: Job\n---\nkind: Job\nmetadata: {name: x}\n", "manifests/x.yml"
        )
        assert told(clone.compare("jobs", against="manifests")) == {"fit": []}

    def test_broken_files_are_told_all_at_once(self, clone: Clone) -> None:
        clone.write(SPEC)
        clone.write("a: [\n", "manifests/a.yaml")
        clone.write("a: 1\na: 2\n", "manifests/b.yaml")
        with pytest.raises(InvalidSpec) as error:
            clone.compare("jobs", against="manifests")
        files = [each.span.file for each in error.value.diagnostics]
        assert files == ["manifests/a.yaml", "manifests/b.yaml"]

    def test_no_such_folder(self, clone: Clone) -> None:
        clone.write(SPEC)
        with pytest.raises(OperationFailed, match="nowhere is not a folder") as error:
            clone.compare("jobs", against="nowhere")
        assert "git:REV" in str(error.value.hint)
