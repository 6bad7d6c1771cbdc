"""What the service is sent where a profile changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from keybearer.base.certificate_terms import IssuerType
from keybearer.client import AsyncKeybearer, CertificateProfile, ProfileDefaults
from keybearer.controllers.certificateprofile.remote import RemoteCertificates
from keybearer.controllers.issuance.service import DescribedProfile
from keybearer.controllers.service_session import ServiceSession


class _Profiles:
    """Takes changes of profiles: as in the service, what isn't given stays."""

    def __init__(self) -> None:
        self.defaults: ProfileDefaults | None = ProfileDefaults(organization="Example")

    async def update(
        self,
        profile_id: str,
        *,
        slug: str,
        description: str | None,
        defaults: ProfileDefaults | None,
    ) -> CertificateProfile:
        if defaults is not None:
            self.defaults = defaults
        return CertificateProfile(
            id=profile_id,
            slug=slug,
            description=description or "",
            defaults=self.defaults,
            certificate_policy_id="policy-1",
            ca_id="authority-1",
            issuer_type="ca",
        )


class _Session:
    """Performs what it is asked with a client that has nothing but profiles."""

    def __init__(self) -> None:
        self.certificate_profiles = _Profiles()

    async def perform(
        self, act: Callable[[AsyncKeybearer], Awaitable[object]], what: str, *, many: bool = False
    ) -> object:
        del what, many
        return await act(cast("AsyncKeybearer", self))


async def test_defaults_that_the_manifest_names_no_more_are_taken_from_the_profile() -> None:
    described = DescribedProfile(
        slug="web",
        description="[keybearer mark]",
        issuer_type=IssuerType.CA,
        policy_id="policy-1",
        ca_id="authority-1",
        defaults=None,
        project_id="project-1",
    )

    changed = await RemoteCertificates(cast("ServiceSession", _Session())).update_profile(
        "profile-1", described
    )

    assert (changed.defaults or ProfileDefaults()) == ProfileDefaults()
