"""Repositories that want to run programs, or to use up the machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from in_process import command

from paddlespec.git import repository, run, snapshot
from paddlespec.git.provenance import provenance
from paddlespec.pipeline import Choices
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata: {name: fit}
spec: {mode: parallel, image: 'python:3.11', command: python train.py}
"""
PROGRAMS = ("clean", "smudge", "process")

pytestmark = pytest.mark.skipif(
    not shutil.which("git") or os.name == "nt", reason="needs git and a shell"
)


def git(folder: Path, *arguments: str, text: str = "") -> str:
    me = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    done = subprocess.run(
        ["git", *me, *arguments],
        cwd=folder,
        input=text,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "--quiet")
    monkeypatch.chdir(folder)
    repository.head.cache_clear()
    return folder


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "a change")
    return git(folder, "rev-parse", "HEAD")


def touched(folder: Path) -> None:
    """Let git compare every file by its content."""
    for path in folder.rglob("*"):
        if ".git" not in path.parts and path.is_file():
            os.utime(path, (1, 1))


def embedded(clone: Path) -> Path:
    """Commit a bare repository as files, which names programs for every file beside it."""
    inner = clone / "emb"
    trap = f"touch {clone.parent}/ran-"
    git(clone, "init", "--quiet", "--bare", "emb")
    shutil.rmtree(inner / "hooks")
    (inner / "paddlejob.yaml").write_text(SPEC)
    (inner / "attributes").write_text("* filter=x diff=x\n")
    bare = {
        "core.bare": "false",
        "core.worktree": str(inner),
        "core.attributesFile": str(inner / "attributes"),
        "core.fsmonitor": trap + "fsmonitor",
        "core.hooksPath": str(inner / "programs"),
        "core.pager": trap + "pager",
        "diff.x.textconv": trap + "textconv",
        **{f"filter.x.{name}": trap + name for name in PROGRAMS},
    }
    (inner / "programs").mkdir()
    hook = inner / "programs" / "post-index-change"
    hook.write_text(f"#!/bin/sh\n{trap}hook\n")
    hook.chmod(0o755)
    git(inner, "--git-dir=.", "--work-tree=.", "add", "paddlejob.yaml")
    git(inner, "--git-dir=.", "--work-tree=.", "commit", "--quiet", "-m", "trap")
    for name, value in bare.items():
        git(inner, "config", "--file", "config", name, value)
    return inner


