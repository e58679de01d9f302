"""The fields that patches are checked with are those of the API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api_schema import FILE, published, text_of

if TYPE_CHECKING:
    from control_plane import ControlPlane


def test_the_installed_fields_are_those_of_the_api_server(control_plane: ControlPlane) -> None:
    written = FILE.read_text(encoding="utf-8")
    assert text_of(published(control_plane)) == written, "run `make api-schema`"
