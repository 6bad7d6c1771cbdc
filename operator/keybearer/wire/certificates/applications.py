"""Applications, and the profiles attached to them (wire.md section 5.7)."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from keybearer.wire.base import WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.certificates.fields import OptionalProject, QueryLimit, QueryOffset
from keybearer.wire.limits import (
    CERTIFICATE_DESCRIPTION_MAX,
    CERTIFICATE_NAME_MAX,
    CERTIFICATE_PAGE_DEFAULT,
    CERTIFICATE_PAGE_MAX,
)
from keybearer.wire.slugs import slug_rule, slug_schema

__all__ = [
    "Application",
    "ApplicationAnswer",
    "ApplicationEnrollment",
    "ApplicationList",
    "ApplicationProfile",
    "ApplicationProfileList",
    "ApplicationProfileRef",
    "ApplicationQuery",
    "ApplicationsQuery",
    "AttachProfiles",
    "CreateApplication",
    "EnrollmentAnswer",
    "ShownAcme",
    "ShownApi",
    "ShownEst",
    "ShownScep",
    "UpdateApplication",
]

_Name = Annotated[str, slug_rule("name", CERTIFICATE_NAME_MAX), slug_schema(CERTIFICATE_NAME_MAX)]
_Description = Annotated[str, Field(max_length=CERTIFICATE_DESCRIPTION_MAX)]
_ProfileIds = Annotated[list[UUID], Field(max_length=CERTIFICATE_PAGE_MAX)]


class CreateApplication(BodyModel):
    """POST /api/v1/cert-manager/applications."""

    project_id: OptionalProject = None
    name: _Name
    description: _Description | None = None
    profile_ids: _ProfileIds | None = None


class UpdateApplication(BodyModel):
    """PATCH …/{id}: what is absent stays; a description may be null."""

    name: _Name | None = None
    description: Annotated[_Description, Zero.COUNTS] | None = None


class AttachProfiles(BodyModel):
    """POST …/{id}/profiles."""

    profile_ids: Annotated[list[UUID], Field(min_length=1, max_length=CERTIFICATE_PAGE_MAX)]


class Application(WireModel):
    """An application."""

    id: str
    project_id: str
    name: str
    description: str | None
    created_at: WireInstant
    updated_at: WireInstant


class ApplicationAnswer(WireModel):
    """`{application}`."""

    application: Application


class ApplicationList(WireModel):
    """`{applications, totalCount}`, by name."""

    applications: list[Application]
    total_count: int


class ApplicationQuery(WireModel):
    """Query of GET …/by-name/{name}."""

    project_id: OptionalProject = None


class ApplicationsQuery(WireModel):
    """Query of the list."""

    project_id: OptionalProject = None
    offset: QueryOffset = 0
    limit: QueryLimit = CERTIFICATE_PAGE_DEFAULT
    search: Annotated[str | None, Field(max_length=CERTIFICATE_NAME_MAX)] = None


class ApplicationProfile(WireModel):
    """A profile that is attached; ids of the ways of enrollment that were set for the two together."""

    application_id: str
    profile_id: str
    profile_slug: str
    profile_description: str | None
    est_config_id: str | None
    api_config_id: str | None
    acme_config_id: str | None
    scep_config_id: str | None
    created_at: WireInstant
    updated_at: WireInstant


class ApplicationProfileList(WireModel):
    """`{profiles}`, by slug."""

    profiles: list[ApplicationProfile]


class ApplicationProfileRef(WireModel):
    """Answer of DELETE …/{id}/profiles/{profileId}."""

    application_id: str
    profile_id: str


class ShownApi(WireModel):
    """Enrollment by the API."""

    id: str
    auto_renew: bool
    renew_before_days: int | None


class ShownEst(WireModel):
    """Enrollment by EST; never its passphrase."""

    id: str
    disable_bootstrap_ca_validation: bool
    ca_chain: str | None


class ShownAcme(WireModel):
    """Enrollment by ACME; never its key."""

    id: str
    skip_dns_ownership_verification: bool
    skip_eab_binding: bool


class ShownScep(WireModel):
    """Enrollment by SCEP; never its challenge."""

    id: str
    include_ca_cert_in_response: bool
    allow_cert_based_renewal: bool


class ApplicationEnrollment(WireModel):
    """GET …/enrollment: null what isn't set."""

    application_id: str
    profile_id: str
    api: ShownApi | None
    est: ShownEst | None
    acme: ShownAcme | None
    scep: ShownScep | None
    est_configured: bool
    acme_configured: bool
    scep_configured: bool


class EnrollmentAnswer(WireModel):
    """Answer of PUT and DELETE …/enrollment/{kind}: what is set now under the name of its kind, null after DELETE."""

    application_id: str
    profile_id: str
    api: ShownApi | None = None
    est: ShownEst | None = None
    acme: ShownAcme | None = None
    scep: ShownScep | None = None
