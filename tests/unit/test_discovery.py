"""Discovery of foreign kinds, and its cache in a private folder."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from paddlespec.backends.cluster.api.discovery import Discovery, cache_folder

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "example.com/v1"
LISTED = [
    {"name": "gangs", "kind": "Gang", "namespaced": True},
    {"name": "gangs/status", "kind": "Gang", "namespaced": True},
    {"name": "zones", "kind": "Zone", "namespaced": False},
]


class Server:
    """The resources of a server, and the requests it received."""

    def __init__(self, listed: list[Any] | None = None) -> None:
        self.listed, self.asked = listed, 0

    def __call__(self, api_version: str) -> list[Any] | None:
        assert api_version == VERSION
        self.asked += 1
        return self.listed


def discovery(server: Server, folder: Path | None, address: str = "https://a") -> Discovery:
    return Discovery(address, server, str(folder / "own") if folder else None)


def test_a_group_version_is_requested_once() -> None:
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


def test_results_are_cached_for_the_next_command(tmp_path: Path) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    later = Server(None)
    assert discovery(later, tmp_path).resource(VERSION, "Gang")
    assert later.asked == 0
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700
    assert [file.suffix for file in (tmp_path / "own").iterdir()] == [".json"]


def test_the_cache_does_not_answer_whether_a_kind_is_served(tmp_path: Path) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    assert discovery(Server(None), tmp_path).served(VERSION, "Gang") is None


def test_a_missing_kind_is_not_cached(tmp_path: Path) -> None:
    assert discovery(Server(None), tmp_path).resource(VERSION, "Gang") is None
    later = Server(LISTED)
    assert discovery(later, tmp_path).resource(VERSION, "Gang")
    newer = Server([*LISTED, {"name": "teams", "kind": "Team", "namespaced": True}])
    assert discovery(newer, tmp_path).resource(VERSION, "Team")
    assert (later.asked, newer.asked) == (1, 1)


def test_the_cache_is_per_server(tmp_path: Path) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    other = Server(None)
    assert discovery(other, tmp_path, "https://b").resource(VERSION, "Gang") is None
    assert other.asked == 1


@pytest.mark.parametrize("age", [601, -60], ids=["old", "from-the-future"])
def test_the_cache_expires(tmp_path: Path, age: int) -> None:
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")
    (path,) = (tmp_path / "own").iterdir()
    then = time.time() - age
    os.utime(path, (then, then))
    assert discovery(Server(None), tmp_path).resource(VERSION, "Gang") is None


@pytest.mark.parametrize(
    "content", ["", "{", "7", '[{"kind": 1}]', '[{"kind":"Gang","name":"../x"}]']
)
def test_a_broken_cache_file_is_ignored(tmp_path: Path, content: str) -> None:
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


def test_a_cache_folder_that_cannot_be_created_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("a file")
    assert discovery(Server(LISTED), tmp_path).resource(VERSION, "Gang")


def test_the_cache_folder() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == "/c/paddlespec/discovery"
