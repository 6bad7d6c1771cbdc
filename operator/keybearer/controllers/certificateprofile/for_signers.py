"""Tells signers what they need of a CertificateProfile. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.status import CertificateProfileStatus
from keybearer.controllers.issuance.profile import IssuingProfile
from keybearer.controllers.issuance.service import OpenedService
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.reading import read_spec, read_status
from keybearer.controllers.work import WorkKey

__all__ = ["OpenService", "issuing_profile"]

OpenService = Callable[[WorkKey, CertificateProfileSpec], Awaitable[OpenedService]]
"""Returns the service through the identity of a profile, which must already follow its Secret."""


def issuing_profile(seen: ObservedObject, open_service: OpenService) -> IssuingProfile:
    """Return the profile as signers see it.

    Raises:
        StalledError: its spec can't be read.
    """
    spec, status = read_spec(seen, CertificateProfileSpec), read_status(seen, CertificateProfileStatus)
    slug = spec.remote_slug(seen.key.name)
    there = status.profile
    if there is not None and there.slug != slug:
        there = None  # the spec names another one by now, which its own reconcile has not found yet
    return IssuingProfile(
        slug=slug,
        service_id=there.id if there is not None else None,
        authority=there.ca_id if there is not None else None,
        mode=spec.mode,
        application_id=spec.application_id,
        anchors=tuple(one.anchors for one in status.authorities),
        former_anchors=tuple(one.anchors for one in status.former_authorities),
        open_service=partial(open_service, seen.key, spec),
    )
