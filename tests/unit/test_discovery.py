"""Kinds of others: asked for once, kept for some minutes, in a folder of the user's alone."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from paddlespec.cluster.discovery import Discovery, cache_folder

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "example.com/v1"
LISTED = [
    {"name": "gangs", "kind": "Gang", "namespaced": True},
    {"name": "gangs/status", "kind": "Gang", "namespaced": True},
    {"name": "zones", "kind": "Zone", "namespaced": False},
]


class Server:
    """What a server has, and how often it was asked."""

    def __init__(self, listed: list[Any] | None = None) -> None:
        self.listed, self.asked = listed, 0

    def __call__(self, api_version: str) -> list[Any] | None:
        assert api_version == VERSION
        self.asked += 1
        return self.listed


def discovery(server: Server, folder: Path | None, address: str = "https://a") -> Discovery:
    return Discovery(address, server, str(folder / "own") if folder else None)


def test_a_group_version_is_asked_for_once() -> None:
    server = Server(LISTED)
    asking = discovery(server, None)
    gang = asking.resource(VERSION, "Gang")
    assert gang is not None
    assert (gang.plural, gang.namespaced) == ("gangs", True)
    zone = asking.resource(VERSION, "Zone")
    assert zone is not None
    assert not zone.namespaced
    assert asking.resource(VERSION, "Other") is None
    assert asking.served(VERSION, "Gang") == gang
    assert server.asked == 1


def test_what_was_found_is_kept_for_the_next_command(tmp_path: Path) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    later = Server(None)
    assert discovery(later, tmp_path).resource(VERSION, "Gang")
    assert later.asked == 0
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700
    assert [each.suffix for each in (tmp_path / "own").iterdir()] == [".json"]


def test_what_is_kept_is_no_answer_to_whether_a_kind_is_served(tmp_path: Path) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    assert discovery(Server(None), tmp_path).served(VERSION, "Gang") is None


def test_what_was_not_found_is_asked_again(tmp_path: Path) -> None:
    assert discovery(Server(None), tmp_path).resource(VERSION, "Gang") is None
    later = Server(LISTED)
    assert discovery(later, tmp_path).resource(VERSION, "Gang")
    newer = Server([*LISTED, {"name": "teams", "kind": "Team", "namespaced": True}])
    assert discovery(newer, tmp_path).resource(VERSION, "Team")
    assert (later.asked, newer.asked) == (1, 1)


def test_another_server_is_another_matter(tmp_path: Path) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    other = Server(None)
    assert discovery(other, tmp_path, "https://b").resource(VERSION, "Gang") is None
    assert other.asked == 1


@pytest.mark.parametrize("age", [601, -60], ids=["old", "from-the-future"])
def test_what_is_kept_expires(tmp_path: Path, age: int) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    (path,) = (tmp_path / "own").iterdir()
    then = time.time() - age
    os.utime(path, (then, then))
    assert discovery(Server(None), tmp_path).resource(VERSION, "Gang") is None


@pytest.mark.parametrize(
    "content", ["", "{", "7", '[{"kind": 1}]', '[{"kind":"Gang","name":"../x"}]']
)
def test_what_is_kept_and_broken_is_asked_again(tmp_path: Path, content: str) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    (path,) = (tmp_path / "own").iterdir()
    path.write_text(content)
    server = Server(LISTED)
    assert discovery(server, tmp_path).resource(VERSION, "Gang")
    assert server.asked == 1


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    (tmp_path / "own").chmod(0o777)
    server = Server(None)
    assert discovery(server, tmp_path).resource(VERSION, "Gang") is None
    assert server.asked == 1


def test_a_folder_that_cannot_be_made_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("a file")
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")


def test_where_it_is_kept() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == "/c/paddlespec/discovery"
    assert cache_folder({"XDG_CACHE_HOME": "here"}) is None
