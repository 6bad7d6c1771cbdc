"""The project that a CertificateProfile names."""

from __future__ import annotations

from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.service_session import ServiceSession

__all__ = ["named_project_id"]


async def named_project_id(session: ServiceSession, spec: CertificateProfileSpec) -> str | None:
    """Return the id of the project that the spec names; None where it names none.

    Raises:
        StalledError: there is none of that slug.
        WaitingError: the service can't be asked.
    """
    if spec.project_slug is None:
        return spec.project_id
    return await session.project_id(spec.project_slug, missing=Reason.PROJECT_NOT_FOUND)
