"""Fixtures of tests that need a real API server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tools.controlplane.controlplane import ControlPlane

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["control_plane", "pytest_addoption"]

_LOGS_OPTION = "--control-plane-logs"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run keep the logs of its shared cluster, which otherwise go with it."""
    parser.addoption(
        _LOGS_OPTION,
        type=Path,
        metavar="DIR",
        help="write the logs of the shared control plane there and keep them",
    )


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """Yield one cluster for the whole run.

    Tests keep apart by namespaces of their own and leave the API server running; a test that stops it starts
    a control plane of its own.
    """
    with ControlPlane(log_directory=request.config.getoption(_LOGS_OPTION)) as cluster:
        yield cluster