def test_an_embedded_repository_is_none_without_another(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = embedded(clone)
    shutil.rmtree(clone / ".git")
    touched(inner)
    for settings in run._SETTINGS, run._SETTINGS[:-1]:  # as git before 2.38
        monkeypatch.setattr(run, "_SETTINGS", settings)
        repository.head.cache_clear()
        assert provenance(str(inner / "paddlejob.yaml"), {}).commit is None
    assert traps(clone) == []


def traps(clone: Path) -> list[str]:
    return sorted(path.name for path in clone.parent.glob("ran-*"))


def test_the_trap_works(clone: Path) -> None:
    inner = embedded(clone)
    touched(inner)
    subprocess.run(["git", "status"], cwd=inner, check=False, capture_output=True)
    assert traps(clone)


@pytest.mark.parametrize("where", ["emb", "."])
def test_no_program_of_an_embedded_repository_is_run(
    clone: Path, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = embedded(clone)
    known = commit(clone)
    touched(inner)
    monkeypatch.chdir(where)
    recorded = provenance("paddlejob.yaml" if where == "emb" else "emb/paddlejob.yaml", {})
    assert (recorded.commit, recorded.dirty) == (known, False)
    assert recorded.file == "emb/paddlejob.yaml"
    assert command("validate", ".") == 0
    assert command("render", ".", "--preview") == 0
    assert command("diff", ".", "--against", "git:HEAD") == 0
    assert traps(clone) == []


@pytest.mark.parametrize("required", ["true", "false"])
def test_no_filter_of_the_clone_is_run(clone: Path, required: str) -> None:
    (clone / "paddlejob.yaml").write_text(SPEC)
    (clone / ".gitattributes").write_text("*.yaml filter=x\n")
    known = commit(clone)
    for name in PROGRAMS:
        git(clone, "config", f"filter.x.{name}", f"touch {clone.parent}/ran-{name}; cat")
    git(clone, "config", "filter.x.required", required)
    git(clone, "config", "core.fsmonitor", f"touch {clone.parent}/ran-fsmonitor")
    touched(clone)
    recorded = provenance("paddlejob.yaml", {})
    assert (recorded.commit, recorded.dirty) == (known, False)
    assert traps(clone) == []


def test_large_files_are_compared_with_their_pointers(clone: Path) -> None:
    content = b"weights\n" * 100
    digest = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 800\n"
    (clone / ".gitattributes").write_text("*.bin filter=lfs\n")
    (clone / "model.bin").write_text(pointer)
    known = commit(clone)
    (clone / "model.bin").write_bytes(content)
    assert repository.head(".") == (known, False)
    repository.head.cache_clear()
    (clone / "model.bin").write_bytes(content + b"more")
    assert repository.head(".") == (known, True)


def bomb(clone: Path, levels: int) -> str:
    """Commit 10 ** *levels* files as one tree and one file per level."""
    name = git(clone, "hash-object", "-w", "--stdin", text=SPEC)
    kind = "100644 blob"
    for _ in range(levels):
        entries = "".join(f"{kind} {name}\t{digit}.yaml\n" for digit in range(10))
        name, kind = git(clone, "mktree", text=entries), "040000 tree"
    return git(clone, "commit-tree", "-m", "bomb", name)


def test_a_bomb_of_trees_is_refused(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (clone / "paddlejob.yaml").write_text(SPEC)
    commit(clone)
    assert command("diff", "paddlejob.yaml", "--against", f"git:{bomb(clone, 8)}") == 3
    assert "git answers more than 64 MiB" in capsys.readouterr().err


class TestBounds:
    """Each bound alone, made small."""

    @pytest.fixture(autouse=True)
    def one_file(self, clone: Path) -> None:
        (clone / "paddlejob.yaml").write_text(SPEC)
        (clone / "more.yaml").write_text(SPEC.replace("fit", "more"))
        commit(clone)

    def refusal(self) -> str:
        from paddlespec.git.baseline import before

        with pytest.raises(OperationFailed) as caught:
            before(["."], Choices(), "git:HEAD")
        assert caught.value.hint == "compare with a folder of manifests: --against DIR"
        return str(caught.value)

    def test_the_size_of_an_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(run, "MAX_ANSWER_BYTES", 100)
        assert "git answers more than" in self.refusal()

    def test_the_time_of_an_answer(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        slow = tmp_path / "bin" / "git"
        slow.parent.mkdir()
        slow.write_text("#!/bin/sh\nexec sleep 600\n")
        slow.chmod(0o755)
        monkeypatch.setenv("PATH", str(slow.parent), prepend=os.pathsep)
        monkeypatch.setattr(run, "MAX_SECONDS", 0.1)
        assert "git takes more than" in self.refusal()

    def test_the_number_of_files(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(snapshot, "MAX_FILES", 1)
        assert self.refusal() == "the revision has more than 1 files"

    def test_the_number_of_files_that_are_checked_out(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(snapshot, "MAX_CHECKOUT_FILES", 1)
        assert self.refusal() == "more than 1 files of the revision are needed"

    def test_the_bytes_that_are_checked_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(snapshot, "MAX_CHECKOUT_BYTES", 100)
        assert "the files of the revision have more than" in self.refusal()

    def test_large_files_are_not_searched_for_jobs(self, clone: Path) -> None:
        (clone / "large.yaml").write_text(SPEC.replace("fit", "large") + "#" * (4 << 20))
        commit(clone)
        taken = snapshot.Snapshot(repository.repository("."), "HEAD", str(clone.parent / "taken"))
        assert taken.mentioning(b"paddlespec.io/") == ["more.yaml", "paddlejob.yaml"]


def test_contents_are_read_in_batches(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "_BATCH_BYTES", 10)
    texts = [b"", b"\n\n", b"a" * 30, b"12345", b"last"]
    names = []
    for text in texts:
        (clone / "file").write_bytes(text)
        names.append(git(clone, "hash-object", "-w", "file"))
    here = repository.repository(".")
    assert list(here.contents(here.sizes(names))) == list(zip(names, texts))
