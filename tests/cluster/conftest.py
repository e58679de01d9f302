"""Fixtures of the cluster tests: one control plane for the session, one namespace for each test."""

from __future__ import annotations

import os
import shutil
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from control_plane import ControlPlane, GoMissingError, ensure_built, existing, started
from control_plane.build import binaries_folder
from control_plane.extensions import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

HERE = Path(__file__).parent
SKIPPED = pytest.StashKey[str]()
FAULTS = pytest.StashKey[list[int]]()
HOW_TO_GET_BINARIES = "install Go 1.26 or later and run: make cluster-bin"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test below this folder before `-m` selects."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.cluster)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say loudly that the cluster tests did not run: a skip among hundreds of dots goes unseen."""
    reason = config.stash.get(SKIPPED, None)
    if reason is not None:
        terminalreporter.section("cluster tests SKIPPED", red=True, bold=True)
        terminalreporter.line(reason)
    tried, survived = config.stash.get(FAULTS, [0, 0])
    if tried:
        terminalreporter.section("faults")
        terminalreporter.line(f"{tried} cases tried, {survived} survived")


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """Start the control plane once, when the first test asks for it."""
    with choose(request.config) as plane:
        yield plane


def choose(config: pytest.Config) -> AbstractContextManager[ControlPlane]:
    """Take the cluster or the binaries that the environment names, or else build our own."""
    given = os.environ.get("PADDLESPEC_TEST_KUBECONFIG")
    if given:
        built = binaries_folder() / "kubectl"
        return existing(
            Path(given), str(built) if built.exists() else shutil.which("kubectl") or "kubectl"
        )
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    return started(Path(assets) if assets else built_or_skip(config))


def built_or_skip(config: pytest.Config) -> Path:
    """Build the binaries with the progress in sight; without Go skip, which a CI run must not."""
    capture = config.pluginmanager.getplugin("capturemanager")
    try:
        with capture.global_and_fixture_disabled():
            return ensure_built()
    except GoMissingError as error:
        skip(config, error)


def skip(config: pytest.Config, error: GoMissingError) -> NoReturn:
    """Leave out what needs Go, and say so at the end; a CI run must not."""
    reason = f"{error}; {HOW_TO_GET_BINARIES}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    config.stash[SKIPPED] = reason
    pytest.skip(reason)


@pytest.fixture(scope="module")
def extensions(
    control_plane: ControlPlane, request: pytest.FixtureRequest
) -> Iterator[Callable[..., None]]:
    """Let the cluster serve the kinds of `kueue`, `volcano`, `jobset` or `kubeflow`.

    They are gone after the last test of the module: others rely on their absence.
    """
    served: set[str] = set()
    with ExitStack() as stack:

        def serve(*names: str) -> None:
            for name in names:
                if name not in served:
                    try:
                        stack.enter_context(installed(control_plane, name))
                    except GoMissingError as error:
                        skip(request.config, error)
                    served.add(name)

        yield serve


@pytest.fixture(scope="session")
def record_faults(request: pytest.FixtureRequest) -> Callable[[int, int], None]:
    """Count cases of faults for the summary: how many were tried, and how many survived."""

    def record(tried: int, survived: int) -> None:
        before = request.config.stash.get(FAULTS, [0, 0])
        request.config.stash[FAULTS] = [before[0] + tried, before[1] + survived]

    return record


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """Give the test a namespace of its own.

    The cluster removes it afterwards while the next test runs.
    """
    name = f"test-{uuid.uuid4().hex[:10]}"
    control_plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    yield name
    control_plane.request("DELETE", f"/api/v1/namespaces/{name}")
