"""Where the files of a user are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, get_args

import platformdirs
import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from paddlespec.user_dirs import user_dir

if TYPE_CHECKING:
    from pathlib import Path

Kind = Literal["config", "state", "cache"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@pytest.fixture(autouse=True)
def _no_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS:
        monkeypatch.delenv(f"XDG_{kind.upper()}_HOME", raising=False)


@pytest.mark.parametrize("system", [Unix, MacOS])
@pytest.mark.parametrize("kind", KINDS)
def test_xdg_variables_apply_everywhere(
    kind: Kind, system: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "PlatformDirs", system)
    assert user_dir(kind, {f"XDG_{kind.upper()}_HOME": "/mine"}) == "/mine/paddlespec"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["", "here", "./here", "~/here"])
def test_a_relative_value_is_ignored(
    kind: Kind, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = user_dir(kind, {})
    monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", value)
    assert user_dir(kind) == default
    assert os.path.isabs(default)


def test_the_defaults_of_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "PlatformDirs", Unix)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [user_dir(kind) for kind in KINDS] == [
        f"{tmp_path}/.config/paddlespec",
        f"{tmp_path}/.local/state/paddlespec",
        f"{tmp_path}/.cache/paddlespec",
    ]


def test_the_defaults_of_macos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "PlatformDirs", MacOS)
    monkeypatch.setenv("HOME", str(tmp_path))
    support = f"{tmp_path}/Library/Application Support/paddlespec"
    assert [user_dir(kind) for kind in KINDS] == [
        support,
        support,
        f"{tmp_path}/Library/Caches/paddlespec",
    ]


def test_a_user_without_a_home_has_folders_that_do_not_exist(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import pwd

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert {user_dir(kind) for kind in KINDS} == {"/nonexistent/paddlespec"}
