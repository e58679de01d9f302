"""Patterns of ignore files: what git means by them, in a time that nobody can prolong."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from paddlespec.package import ignore, walk
from paddlespec.package.collect import collect
from paddlespec.package.glob import translate
from paddlespec.spec.frozen import job_of

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("a", "b", "ab", "a.b", "a-b", "[a]", "a b", "aab", "a]b", "!a", "#a", "^a", "A", "1")
# Parts of patterns; two stars are a segment of their own, because git versions differ otherwise.
PARTS = (
    *("a", "b", "*", "?", "/", "-", "\\", "!", "d", "e", "f", ".", "1", "#", " ", "[", "]"),
    *("/**/", "[a-b]", "[!a]", "[^b]", "[]a]", "[!]a]", "[a\\]]", "[b-a]", "[\\a]", "[a-]"),
    *("[--1]", "[[:alpha:]]", "[[:digit:]]", "[[:foo:]]"),
)


def messages(folder: Path, exclude: list[str] | None = None) -> list[str]:
    fields = {"metadata": {"name": "a"}, "spec": {"package": {"exclude": exclude or []}}}
    package = job_of(fields).spec.package
    assert package is not None
    return [fault.message for fault in collect(package, str(folder)).faults]


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        pytest.param("*a" * 13 + "b", "a" * 120 + ".txt", id="stars"),
        pytest.param("*a" * 500 + "b", "a" * 255, id="many-stars"),
        pytest.param("[a-z]*" * 100 + "1", "a" * 255, id="classes"),
        pytest.param("**/a/" * 6 + "**/b", "a/" * 60 + "c", id="folders"),
        pytest.param("**/a/" * 200 + "b", "a/" * 2000 + "c", id="many-folders"),
        pytest.param("**/" + "*a/" * 300 + "b", "a/" * 2000 + "c", id="stars-in-folders"),
    ],
)
def test_no_pattern_takes_exponential_time(pattern: str, path: str) -> None:
    glob = translate(pattern)
    assert glob is not None
    assert glob.regex.fullmatch(path) is None


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*a*b", "xaxaxb", True),
        ("*ab*ab", "abxab", True),
        ("*ab*ab", "xab", False),
        ("a*", "a/b", False),
        ("/a**b", "axxb", True),
        ("/**/a", "x/y/a", True),
        ("a/**/b", "a/b", True),
        ("a/**/b/**/c", "a/x/b/b/y/c", True),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("**/*.py", "a\nb/c.py", True),
        ("[!a]", "/", False),
        ("[[:alpha:]-]x", "-x", True),
    ],
)
def test_a_pattern_matches_whole_paths(pattern: str, path: str, matches: bool) -> None:
    glob = translate(pattern)
    assert glob is not None
    assert (glob.regex.fullmatch(path) is not None) is matches


@pytest.mark.skipif(not shutil.which("git") or os.name == "nt", reason="needs git")
@pytest.mark.parametrize("seed", range(5))
def test_random_patterns_mean_what_git_means(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet", "."], check=True)
    for folder in (".", *(f"{top}/{sub}" for top in ("d", "dd", "x") for sub in (".", "e/a"))):
        os.makedirs(folder, exist_ok=True)
        for name in NAMES if folder == "." else ("f", "ab", "1", "]"):
            (tmp_path / folder / name).touch()
    drawn = random.Random(seed)
    package = job_of({"metadata": {"name": "a"}, "spec": {"package": {}}}).spec.package
    assert package is not None
    compared = 0
    while compared < 60:
        lines = [
            "".join(drawn.choices(PARTS, k=drawn.randint(1, 6))) for _ in range(drawn.randint(1, 3))
        ]
        text = "\n".join(lines) + "\n"
        # Our own ignore files are never included, and git 2.39 misreads these.
        if "//" in text or "!*" in text or "!/*" in text or any("**" in line for line in lines[1:]):
            continue
        (tmp_path / ".gitignore").write_text(text)
        collection = collect(package, ".")
        if collection.faults:
            continue
        listed = subprocess.run(
            ["git", "ls-files", "--others", "-z", "--exclude-per-directory=.gitignore"],
            check=True,
            capture_output=True,
        ).stdout.decode()
        expected = {path for path in listed.split("\0") if path and path != ".gitignore"}
        assert {file.path for file in collection.files} == expected, lines
        compared += 1


class TestBounds:
    """Each bound alone, made small."""

    @pytest.fixture(autouse=True)
    def some_files(self, tmp_path: Path) -> None:
        for name in "abc":
            (tmp_path / name).touch()

    def test_the_length_of_a_pattern(self, tmp_path: Path) -> None:
        (tmp_path / ".gitignore").write_text(f"a\n{'b' * 1_025}\n")
        assert messages(tmp_path) == ["the pattern at .gitignore:2 is longer than 1,024 characters"]
        (tmp_path / ".gitignore").write_text(f"a\n{'b' * 1_024}\n")
        assert messages(tmp_path) == []

    @pytest.mark.parametrize("where", ["exclude", ".gitignore"])
    def test_the_number_of_patterns(
        self, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ignore, "MAX_PATTERNS", 2)
        exclude = ["x", "y", "z"] if where == "exclude" else []
        (tmp_path / ".gitignore").write_text("" if exclude else "x\ny\nz\n")
        expected = "the ignore files have too many patterns for so many files"
        assert messages(tmp_path, exclude) == [expected]
        assert messages(tmp_path, exclude[:2]) == ([] if exclude else [expected])

    def test_the_work_of_matching(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / ".gitignore").write_text("x\ny\n")
        monkeypatch.setattr(ignore, "MAX_WORK", 8)  # four files
        assert messages(tmp_path) == []
        monkeypatch.setattr(ignore, "MAX_WORK", 7)
        assert "too many patterns" in messages(tmp_path)[0]

    def test_long_paths_are_more_work(self) -> None:
        budget = ignore.Budget()
        rules, _ = ignore.parse(["**/*a"], 0, budget)
        ignore.decide([rules], "a/" * 64, is_folder=False, budget=budget)
        assert ignore.MAX_WORK - budget.work == 1 + 3 * 2

    def test_the_number_of_ignored_files(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".gitignore").write_text("*\n")
        monkeypatch.setattr(walk, "MAX_ENTRIES", 3)
        assert messages(tmp_path) == ["more than 3 files, most of which are ignored"]

    def test_the_size_of_an_ignore_file(self, tmp_path: Path) -> None:
        with open(tmp_path / ".paddleignore", "w", encoding="utf-8") as file:
            file.truncate(20 << 30)
        assert messages(tmp_path) == [".paddleignore is larger than 1 MiB"]
