"""Fixtures of the cluster tests: one control plane for the run, one namespace for each test."""

from __future__ import annotations

import os
import shutil
import uuid
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

import pytest
from control_plane import ControlPlane, GoMissingError, ensure_built, existing, shared, started
from control_plane.build import binaries_folder
from control_plane.controllers import running
from control_plane.controllers_build import controller_build
from control_plane.extensions import installed
from control_plane.run import locked
from run_folder import RUN
from summary import HOW_TO_GET_BINARIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

Built = TypeVar("Built")

HERE = Path(__file__).parent
EXCLUSIVE = HERE / "exclusive"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test below this folder before `-m` selects."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="module")
def control_plane(request: pytest.FixtureRequest) -> ControlPlane:
    """Return the control plane of the run; tests that change it for others have their own."""
    exclusive = EXCLUSIVE in request.path.parents
    plane: ControlPlane = request.getfixturevalue(
        "exclusive_plane" if exclusive else "shared_plane"
    )
    return plane


@pytest.fixture(scope="session")
def shared_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """Attach to the control plane that all processes of the run share."""
    with given_cluster() or nullcontext(
        shared(request.config.stash[RUN], binaries(request.config))
    ) as plane:
        yield plane


@pytest.fixture(scope="session")
def exclusive_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """Run a control plane for this process alone."""
    with given_cluster() or started(binaries(request.config)) as plane:
        yield plane


def given_cluster() -> AbstractContextManager[ControlPlane] | None:
    """Attach to the cluster that the environment variables name."""
    kubeconfig = os.environ.get("PADDLESPEC_TEST_KUBECONFIG")
    if not kubeconfig:
        return None
    built = binaries_folder() / "kubectl"
    kubectl = str(built) if built.exists() else shutil.which("kubectl") or "kubectl"
    return existing(Path(kubeconfig), kubectl)


def binaries(config: pytest.Config) -> Path:
    """Return the binaries that the environment names, or build them."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    return Path(assets) if assets else built_or_skip(config, ensure_built)


def built_or_skip(config: pytest.Config, build: Callable[[], Built]) -> Built:
    """Build with visible progress; without Go skip, which CI must not."""
    capture = config.pluginmanager.getplugin("capturemanager")
    try:
        with capture.global_and_fixture_disabled():
            return build()
    except GoMissingError as error:
        skip(error)


def skip(error: GoMissingError) -> NoReturn:
    """Skip a test that needs Go; CI must not skip it."""
    reason = f"{error}; {HOW_TO_GET_BINARIES}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def extensions(control_plane: ControlPlane) -> Iterator[Callable[..., None]]:
    """
    Let the cluster serve the kinds of `kueue`, `volcano`, `jobset` or `kubeflow`.

    They are removed after the last test of the module, because other tests rely on their absence.
    """
    served: set[str] = set()
    with ExitStack() as stack:

        def serve(*names: str) -> None:
            for name in names:
                if name not in served:
                    try:
                        stack.enter_context(installed(control_plane, name))
                    except GoMissingError as error:
                        skip(error)
                    served.add(name)

        yield serve


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Build the controller `jobset` or `kueue`, or skip loudly without Go."""

    def build(name: str) -> None:
        built_or_skip(request.config, partial(controller_build, name))

    return build


@pytest.fixture(scope="module")
def controllers(
    control_plane: ControlPlane, built: Callable[[str], None]
) -> Iterator[Callable[..., None]]:
    """
    Run the controllers of `jobset` and `kueue`, with their kinds and webhooks.

    They are removed after the last test of the module, which belongs in exclusive/extensions.
    """
    started: set[str] = set()
    with ExitStack() as stack:

        def start(*names: str) -> None:
            for name in names:
                if name not in started:
                    built(name)
                    stack.enter_context(running(control_plane, name))
                    started.add(name)

        yield start


@pytest.fixture(scope="session")
def one_at_a_time(
    request: pytest.FixtureRequest,
) -> Callable[[str], AbstractContextManager[object]]:
    """Lock the named resource against concurrent use by other processes of the run."""
    return lambda name: locked(request.config.stash[RUN] / f"{name}.lock")


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """
    Give the test its own namespace.

    The cluster deletes it while the next test runs.
    """
    name = f"test-{uuid.uuid4().hex[:10]}"
    control_plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    yield name
    control_plane.request("DELETE", f"/api/v1/namespaces/{name}")
