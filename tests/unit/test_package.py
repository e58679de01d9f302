"""The files, bytes and delivery of a package."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from paddlespec.diagnostic import Severity
from paddlespec.package import collect as collecting
from paddlespec.package import walk
from paddlespec.package.archive import (
    MAX_CLIENT_SIDE_BYTES,
    MAX_CONFIG_MAP_BYTES,
    archive,
    archive_size,
    digest,
)
from paddlespec.package.collect import collect, requirements
from paddlespec.package.delivery import delivery
from paddlespec.spec.frozen import job_of

if TYPE_CHECKING:
    from paddlespec.model.run import Package
    from paddlespec.package.collect import Collection

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX files")


def package(**fields: Any) -> Package:
    result = job_of({"metadata": {"name": "a"}, "spec": {"package": fields}}).spec.package
    assert result is not None
    return result


def write(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
    return folder


def touch(folder: Path, *names: str) -> Path:
    return write(folder, **dict.fromkeys(names, "x"))


def collected(folder: Path, **fields: Any) -> Collection:
    return collect(package(**fields), str(folder))


def paths(folder: Path, **fields: Any) -> list[str]:
    collection = collected(folder, **fields)
    assert collection.faults == ()
    return [file.path for file in collection.files]


def messages(folder: Path, **fields: Any) -> list[str]:
    return [fault.message for fault in collected(folder, **fields).faults]


def members(data: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        entries = tar.getmembers()
    assert len({entry.name for entry in entries}) == len(entries)
    return {entry.name: entry for entry in entries}


# --- which files


def test_files_are_collected_in_order_of_paths(tmp_path: Path) -> None:
    touch(tmp_path, "train.py", "demo/b.py", "demo/a.py", "demo-2/c.py", ".env")
    collection = collected(tmp_path)
    assert [file.path for file in collection.files] == [
        ".env",
        "demo-2/c.py",
        "demo/a.py",
        "demo/b.py",
        "train.py",
    ]
    assert collection.total == 5
    assert collection.faults == ()


def test_a_file_has_size_source_and_executable_flag(tmp_path: Path) -> None:
    write(tmp_path, **{"run.sh": "#!/bin/sh\n", "train.py": ""})
    (tmp_path / "run.sh").chmod(0o700)
    (tmp_path / "train.py").chmod(0o664)
    run, train = collected(tmp_path).files
    assert run == ("run.sh", os.path.realpath(tmp_path / "run.sh"), 10, os.name != "nt")
    assert (train.size, train.executable) == (0, False)


def test_a_folder_is_relative_to_the_spec(tmp_path: Path) -> None:
    touch(tmp_path, "jobs/ignored.py", "code/train.py")
    assert [
        file.path for file in collect(package(path="../code"), str(tmp_path / "jobs")).files
    ] == ["train.py"]


def test_an_empty_folder_means_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path, "train.py")
    monkeypatch.chdir(tmp_path)
    assert [file.path for file in collect(package(), "").files] == ["train.py"]


def test_git_and_compiled_python_are_left_out(tmp_path: Path) -> None:
    touch(
        tmp_path,
        ".git/config",
        "sub/.git",
        "__pycache__/a.cpython-311.pyc",
        "sub/__pycache__/b",
        "old.pyc",
        "a.py",
    )
    assert paths(tmp_path) == ["a.py"]


def test_specs_and_ignore_files_are_left_out_unless_included(tmp_path: Path) -> None:
    touch(tmp_path, "paddlejob.yaml", "paddlejob-big.yml", ".paddlespec.yaml", "sub/paddlejob.yaml")
    write(tmp_path, **{".gitignore": "\n", "a.py": "", "config.yaml": ""})
    assert paths(tmp_path) == ["a.py", "config.yaml"]
    assert paths(tmp_path, exclude=["!/paddlejob.yaml"]) == [
        "a.py",
        "config.yaml",
        "paddlejob.yaml",
    ]


def test_the_spec_itself_is_left_out_whatever_its_name(tmp_path: Path) -> None:
    touch(tmp_path, "train.yaml", "sub/train.yaml")
    collection = collect(package(), str(tmp_path), str(tmp_path / "train.yaml"))
    assert [file.path for file in collection.files] == ["sub/train.yaml"]


def test_empty_folders_are_left_out(tmp_path: Path) -> None:
    touch(tmp_path, "a.py")
    (tmp_path / "out").mkdir()
    assert list(members(archive(collected(tmp_path), "."))) == ["a.py"]


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        pytest.param("", ["a.csv", "a.py", "data/a.csv", "data/b/a.py"], id="nothing"),
        pytest.param(
            "# a.py\n\n  \n", ["a.csv", "a.py", "data/a.csv", "data/b/a.py"], id="comment"
        ),
        pytest.param("*.csv", ["a.py", "data/b/a.py"], id="at-every-depth"),
        pytest.param("/*.csv", ["a.py", "data/a.csv", "data/b/a.py"], id="at-the-top"),
        pytest.param("data/", ["a.csv", "a.py"], id="folder"),
        pytest.param("a.py/", ["a.csv", "a.py", "data/a.csv", "data/b/a.py"], id="not-a-folder"),
        pytest.param("data/**", ["a.csv", "a.py"], id="below"),
        pytest.param("**/b", ["a.csv", "a.py", "data/a.csv"], id="deep-folder"),
        pytest.param("*.csv\n!data/a.csv", ["a.py", "data/a.csv", "data/b/a.py"], id="taken-back"),
        pytest.param("!a.csv\n*.csv", ["a.py", "data/b/a.py"], id="the-last-line-wins"),
        pytest.param("data\n!data/a.csv", ["a.csv", "a.py"], id="not-below-an-ignored-folder"),
        pytest.param("data/*\n!data/b", ["a.csv", "a.py", "data/b/a.py"], id="folder-taken-back"),
        pytest.param("*\n!*/\n!*.py", ["a.py", "data/b/a.py"], id="only-python"),
        pytest.param("*.csv\n!data", ["a.py", "data/b/a.py"], id="a-folder-is-not-its-files"),
        pytest.param("*.csv\n!/data", ["a.py", "data/b/a.py"], id="nor-is-one-at-the-top"),
        pytest.param("a.csv \r\na.py\r\n", [], id="windows-lines"),
        pytest.param("[", ["a.csv", "a.py", "data/a.csv", "data/b/a.py"], id="as-git-ignores-it"),
    ],
)
@pytest.mark.parametrize("where", [".gitignore", ".paddleignore", "exclude"])
def test_patterns_have_the_meaning_of_git(
    tmp_path: Path, where: str, patterns: str, left: list[str]
) -> None:
    touch(tmp_path, "a.csv", "a.py", "data/a.csv", "data/b/a.py")
    if where == "exclude":
        assert paths(tmp_path, exclude=patterns.split("\n")) == left
    else:
        write(tmp_path, **{where: patterns})
        assert paths(tmp_path) == left


def test_nested_ignore_files_take_precedence(tmp_path: Path) -> None:
    touch(tmp_path, "a.log", "x.txt", "data/a.log", "data/x.txt", "data/sub/x.txt", "venv/lib/a.py")
    write(tmp_path, **{".gitignore": "*.log", "data/.gitignore": "!a.log\n/x.txt"})
    write(tmp_path, **{"venv/.gitignore": "*"})
    assert paths(tmp_path) == ["data/a.log", "data/sub/x.txt", "x.txt"]


def test_exclude_overrides_paddleignore_which_overrides_gitignore(tmp_path: Path) -> None:
    touch(tmp_path, "gen/a.py", "gen/b.py", "gen/c.py")
    write(tmp_path, **{".paddleignore": "!gen/*.py", "gen/.gitignore": "*"})
    assert paths(tmp_path, exclude=["c.py"]) == ["gen/a.py", "gen/b.py"]


def test_an_ignored_folder_can_be_included_again(tmp_path: Path) -> None:
    touch(tmp_path, "gen/deep/a.py", "other/a.py")
    write(tmp_path, **{".gitignore": "gen/\nother/", ".paddleignore": "!gen"})
    assert paths(tmp_path) == ["gen/deep/a.py"]


def test_ignore_files_apply_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    write(tmp_path, **{".gitignore": "train.py"})
    write(tmp_path, **{"repo/.gitignore": "*.ckpt\n/jobs/a/out\n", "repo/jobs/.gitignore": ".env"})
    touch(
        tmp_path, "repo/.git/HEAD", *(f"repo/jobs/a/{path}" for path in ("m.ckpt", ".env", "out/o"))
    )
    touch(tmp_path, "repo/jobs/a/train.py")
    assert paths(tmp_path / "repo/jobs/a") == ["train.py"]


def test_an_ignored_folder_can_be_the_package(tmp_path: Path) -> None:
    write(tmp_path, **{".git/HEAD": "", ".gitignore": "build/", "build/train.py": ""})
    assert paths(tmp_path, path="build") == ["train.py"]


def test_an_invalid_pattern_is_reported_with_its_file(tmp_path: Path) -> None:
    write(tmp_path, **{"sub/.gitignore": "a\\\n", "a": ""})
    assert messages(tmp_path, exclude=["!"]) == [
        'invalid pattern "!" in exclude',
        'invalid pattern "a\\" at sub/.gitignore:1',
    ]


# --- faults


def test_a_missing_folder_is_a_fault(tmp_path: Path) -> None:
    assert messages(tmp_path, path="src") == ['folder "src" not found']


def test_a_file_instead_of_a_folder_is_a_fault(tmp_path: Path) -> None:
    touch(tmp_path, "src/train.py")
    (fault,) = collected(tmp_path, path="src/train.py").faults
    assert fault.message == '"src/train.py" is a file, not a folder'
    assert fault.hint == 'use its folder, "src"'


def test_an_invalid_path_is_a_fault(tmp_path: Path) -> None:
    (message,) = messages(tmp_path, path="a\0b")
    assert message.startswith(r'cannot read "a\x00b": ')
    assert "embedded null" in message


@pytest.mark.parametrize("into", ["..", "../x", "a/../../b", "/abs"])
def test_code_is_delivered_below_workdir(tmp_path: Path, into: str) -> None:
    touch(tmp_path, "a")
    assert messages(tmp_path, into=into) == [f'into "{into}" is outside workdir']


def test_requirements_must_be_in_the_package(tmp_path: Path) -> None:
    touch(tmp_path, "requirements.txt", "deps/dev.txt")
    assert messages(tmp_path, requirements="./deps/dev.txt") == []
    expected = ['requirements "deps/dev.txt" not found in package']
    assert messages(tmp_path, requirements="deps/dev.txt", exclude=["deps"]) == expected


def test_requirements_txt_is_the_default(tmp_path: Path) -> None:
    touch(tmp_path, "deps/requirements.txt")
    assert requirements(package(), collected(tmp_path)) is None
    touch(tmp_path, "requirements.txt")
    assert requirements(package(), collected(tmp_path)) == "requirements.txt"
    named = package(requirements="./deps/requirements.txt")
    assert requirements(named, collected(tmp_path)) == "deps/requirements.txt"


def test_too_many_files_are_reported_with_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "MAX_FILES", 5)
    touch(tmp_path, "a.py", *(f"data/{index}" for index in range(4)))
    assert len(paths(tmp_path)) == 5
    touch(tmp_path, "b.py")
    (fault,) = collected(tmp_path, requirements="r.txt").faults
    assert fault.message == "the package has more than 5 files or folders"
    assert fault.hint
    assert "most of them are in data/" in fault.hint
    assert len(paths(tmp_path, exclude=["data"])) == 2


@posix
def test_many_faults_are_summarized(tmp_path: Path) -> None:
    for index in range(30):
        (tmp_path / f"{index:02}").symlink_to("nothing")
    faults = messages(tmp_path)
    assert faults[0] == "00 is a broken link"
    assert faults[-1] == "10 more problems of this kind"
    assert len(faults) == collecting._MAX_FAULTS + 1


@posix
def test_all_faults_are_reported_except_those_of_ignored_files(tmp_path: Path) -> None:
    touch(tmp_path, "ok.py")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gone").symlink_to("nothing")
    (tmp_path / "out").symlink_to("/")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "up").symlink_to(".")
    with open(os.fsencode(tmp_path) + b"/caf\xe9\n", "wb"):
        pass
    assert messages(tmp_path) == [
        "gone is a broken link",
        "out is a link to a target outside the package",
        "pipe is a pipe, not a file",
        "self cannot be followed: too many levels of symbolic links",
        r"the name of caf\udce9\n is not UTF-8",
        "up is a link to its own parent folder",
    ]
    assert paths(tmp_path, exclude=["caf*", "gone", "out/", "pipe", "self", "up"]) == ["ok.py"]


@posix
def test_a_socket_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert messages(tmp_path) == ["s is a socket, not a file"]


@posix
def test_an_unreadable_file_is_a_fault() -> None:
    code = (
        "import os, sys\n"
        "from types import SimpleNamespace as Package\n"
        "from paddlespec.package.collect import collect\n"
        "os.chdir(sys.argv[1])\n"
        "if os.geteuid() == 0: os.setegid(65534); os.seteuid(65534)\n"
        "package = Package(path='.', into='.', exclude=[], requirements=None)\n"
        "print(*(each.message for each in collect(package, '.').faults), sep='\\n')\n"
    )
    with tempfile.TemporaryDirectory() as name:
        top = touch(Path(name), "secret", "closed/a", "half/.gitignore")
        for path in "secret", "closed", "half/.gitignore":
            (top / path).chmod(0)
        top.chmod(0o755)
        command = [sys.executable, "-c", code, name]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.splitlines() == [
        "cannot read closed/: permission denied",
        "cannot read half/.gitignore: permission denied",
        "cannot read secret: permission denied",
    ]


# --- links


@posix
def test_a_link_is_replaced_by_its_content(tmp_path: Path) -> None:
    touch(tmp_path, "data/real.csv", "lib/a.py")
    (tmp_path / "data/latest.csv").symlink_to("real.csv")
    (tmp_path / "absolute.csv").symlink_to(tmp_path / "data/real.csv")
    (tmp_path / "src").symlink_to("lib")
    collection = collected(tmp_path)
    assert [file.path for file in collection.files] == [
        "absolute.csv",
        "data/latest.csv",
        "data/real.csv",
        "lib/a.py",
        "src/a.py",
    ]
    unpacked = members(archive(collection, "."))
    assert unpacked["data/latest.csv"].isreg()
    assert unpacked["src"].isdir()


@posix
def test_the_package_itself_can_be_a_link(tmp_path: Path) -> None:
    touch(tmp_path, "real/a.py", "real/b.py")
    (tmp_path / "real/c.py").symlink_to("a.py")
    (tmp_path / "code").symlink_to("real")
    assert paths(tmp_path, path="code") == ["a.py", "b.py", "c.py"]


@posix
def test_a_folder_with_the_same_prefix_is_outside_the_package(tmp_path: Path) -> None:
    touch(tmp_path, "code/a.py", "code-2/b.py")
    (tmp_path / "code/b.py").symlink_to("../code-2/b.py")
    assert messages(tmp_path, path="code") == ["b.py is a link to a target outside the package"]


@posix
def test_a_link_cannot_include_git(tmp_path: Path) -> None:
    touch(tmp_path, ".git/config")
    (tmp_path / "config").symlink_to(".git/config")
    (tmp_path / "history").symlink_to(".git")
    assert messages(tmp_path) == [
        "config is a link into .git, which is never included",
        "history is a link into .git, which is never included",
    ]


@posix
def test_links_between_folders_do_not_loop(tmp_path: Path) -> None:
    touch(tmp_path, "a/x", "b/y")
    (tmp_path / "a/to-b").symlink_to("../b")
    (tmp_path / "b/to-a").symlink_to("../a")
    assert messages(tmp_path) == [
        "a/to-b/to-a is a link to its own parent folder",
        "b/to-a/to-b is a link to its own parent folder",
    ]


@posix
def test_links_that_double_at_every_level_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "MAX_FILES", 500)
    for index in range(40):
        (tmp_path / f"{index:02}").mkdir()
        for name in ("l", "r"):
            (tmp_path / f"{index:02}/{name}").symlink_to(f"../{index + 1:02}")
    (tmp_path / "40").mkdir()
    assert messages(tmp_path) == ["the package has more than 500 files or folders"]


# --- bytes


HOSTILE = [
    "a b.py",
    " ",
    "-rf",
    "--checkpoint-action=exec=sh",
    "new\nline",
    "tab\t",
    "quo\"te's",
    "back\\slash",
    "$(HOME)${{ x }}",
    "ünï/çødé-训练.py",
    "e\u0301",
    "~",
    "*",
    "n" * 100,
    "n" * 101,
    "ü" * 127,
    "d" * 90 + "/" + "n" * 9,
    "d" * 90 + "/" + "n" * 10,
    "d" * 155 + "/" + "n" * 100,
    "d" * 156 + "/" + "n" * 100,
    "d" * 155 + "/" + "n" * 101,
    "/".join("训练" * 20 for _ in range(5)),
    "/".join("long" * 20 for _ in range(12)),
]


def outside(folder: Path) -> dict[str, tuple[bytes, bool]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in folder.rglob("*")
        if path.is_file()
    }


@posix
@pytest.mark.parametrize("tool", ["tarfile", "tar", "tar-C", "bsdtar"])
@pytest.mark.parametrize("into", [".", "demo", "deep/" + "i" * 60])
def test_unpacking_restores_the_collected_files(tmp_path: Path, into: str, tool: str) -> None:
    source, target = tmp_path / "s", tmp_path / "t"
    for index, name in enumerate(HOSTILE):
        write(source, **{name: "x" * index * 40})
    (source / "-rf").chmod(0o755)
    target.mkdir()
    collection = collected(source)
    assert collection.faults == ()
    data = archive(collection, into)
    if tool == "tarfile":
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            tar.extractall(target, filter="data")
    elif shutil.which(command := tool.removesuffix("-C")):
        (tmp_path / "code.tar").write_bytes(data)
        subprocess.run(
            [command, "-xf", str(tmp_path / "code.tar"), "-C", str(target)],
            check=True,
            capture_output=True,
            env={**os.environ, "LC_ALL": "C" if tool.endswith("-C") else "C.UTF-8"},
        )
    else:
        pytest.skip(f"there is no {command}")
    assert outside(target / into) == outside(source)
    assert {path for path in target.rglob("*") if path.is_file()} == {
        path for path in (target / into).rglob("*") if path.is_file()
    }


def test_the_bytes_depend_only_on_names_contents_and_the_executable_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = set()
    for mask, clock, names in (0o000, 1, "abc"), (0o077, 2_000_000_000, "cab"):
        previous = os.umask(mask)
        try:
            folder = tmp_path / str(clock)
            for name in names:
                write(folder, **{f"{name}/train.py": name})
                os.utime(folder / name / "train.py", (clock, clock))
                os.utime(folder / name, (clock, clock))
        finally:
            os.umask(previous)
        monkeypatch.chdir(folder)
        results |= {archive(collected(folder), "."), archive(collect(package(), "."), "./")}
    assert len(results) == 1


def test_the_bytes_are_stable(tmp_path: Path) -> None:
    """Object names contain the digest: another byte would rerun every job."""
    write(tmp_path, **{"demo/train.py": "print()\n", "empty": "", "ü" * 60: "x"})
    data = archive(collected(tmp_path), "into")
    assert data[257:265] == b"ustar\x0000"
    assert digest(data) == "98cccf6d35"


def test_digests_are_short_hashes_of_the_content() -> None:
    assert digest(b"") == "e3b0c44298"


def test_folders_precede_their_content_and_have_no_owner(tmp_path: Path) -> None:
    touch(tmp_path, "a/b/c.py", "run.sh")
    (tmp_path / "run.sh").chmod(0o777)
    entries = members(archive(collected(tmp_path), "x/y"))
    assert list(entries) == ["x", "x/y", "x/y/a", "x/y/a/b", "x/y/a/b/c.py", "x/y/run.sh"]
    facts = {
        (entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname, entry.mode, entry.type)
        for entry in entries.values()
    }
    executable = 0o755 if os.name != "nt" else 0o644
    assert facts == {
        (0, 0, 0, "", "", 0o755, tarfile.DIRTYPE),
        (0, 0, 0, "", "", 0o644, tarfile.REGTYPE),
        (0, 0, 0, "", "", executable, tarfile.REGTYPE),
    }


@pytest.mark.parametrize("into", [".", "./", "/", "demo", "demo/", "./demo/x", "i" * 120])
def test_the_size_is_computed_without_reading_files(tmp_path: Path, into: str) -> None:
    write(tmp_path, **{"a": "", "b/c": "x" * 512, "d/e": "x" * 513, "n" * 120: "y"})
    collection = collected(tmp_path)
    assert archive_size(collection, into) == len(archive(collection, into))


@pytest.mark.parametrize(
    ("name", "headers"),
    [
        pytest.param("n" * 100, 1, id="fits-the-name"),
        pytest.param("n" * 101, 3, id="has-no-slash-to-cut-at"),
        pytest.param("ü" * 50, 1, id="counts-bytes"),
        pytest.param("ü" * 51, 3, id="of-utf-8"),
        pytest.param("d" * 99 + "/" + "n" * 100, 2, id="is-cut-at-the-slash"),
        pytest.param("d" * 99 + "/" + "n" * 101, 4, id="has-a-long-end"),
        pytest.param("d" * 101 + "/n", 4, id="is-a-folder-without-a-name-to-spare"),
        pytest.param("/".join(["d" * 77, "d" * 77, "n" * 100]), 3, id="fits-to-the-byte"),
        pytest.param("/".join(["d" * 77, "d" * 78, "n" * 100]), 5, id="has-a-long-start"),
    ],
)
def test_only_long_names_get_a_pax_header(tmp_path: Path, name: str, headers: int) -> None:
    write(tmp_path, **{name: ""})
    data = archive(collected(tmp_path), ".")
    assert len(data) == headers * 512 + 1024
    assert all(data[at] for at in range(0, headers * 512, 512))


def test_no_files_make_an_empty_archive(tmp_path: Path) -> None:
    assert members(archive(collected(tmp_path), "demo")) == {}


def test_a_deleted_file_fails_the_archive(tmp_path: Path) -> None:
    touch(tmp_path, "a")
    collection = collected(tmp_path)
    (tmp_path / "a").unlink()
    with pytest.raises(FileNotFoundError):
        archive(collection, ".")


# --- delivery


def test_a_folder_is_delivered_in_a_config_map(tmp_path: Path) -> None:
    touch(tmp_path, "a.py")
    for way in ("auto", "configmap"):
        assert delivery(package(delivery=way), collected(tmp_path)) == ("configmap", ())


def test_an_absolute_path_is_not_delivered() -> None:
    assert delivery(package(path="/pfs/code"), None) == ("present", ())
    way, (fault,) = delivery(package(path="/pfs/code", delivery="configmap"), None)
    assert way == "present"
    assert fault.message.endswith("not /pfs/code")


@pytest.mark.parametrize("asked", ["volume", "image", "git"])
def test_an_unavailable_delivery_is_reported(tmp_path: Path, asked: str) -> None:
    touch(tmp_path, "a.py")
    _, (fault,) = delivery(package(delivery=asked), collected(tmp_path))
    assert fault.message == f"delivery {asked} is not available yet"
    assert fault.at == "delivery"
    assert fault.severity is Severity.error


def test_the_size_limit_of_a_config_map_is_exact(tmp_path: Path) -> None:
    overhead = 512 + 1024
    write(tmp_path, **{"model.bin": "x" * (MAX_CONFIG_MAP_BYTES - overhead)})
    _, (fault,) = delivery(package(), collected(tmp_path))
    assert fault.severity is Severity.warning
    write(tmp_path, **{"model.bin": "x" * (MAX_CONFIG_MAP_BYTES - overhead + 1)})
    _, (fault,) = delivery(package(), collected(tmp_path))
    assert fault.severity is Severity.error
    assert (
        fault.message == "the package has 1,049,088 bytes; ConfigMap delivery is limited to 1 MiB"
    )
    assert fault.hint
    assert "largest: model.bin (1,047,041)" in fault.hint


@pytest.mark.parametrize("size", [3 << 30, 20 << 30])
def test_a_sparse_file_is_too_large(tmp_path: Path, size: int) -> None:
    with open(tmp_path / "x.bin", "wb") as file:
        file.truncate(size)
    (fault,) = delivery(package(), collected(tmp_path)).faults
    assert (
        fault.message == f"the package has {size:,} bytes; ConfigMap delivery is limited to 1 MiB"
    )


def test_a_package_too_large_for_client_side_kubectl_is_a_warning(tmp_path: Path) -> None:
    fits = (MAX_CLIENT_SIDE_BYTES - 1536) // 512 * 512
    write(tmp_path, a="x" * fits)
    assert delivery(package(), collected(tmp_path)).faults == ()
    write(tmp_path, a="x" * (fits + 1))
    (fault,) = delivery(package(), collected(tmp_path)).faults
    assert fault.severity is Severity.warning


def test_an_empty_package_is_a_warning(tmp_path: Path) -> None:
    touch(tmp_path, "paddlejob.yaml")
    (fault,) = delivery(package(), collected(tmp_path)).faults
    assert (fault.message, fault.severity) == (
        "the package is empty: all files are ignored",
        Severity.warning,
    )


# --- cost


def test_slow_modules_are_imported_on_first_use(tmp_path: Path) -> None:
    touch(tmp_path, "a.py")
    code = (
        "import sys\n"
        "from types import SimpleNamespace as Package\n"
        "from paddlespec.package import archive, collect, delivery\n"
        "slow = {'tarfile', 'hashlib', 'dataclasses', 'inspect', 'pydantic'}\n"
        "package = Package(path='.', into='.', exclude=[], requirements=None, delivery='auto')\n"
        "found = collect.collect(package, sys.argv[1])\n"
        "archive.archive(found, '.')\n"
        "assert found.files and not found.faults\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
