"""The world in which a CertificateProfile is reconciled."""

from __future__ import annotations

import pytest

from unit.controllers.fakes.profile_world import ProfileWorld


@pytest.fixture
def world() -> ProfileWorld:
    """A cluster without certificates, and a service that issues what it is asked for."""
    return ProfileWorld()
