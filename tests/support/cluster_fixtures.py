"""Fixtures of tests that need a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.controlplane.controlplane import ControlPlane

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["control_plane"]


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """One cluster for the whole run. Tests isolate themselves by namespace and leave the API server running."""
    with ControlPlane() as cluster:
        yield cluster
