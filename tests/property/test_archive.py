"""An archive unpacks to the same files, which are those that git would keep."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.package.archive import archive, archive_size
from paddlespec.package.collect import Collection, collect
from paddlespec.spec.frozen import job_of

NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=60
).filter(lambda name: name not in (".", "..", ".git"))
PATHS = st.lists(NAMES | st.just("long name " * 12), min_size=1, max_size=5).map("/".join)
CONTENTS = st.tuples(st.binary(max_size=1500), st.booleans())
PARTS = ["a", "b", "ab", "c.py", "d.py", "a b", "x "]
TREES = st.lists(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("/".join), max_size=12
)
GLOBS = [*PARTS, "*", "?", "a*", "[ab]", "**", "*.py", "[!a]", "[a-b]*", "\\a", "*\\ "]
PATTERNS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "!", "/", "!/"]),
    st.lists(st.sampled_from(GLOBS), min_size=1, max_size=3).map("/".join),
    st.sampled_from(["", "", "/", "/*", "/**", " "]),
)
IGNORED = st.lists(PATTERNS, max_size=5).map("\n".join)


def collected(folder: str, exclude: list[str]) -> Collection:
    package = job_of({"metadata": {}, "spec": {"package": {"exclude": exclude}}}).spec.package
    assert package is not None
    return collect(package, folder)


def write(top: Path, path: str, content: bytes = b"", mode: int = 0o644) -> None:
    """Write a file unless another file is in the way or the name is too long."""
    try:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(content)
        (top / path).chmod(mode)
    except OSError:
        pass


def tree(top: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(top).as_posix(): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in top.rglob("*")
        if path.is_file()
    }


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX names and modes")
@given(st.dictionaries(PATHS, CONTENTS, max_size=8), st.sampled_from([".", "demo", "a/b/c"]))
def test_an_archive_unpacks_to_the_same_tree(
    files: dict[str, tuple[bytes, bool]], into: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name, "source"), Path(name, "target")
        source.mkdir()
        for path, (content, executable) in files.items():
            write(source, path, content, 0o755 if executable else 0o644)
        collection = collected(str(source), ["!*"])
        assert collection.faults == ()
        data = archive(collection, into)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            tar.extractall(target, filter="data")
        assert tree(target / into) == tree(source)
        assert archive_size(collection, into) == len(data)


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
@given(TREES, IGNORED, st.sampled_from(PARTS), IGNORED)
def test_the_files_are_those_of_git(
    files: list[str], patterns: str, folder: str, nested: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        git("init", "-q", "--template=", name, cwd=name)
        for path in files:
            write(top, path)
        for path, content in ((".", patterns), (folder, nested)):
            if (top / path).is_dir():
                write(top, f"{path}/.gitignore", content.encode())
        output = git("ls-files", "-z", "--others", "--exclude-standard", cwd=name).split("\0")
        kept = sorted(path for path in output if path and not path.endswith(".gitignore"))
        collection = collected(name, ["**/.gitignore"])
        assert collection.faults == ()
        assert [file.path for file in collection.files] == kept


def git(*arguments: str, cwd: str) -> str:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": cwd}
    command = ["git", "-c", "core.excludesFile=", *arguments]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=True)
    return done.stdout.decode()
