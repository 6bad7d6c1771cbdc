"""The world in which signatures are asked for."""

from __future__ import annotations

import pytest

from unit.controllers.fakes.signing_world import SigningWorld


@pytest.fixture
def world() -> SigningWorld:
    """A cluster with a CertificateProfile that signs for a user."""
    world = SigningWorld()
    world.profile()
    world.gateway.allowed_users.add("ann")
    return world
