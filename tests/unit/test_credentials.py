"""Files of a package that usually hold credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from paddlespec.diagnostic import Severity
from paddlespec.package import credentials as rules
from paddlespec.package.collect import Collection, collect
from paddlespec.package.credentials import credentials
from paddlespec.spec.frozen import job_of

if TYPE_CHECKING:
    from pathlib import Path

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\n"


def collected(folder: Path, path: str = ".") -> Collection:
    package = job_of({"metadata": {"name": "a"}, "spec": {"package": {"path": path}}}).spec.package
    assert package is not None
    return collect(package, str(folder))


def write(folder: Path, path: str, text: str = "") -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


@pytest.mark.parametrize(
    "path",
    [
        *(".env", "sub/.env", ".env.production", ".netrc", ".npmrc", ".pypirc", "id_rsa"),
        *("id_ed25519", "kubeconfig", "dc1.kubeconfig", ".docker/config.json", "keys/a.p12"),
        *(".aws/credentials", ".kube/config", ".config/gcloud/credentials.db", ".git-credentials"),
    ],
)
def test_a_credential_is_a_warning_with_its_repair(tmp_path: Path, path: str) -> None:
    write(tmp_path, path)
    write(tmp_path, "train.py")
    (fault,) = credentials(collected(tmp_path))
    assert fault.message == f"{path} usually holds credentials"
    assert fault.severity is Severity.warning
    line = str(fault.hint).removeprefix("add the line ").partition(" to .paddleignore")[0]
    write(tmp_path, ".paddleignore", line)
    after = collected(tmp_path)
    assert list(credentials(after)) == []
    assert [file.path for file in after.files] == ["train.py"]


@pytest.mark.parametrize(
    "path",
    [
        *(".env.example", ".env.sample", "id_rsa.pub", "env", "config.json", "credentials"),
        *("docker/config.json", "environment.yaml", "ca.pem", "public.key"),
    ],
)
def test_other_files_are_not(tmp_path: Path, path: str) -> None:
    write(tmp_path, path, "-----BEGIN CERTIFICATE-----\n")
    assert list(credentials(collected(tmp_path))) == []


@pytest.mark.parametrize("name", ["a.pem", "a.key"])
def test_a_private_key_is_found_by_its_content(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, f"Bag Attributes\n{KEY}")
    assert len(list(credentials(collected(tmp_path)))) == 1


def test_only_the_beginning_of_a_key_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.pem", "x" * 100 + KEY)
    monkeypatch.setattr(rules, "MAX_KEY_BYTES", 100)
    assert list(credentials(collected(tmp_path))) == []


def test_the_folder_itself_and_links_count(tmp_path: Path) -> None:
    write(tmp_path, ".aws/credentials")
    assert len(list(credentials(collected(tmp_path, ".aws")))) == 1
    (tmp_path / "settings").symlink_to(".aws/credentials")
    assert len(list(credentials(collected(tmp_path)))) == 2


def test_special_characters_are_escaped(tmp_path: Path) -> None:
    write(tmp_path, "a[1]*/.env")
    write(tmp_path, "a1/b/train.py")
    (fault,) = credentials(collected(tmp_path))
    assert fault.hint == "add the line /a\\[1]\\*/.env to .paddleignore, and use a Secret"


def test_many_are_summarized(tmp_path: Path) -> None:
    for number in range(13):
        write(tmp_path, f"{number}/.env")
    faults = list(credentials(collected(tmp_path)))
    assert len(faults) == 11
    assert faults[-1].message == "3 more files usually hold credentials"
